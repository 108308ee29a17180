"""The command ``rocketwire-store``.

Exit status: 0 if the store is whole, 1 if damage was found, 2 if the command line is wrong, a path
is no store, or a package is missing; 130 if interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from rocketwire.errors import RocketWireError
from rocketwire_tools.memory import prepare_process
from rocketwire_tools.store.cli import parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

USAGE: Final = 2
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: its arguments; those of the process by default.

    Returns:
        The exit status.
    """
    arguments = parser().parse_args(argv)
    try:
        if argv is None:  # a process of its own
            prepare_process()
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as error:
        print(f"rocketwire-store: {error}; pip install rocketwire[store]", file=sys.stderr)
        return USAGE
    except _failures() as error:
        print(f"rocketwire-store: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _failures() -> tuple[type[Exception], ...]:
    """Errors that end the command with one line; numpy is imported after ``prepare_process``."""
    from rocketwire_tools.store.opened import NoStoreError
    from rocketwire_tools.store.sources.archives import ArchiveError

    return (OSError, ValueError, OverflowError, NoStoreError, ArchiveError, RocketWireError)


if __name__ == "__main__":
    sys.exit(main())

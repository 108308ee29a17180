"""The command ``rocketwire-store``.

Exit status: 0 if the store is whole, 1 if damage or no message was found, 2 if the command line is
wrong, a path is no store, or a package is missing; 130 if interrupted, 143 after SIGTERM.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Final

from rocketwire.errors import RocketWireError
from rocketwire.os_errors import os_error_text
from rocketwire.output import forget_output, reader_may_go
from rocketwire_tools.memory import prepare_process
from rocketwire_tools.store.cli import parser
from rocketwire_tools.terminal import print_error

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
    with reader_may_go():
        return _run(argv)
    return 0


def _run(argv: Sequence[str] | None) -> int:
    arguments = parser().parse_args(argv)
    try:
        if argv is None:  # a process of its own
            signal.signal(signal.SIGTERM, _end)
            prepare_process()
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except ImportError as error:
        print_error(f"rocketwire-store: {error}; pip install 'rocketwire[store]'")
        return USAGE
    except _failures() as error:
        from rocketwire_tools.store.selecting import NothingFoundError

        print_error(f"rocketwire-store: {os_error_text(error)}")
        return 1 if isinstance(error, NothingFoundError) else USAGE
    except MemoryError:
        print_error("rocketwire-store: there is not enough memory")
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _end(number: int, _: object) -> None:
    """End as after Ctrl-C: unfinished files and private copies go."""
    forget_output()  # the reader of a full pipe may never read again
    raise SystemExit(128 + number)


def _failures() -> tuple[type[Exception], ...]:
    """Errors that end the command with one line; numpy is imported after ``prepare_process``."""
    from rocketwire_tools.store.opened import NoStoreError

    return (OSError, ValueError, OverflowError, NoStoreError, RocketWireError)


if __name__ == "__main__":
    sys.exit(main())

"""The command ``rocketwire-pcap``.

Rules of this file: exit status 0; 1 if a capture could not be read to its end; 2 if the command line is wrong, the output cannot
be written, or a package is missing; 130 if interrupted.  Who stops reading the output ends the program silently.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from rocketwire_tools.pcap.cli import parser
from rocketwire_tools.pcap.decode.memory import spare_collections

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

USAGE: Final = 2
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        argv: its arguments; those of the process if None.

    Returns:
        The exit status.
    """
    arguments = parser().parse_args(argv)
    if sys.stdout is None:  # closed by who began the process
        sys.stdout = _closed_output()
    try:
        if argv is None and hasattr(arguments, "captures"):  # a process of its own, that decodes
            spare_collections()
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return 0
    except ImportError as error:
        print(f"rocketwire-pcap: {error}; pip install rocketwire[pcap]", file=sys.stderr)
        return USAGE
    except (OSError, ValueError) as error:
        print(f"rocketwire-pcap: {error}", file=sys.stderr)
        _flush_if_possible()
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _flush_if_possible() -> None:
    """Have out what is buffered, or forget it: it must not fail again when the process ends."""
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()


def _closed_output() -> TextIO:
    """Standard output where there is none: what is written to it fails, and only that."""
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")


def _forget_output() -> None:
    """Nobody reads any more: what is still buffered must not fail when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

"""The command ``rocketwire-pcap``.

Exit status: 0; 1 if a capture could not be read to its end; 2 if the command line is invalid, the
output cannot be written, or a package is missing; 130 if interrupted. If the reader of the output
stops, the command ends silently.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from rocketwire.os_errors import os_error_text
from rocketwire.output import forget_output, reader_may_go
from rocketwire_tools.memory import prepare_process
from rocketwire_tools.pcap.cli import parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

USAGE: Final = 2
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status.
    """
    with reader_may_go():
        return _run(argv)
    return 0


def _run(argv: Sequence[str] | None) -> int:
    arguments = parser().parse_args(argv)
    if sys.stdout is None:  # closed by the parent process
        sys.stdout = _open_failing_output()
    try:
        if argv is None and hasattr(arguments, "captures"):  # a process that only decodes
            prepare_process()
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except ImportError as error:
        print(f"rocketwire-pcap: {error}; pip install 'rocketwire[pcap]'", file=sys.stderr)
        return USAGE
    except (OSError, ValueError) as error:
        print(f"rocketwire-pcap: {os_error_text(error)}", file=sys.stderr)
        _flush_if_possible()
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _flush_if_possible() -> None:
    # Flush the output, or discard it: it must not fail again at exit
    try:
        sys.stdout.flush()
    except OSError:
        forget_output()


def _open_failing_output() -> TextIO:
    # A standard output that raises OSError for each write, if the process has none
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")


if __name__ == "__main__":
    sys.exit(main())

"""The frame of all programs: exit statuses of Ctrl-C, of argparse and of a closed output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.program import reader_may_go

if TYPE_CHECKING:
    from collections.abc import Callable

DONE: Final = 0
USAGE: Final = 2
INTERRUPTED: Final = 130


def run_main(run: Callable[[], int]) -> int:
    """Return the status of ``run`` or argparse; 0 if the output was closed, 130 after SIGINT."""
    with reader_may_go():
        try:
            return run()
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else USAGE
        except KeyboardInterrupt:
            return INTERRUPTED
    return DONE

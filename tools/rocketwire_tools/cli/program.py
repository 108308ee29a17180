"""What every program does around its work: the ends that are not its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.output import reader_may_go

if TYPE_CHECKING:
    from collections.abc import Callable

DONE: Final = 0
USAGE: Final = 2
INTERRUPTED: Final = 130


def run_main(run: Callable[[], int]) -> int:
    """Run a program to its exit status.

    Returns:
        What ``run`` returns; the status of a ``SystemExit``, before which argparse has printed the
        reason; 0 if nobody reads the output any more; 130 after SIGINT.
    """
    with reader_may_go():
        try:
            return run()
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else USAGE
        except KeyboardInterrupt:
            return INTERRUPTED
    return DONE

"""Standard output of a program whose reader may go first, as in ``program | head``."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


def forget_output() -> None:
    """Redirect the output to the null device, so that buffered data does not fail at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def reader_may_go() -> Generator[None]:
    """Leave the block silently if nobody reads the output any more; the rest of it is discarded.

    The output is written to its end before the block ends, whatever ends it.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # closed by the parent process
                sys.stdout.flush()
    except BrokenPipeError:
        forget_output()

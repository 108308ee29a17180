"""The frame of a program that reads files: an error is one line and an exit status."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from rocketwire.errors import RocketWireError
from rocketwire.os_errors import os_error_text
from rocketwire.program import forget_output, reader_may_go
from rocketwire_tools.terminal import print_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

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


NOTHING_FOUND: Final = 1


class NothingFoundError(ValueError):
    """Nothing has what the options name: exit status 1."""


def run_program(
    parser: Callable[[], argparse.ArgumentParser],
    argv: Sequence[str] | None,
    *,
    extra: str | None = None,
) -> int:
    """Parse the command line, call ``run`` of the arguments and return the exit status."""
    return run_main(lambda: _run(parser(), argv, extra))


def _run(parser: argparse.ArgumentParser, argv: Sequence[str] | None, extra: str | None) -> int:
    ended: list[int] = []

    def end(number: int, _: object) -> None:
        # As after Ctrl-C, unfinished files are deleted; nobody may read a full pipe
        forget_output()
        ended.append(128 + number)
        raise SystemExit(128 + number)

    arguments = parser.parse_args(argv)
    if sys.stdout is None:  # closed by the parent process: each write fails
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    try:
        if argv is None:
            signal.signal(signal.SIGTERM, end)
            if extra is not None:
                prepare_process()
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except ImportError as error:
        print_error(f"{parser.prog}: {error}; pip install 'rocketwire[{extra}]'")
        return USAGE
    except (OSError, ValueError, OverflowError, RocketWireError) as error:
        print_error(f"{parser.prog}: {os_error_text(error)}")
        _flush_if_possible()
        return NOTHING_FOUND if isinstance(error, NothingFoundError) else USAGE
    except MemoryError:
        print_error(f"{parser.prog}: there is not enough memory")
        return USAGE
    return ended[0] if ended else status  # Python discards what a signal raises in a finalizer


def _flush_if_possible() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        forget_output()  # or the output would fail again at exit


_COLLECTION_THRESHOLD: Final = 200_000
_LARGE: Final = 24 << 20
"""Bytes of an array; glibc keeps at most 32 MiB in one piece."""
_ARRAYS: Final = 2
"""Arrays of ``_LARGE`` bytes that are freed: glibc returns memory to the system if more is free."""


def prepare_process() -> None:
    """Collect garbage seldom, keep freed memory, use large pages; before numpy is imported."""
    # To start threads for linear algebra takes a fifth of the import of numpy; nothing uses them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _keep_freed_memory()
    _use_large_pages()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD, 50, 1000)


def _keep_freed_memory() -> None:
    """Raise glibc's threshold (M_MMAP_THRESHOLD), below which it keeps freed memory."""
    large_object = bytes(_LARGE)
    del large_object


def _use_large_pages() -> None:
    """Free arrays of large pages (NUMPY_MADVISE_HUGEPAGE), which are mapped faster."""
    import numpy as np

    arrays = [np.empty(_LARGE - (1 << 20), np.uint8) for _ in range(_ARRAYS)]
    del arrays

"""``python -m tests.chaos.unlucky_broker ARGUMENTS``: the development broker on a disk that signals break.

SIGUSR1 fills the disk or frees it: a write stores half of its bytes, and the next one fails.  SIGUSR2 lets the next
synchronization of a file fail once; what was written to the file since the last one is lost, as on Linux.
"""

import errno
import os
import signal
import sys
from collections import defaultdict
from typing import Any, Final

from rocketwire_broker.__main__ import main

_pwrite, _write, _fsync, _fdatasync = os.pwrite, os.write, os.fsync, os.fdatasync
_SMALL = 2


class Luck:
    is_full = False
    fails_sync = False
    unsynced: Final = defaultdict[int, list[tuple[int, int]]](list)


def _fill(*_: object) -> None:
    Luck.is_full = not Luck.is_full


def _fail_sync(*_: object) -> None:
    Luck.fails_sync = True


def _half(data: Any) -> memoryview:
    view = memoryview(data)
    if not Luck.is_full:
        return view
    if len(view) < _SMALL:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return view[: len(view) // 2]


def pwrite(descriptor: int, data: Any, position: int) -> int:
    size = _pwrite(descriptor, _half(data), position)
    Luck.unsynced[os.fstat(descriptor).st_ino].append((position, size))
    return size


def write(descriptor: int, data: Any) -> int:
    # Write, or half of it on a full disk; terminals and pipes are no disk.
    return _write(descriptor, data if descriptor in {1, 2} else _half(data))


def fsync(descriptor: int) -> None:
    _check_sync(descriptor)
    _fsync(descriptor)


def fdatasync(descriptor: int) -> None:
    _check_sync(descriptor)
    _fdatasync(descriptor)


def _check_sync(descriptor: int) -> None:
    writes = Luck.unsynced.pop(os.fstat(descriptor).st_ino, [])
    if Luck.fails_sync and writes:
        Luck.fails_sync = False
        for position, size in writes:
            _pwrite(descriptor, bytes(size), position)
        raise OSError(errno.EIO, os.strerror(errno.EIO))


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _fill)
    signal.signal(signal.SIGUSR2, _fail_sync)
    for function in (pwrite, write, fsync, fdatasync):
        setattr(os, function.__name__, function)
    sys.exit(main(sys.argv[1:]))

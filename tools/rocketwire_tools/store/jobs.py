"""A log read by several processes, with the results in the order of one.

The log is cut into parts that begin at a message.  The result of a part counts if the part has no
damage and its last message ends where the next part begins: then one process reads the same there.
From the first part on of which that is not true, this process reads the rest itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice, pairwise
from multiprocessing import connection, resource_tracker
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.store import commit_log
from rocketwire.store.folder import files_between
from rocketwire_tools.memory import prepare_process
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE, open_blocks
from rocketwire_tools.store.engine.ghosts import LogTrail

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.engine.blocks import FileBlocks
    from rocketwire_tools.store.engine.scan import LogScan

    Work = Callable[[argparse.Namespace, LogScan], Iterator[Any]]
    """Yields what a verb makes of a log, piece by piece; a function of a module."""

PART_SIZE: Final = BLOCK_SIZE - (256 << 10)
"""Bytes of the log that a process reads before it reports.

A part begins and ends a little later, at messages: one that is larger than a block would have a
second block of a few bytes, which takes as many calls as a large one.
"""

_IGNORED: Final = (signal.SIGINT, signal.SIGTERM)
"""Signals that the processes ignore."""

_SEARCHED: Final = (4 << 10, 32 << 10, 1 << 20)
"""Bytes in which a message must begin, so that a part can begin there; the larger if need be."""


class Part(NamedTuple):
    log: int  # number of the log
    start: int  # offset in the log of the first message
    stop: int  # offset after the last one


class PartResult(NamedTuple):
    pieces: list[Any]  # what the work has yielded
    is_whole: bool  # whether the part has no damage and ends where the next one begins
    trail: LogTrail  # the last messages


def results(
    arguments: argparse.Namespace,
    scans: Sequence[LogScan],
    work: Work,
    *,
    part_size: int = PART_SIZE,
) -> Generator[Any]:
    """Yield the pieces of ``work`` for some logs, read by ``arguments.jobs`` processes.

    Raises ``ChildProcessError`` if a process has ended by itself.
    """
    parts = cut(scans, part_size) if arguments.jobs > 1 else []
    if len(parts) > 1:
        try:
            yield from _whole_parts(arguments, scans, work, parts)
        except BrokenProcessPool:
            raise ChildProcessError("a process that read the log has ended by itself") from None
    for scan in scans:
        if not is_read(scan):
            yield from work(arguments, scan)


def is_read(scan: LogScan) -> bool:
    """Whether other processes have read all of a log."""
    return bool(scan.files) and scan.start >= scan.files[-1].end and scan.files[-1].size > 0


def _whole_parts(
    arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work, parts: Sequence[Part]
) -> Iterator[Any]:
    options = {name: value for name, value in vars(arguments).items() if name != "run"}
    picklable = argparse.Namespace(**options)
    # a fork would copy threads of pyarrow's that others wait for
    pool = ProcessPoolExecutor(
        arguments.jobs, multiprocessing.get_context("spawn"), initializer=_begin_process
    )
    resource_tracker.ensure_running()  # which changes the mask
    running: deque[Future[PartResult]] = deque()
    waiting = iter(parts)
    try:
        for part in parts:
            for following in islice(waiting, 2 * arguments.jobs - len(running)):
                # a new process inherits the mask, so that signals wait for ``_begin_process``
                mask = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)
                scan = scans[following.log]
                running.append(pool.submit(_read_part, picklable, scan, following, work))
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            result, scan = running.popleft().result(), scans[part.log]
            if not result.is_whole:
                scan.start = part.start
                return
            yield from result.pieces
            scan.start, scan.trail = part.stop, result.trail
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_process() -> None:
    # A signal to the whole group is for the parent, which waits for the parts that are being read:
    # the pool waits for ever for a result of which a process has written only the beginning.
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _IGNORED)
    prepare_process()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _read_part(arguments: argparse.Namespace, log: LogScan, part: Part, work: Work) -> PartResult:
    scan = replace(
        log,
        files=list(files_between(log.files, part.start, part.stop)),
        start=part.start,
        stop=part.stop,
        regions=[],
        trail=LogTrail(),
    )
    pieces = list(work(arguments, scan))
    is_file_end = any(file.end == part.stop for file in scan.files)
    is_whole = not scan.is_damaged and (is_file_end or scan.end == part.stop)
    is_last = part.stop >= log.files[-1].end
    if scan.has_expired_files or (scan.has_ended and not is_last):
        is_whole = False  # what follows shows whether it is the end
    return PartResult(pieces, is_whole, scan.trail)


def cut(scans: Sequence[LogScan], size: int) -> list[Part]:
    """The parts of some logs, of about ``size`` bytes; none if a file is missing."""
    parts: list[Part] = []
    for log, scan in enumerate(scans):
        if any(file.end != following.offset for file, following in pairwise(scan.files)):
            return []
        for file in scan.files:
            try:
                starts = [file.offset, *_starts_in(file, size)]
            except FileNotFoundError:  # a broker has deleted it: one process reads what is left
                return []
            stops = [*starts[1:], file.end]
            bounds = zip(starts, stops, strict=True)
            parts += [Part(log, start, stop) for start, stop in bounds if start < stop]
    return parts


def _starts_in(file: StoreFile, size: int) -> Iterator[int]:
    with open_blocks(file, block_size=_SEARCHED[-1]) as blocks:
        for position in range(size, file.size - size, size):
            if blocks.next_data(position) >= position + _SEARCHED[-1]:
                continue  # a hole
            start = _first_message(blocks, position)
            if start is not None:
                yield file.offset + start


def _first_message(blocks: FileBlocks, position: int) -> int | None:
    for size in _SEARCHED:
        data = bytes(blocks.read(position, size))
        start = commit_log.next_message(data, 0, blocks.file.offset + position)
        if start is not None:
            return position + start
    return None

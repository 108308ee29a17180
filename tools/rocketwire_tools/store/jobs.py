"""A log read by several processes, with the results in the order of one.

The log is cut into parts that begin at a message.  The result of a part counts if the part has no
damage and its last message ends where the next part begins: then one process reads the same there.
From the first part on of which that is not true, this process reads the rest itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.store import commit_log
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.ghosts import LogTrail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from rocketwire_tools.store.engine.scan import LogScan

    Pipe = Connection[Any, Any]
    Work = Callable[[argparse.Namespace, LogScan], Iterator[Any]]
    """Yields what a verb makes of a log, piece by piece; a function of a module."""

PART_SIZE: Final = 8 << 20
"""Bytes of the log that a process reads before it reports."""

_SEARCHED: Final = 1 << 20
"""Bytes in which a message must begin, so that a part can begin there."""

_GRACE: Final = 5.0
"""Seconds for a process to end."""


class Part(NamedTuple):
    """Messages that one process reads.

    Attributes:
        log: number of the log.
        start: offset in the log of the first message.
        stop: offset after the last one.
    """

    log: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class PartEnd:
    """The end of a part.

    Attributes:
        is_whole: whether the part has no damage and ends where the next one begins.
        trail: the last messages.
    """

    is_whole: bool
    trail: LogTrail


def results(arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work) -> Iterator[Any]:
    """What ``work`` yields of some logs, read by ``arguments.jobs`` processes.

    Raises:
        ChildProcessError: a process has ended by itself.
    """
    jobs: int = arguments.jobs
    next_log = 0
    parts = cut(scans, PART_SIZE) if jobs > 1 else []
    if len(parts) > 1:
        with closing(_Processes(arguments, scans, work, parts, jobs)) as processes:
            for part in parts:
                pieces, end = processes.next_part()
                scan = scans[part.log]
                if not end.is_whole:
                    scan.start = part.start
                    break
                yield from pieces
                scan.trail = end.trail
                next_log = part.log + 1 if part.stop == scan.files[-1].end else part.log
    for scan in scans[next_log:]:
        yield from work(arguments, scan)


def cut(scans: Sequence[LogScan], size: int) -> list[Part]:
    """The parts of some logs, of about ``size`` bytes; none if a file is missing between others."""
    parts: list[Part] = []
    for log, scan in enumerate(scans):
        if any(file.end != following.offset for file, following in pairwise(scan.files)):
            return []
        for file in scan.files:
            starts = [file.offset]
            if not scan.is_dledger:
                with open_blocks(file, block_size=_SEARCHED) as blocks:
                    for position in range(size, file.size - size, size):
                        data = bytes(blocks.read(position))
                        place = commit_log.next_message(data, 0, file.offset + position)
                        if place is not None:
                            starts.append(file.offset + position + place)
            stops = [*starts[1:], file.end]
            parts += [Part(log, *bounds) for bounds in zip(starts, stops, strict=True)]
    return parts


class _Processes:
    """Processes that read parts in turn."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        scans: Sequence[LogScan],
        work: Work,
        parts: Sequence[Part],
        count: int,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        picklable = {name: value for name, value in vars(arguments).items() if name != "run"}
        self._pipes: list[Pipe] = []
        self._processes: list[BaseProcess] = []
        self._next = 0
        for number in range(count):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_read_parts,
                args=(theirs, argparse.Namespace(**picklable), scans, work, parts[number::count]),
                daemon=True,
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def next_part(self) -> tuple[list[Any], PartEnd]:
        """What ``work`` yielded of the next part, and its end."""
        pipe = self._pipes[self._next % len(self._pipes)]
        self._next += 1
        pieces: list[Any] = []
        while True:
            try:
                piece = pipe.recv()
            except EOFError:
                raise ChildProcessError("a process that read the log has ended by itself") from None
            if isinstance(piece, PartEnd):
                return pieces, piece
            if isinstance(piece, BaseException):
                raise piece
            pieces.append(piece)

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(_GRACE)


def _read_parts(
    pipe: Pipe,
    arguments: argparse.Namespace,
    scans: Sequence[LogScan],
    work: Work,
    parts: Sequence[Part],
) -> None:
    """The main function of a process."""
    try:
        for part in parts:
            scan = replace(
                scans[part.log], start=part.start, stop=part.stop, regions=[], trail=LogTrail()
            )
            for piece in work(arguments, scan):
                pipe.send(piece)
            is_file_end = any(file.end == part.stop for file in scan.files)
            is_whole = not scan.is_damaged and (is_file_end or scan.end == part.stop)
            pipe.send(PartEnd(is_whole, scan.trail))
    except (BrokenPipeError, KeyboardInterrupt):
        return
    except Exception as error:  # noqa: BLE001 - the process that waits raises it
        pipe.send(error)

"""A log read by several processes, with the results in the order of one.

The log is cut into parts that begin at a message.  The result of a part counts if the part has no
damage and its last message ends where the next part begins: then one process reads the same there.
From the first part on of which that is not true, this process reads the rest itself.

Processes are forked, so that they import nothing, unless threads run.  What they write goes from
them to the file, each part in its turn, or to a file of each process; only processes that were not
forked send it to this one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import warnings
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from io import UnsupportedOperation
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from rocketwire.store import commit_log
from rocketwire.store.folder import files_between
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE, open_blocks
from rocketwire_tools.store.engine.ghosts import LogTrail

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.engine.blocks import FileBlocks
    from rocketwire_tools.store.engine.scan import LogScan

    Pipe = Connection[Any, Any]
    Work = Callable[[argparse.Namespace, LogScan], Iterator[Any]]
    """Yields what a verb makes of a log, piece by piece; a function of a module."""

    Writing = Callable[[argparse.Namespace, LogScan], Iterator[tuple[Any, Any]]]
    """The same, and before each piece the rows to write; None for none."""

    Sinks = Callable[[int], "Sink"]
    """Makes the sink of a process by its number."""

PART_SIZE: Final = BLOCK_SIZE - (256 << 10)
"""Bytes of the log that a process reads before it reports.

A part begins and ends a little later, at messages: one that is larger than a block would have a
second block of a few bytes, which takes as many calls as a large one.
"""

_SEARCHED: Final = (4 << 10, 32 << 10, 1 << 20)
"""Bytes in which a message must begin, so that a part can begin there; the larger if need be."""

_GRACE: Final = 5.0
"""Seconds for a process to end."""

_FORKING_THREADS: Final = frozenset({"jemalloc_bg_thd"})
"""Threads of pyarrow's that outlive a fork: jemalloc starts its own again."""


class _Turn(Enum):
    """What a process that writes is told.

    Attributes:
        WRITE: all before the part that it has read last is read, and so it can write that.
        CLOSE: nothing follows; it says the same when it has ended what it wrote.
    """

    WRITE = auto()
    CLOSE = auto()


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


class Sink(Protocol):
    """Gets the rows of one process.

    Attributes:
        is_shared: whether all processes write to one file, and so one after the other.
    """

    is_shared: ClassVar[bool]

    def write(self, rows: Any, /) -> None:
        """Write rows."""

    def close(self) -> None:
        """End what was written."""


def results(arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work) -> Iterator[Any]:
    """What ``work`` yields of some logs, read by ``arguments.jobs`` processes.

    Raises:
        ChildProcessError: a process has ended by itself.
    """
    yield from _results(arguments, scans, work, None)


def written(
    arguments: argparse.Namespace, scans: Sequence[LogScan], work: Writing, file: IO[bytes]
) -> Iterator[Any]:
    """The same of work whose bytes are written to a file, in the order of one process.

    Raises:
        ChildProcessError: a process has ended by itself.
        OSError: the file cannot be written.
    """
    output = _descriptor(file)
    sinks = None if output is None else _sinks_of(output)
    for lines, piece in _results(arguments, scans, work, sinks):
        if lines is not None:
            file.write(lines)
        yield piece


def written_apart(
    arguments: argparse.Namespace,
    scans: Sequence[LogScan],
    work: Writing,
    sinks: Sinks,
) -> Iterator[Any]:
    """The same of work whose rows go to a sink of each process.

    Args:
        sinks: makes the sink of a process by its number; this process has 0, the others follow.

    Raises:
        ChildProcessError: a process has ended by itself.
        OSError: rows cannot be written.
    """
    sink = sinks(0)
    for rows, piece in _results(arguments, scans, work, sinks):
        if rows is not None:
            sink.write(rows)
        yield piece
    sink.close()


def whole_parts(
    arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work
) -> Generator[list[Any]]:
    """What ``work`` yields of each part that is whole, up to the first one that is not.

    At each step the scans begin behind the parts before, so that a caller who stops can read the
    rest itself.  There are no parts with ``arguments.jobs`` of 1.

    Raises:
        ChildProcessError: a process has ended by itself.
    """
    yield from _whole_parts(arguments, scans, work, None)


def is_read(scan: LogScan) -> bool:
    """Whether other processes have read all of a log."""
    return bool(scan.files) and scan.start >= scan.files[-1].end and scan.files[-1].size > 0


def _results(
    arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work, sinks: Sinks | None
) -> Iterator[Any]:
    for pieces in _whole_parts(arguments, scans, work, sinks):
        yield from pieces
    for scan in scans:
        if not is_read(scan):
            yield from work(arguments, scan)


def _whole_parts(
    arguments: argparse.Namespace, scans: Sequence[LogScan], work: Work, sinks: Sinks | None
) -> Generator[list[Any]]:
    jobs: int = arguments.jobs
    parts = cut(scans, PART_SIZE) if jobs > 1 else []
    if len(parts) <= 1:
        return
    with closing(_Processes(arguments, scans, work, parts, jobs, sinks)) as processes:
        for part in parts:
            pieces, end = processes.next_part()
            scan = scans[part.log]
            if not end.is_whole:
                scan.start = part.start
                break
            yield pieces
            processes.write_part()
            scan.start, scan.trail = part.stop, end.trail
        processes.close_sinks()


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
    """Offsets at which further parts of a file begin."""
    with open_blocks(file, block_size=_SEARCHED[-1]) as blocks:
        for position in range(size, file.size - size, size):
            if blocks.next_data(position) >= position + _SEARCHED[-1]:
                continue  # a hole
            place = _first_message(blocks, position)
            if place is not None:
                yield file.offset + place


def _first_message(blocks: FileBlocks, position: int) -> int | None:
    """Position in a file of the first message from another position on; None if none is near."""
    for size in _SEARCHED:
        data = bytes(blocks.read(position, size))
        place = commit_log.next_message(data, 0, blocks.file.offset + position)
        if place is not None:
            return position + place
    return None


def may_fork() -> bool:
    """Whether a fork of this process leaves no thread behind that others wait for."""
    try:
        tasks = list(Path("/proc/self/task").iterdir())
        names = {
            (task / "comm").read_text().strip() for task in tasks if int(task.name) != os.getpid()
        }
    except OSError:
        return False
    return names <= _FORKING_THREADS


class Beside:
    """A function that a forked process runs, beside those that read the log.

    Args:
        function: without arguments; its result is sent, what else it changes stays in its process.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_send_result, args=(theirs, function, self._pipe), daemon=True
        )
        _start(self._process)
        theirs.close()

    def result(self) -> Any:
        """What the function returns; None if it fails: then this process can do it and say why."""
        try:
            return self._pipe.recv()
        except EOFError:
            return None
        finally:
            self._pipe.close()
            self._process.join(_GRACE)


class _Processes:
    """Processes that read parts in turn, and write them if there are sinks and they are forked."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        scans: Sequence[LogScan],
        work: Work,
        parts: Sequence[Part],
        count: int,
        sinks: Sinks | None,
    ) -> None:
        is_forked = may_fork()
        context: Any = multiprocessing.get_context("fork" if is_forked else "spawn")
        picklable = {name: value for name, value in vars(arguments).items() if name != "run"}
        self._pipes: list[Pipe] = []
        self._processes: list[BaseProcess] = []
        self._next = 0
        self._sinks = [sinks(number + 1) for number in range(count)] if is_forked and sinks else []
        for number in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_read_parts,
                args=(
                    theirs,
                    argparse.Namespace(**picklable),
                    scans,
                    work,
                    parts[number::count],
                    self._sinks[number] if self._sinks else None,
                    [*self._pipes, ours] if is_forked else [],
                ),
                daemon=True,
            )
            _start(process)
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def next_part(self) -> tuple[list[Any], PartEnd]:
        """What ``work`` yielded of the next part, and its end.

        Of what the process itself will write, the pieces have no bytes.
        """
        pipe = self._pipes[self._next % len(self._pipes)]
        self._next += 1
        pieces: list[Any] = []
        while True:
            piece = _received(pipe)
            if isinstance(piece, PartEnd):
                return pieces, piece
            pieces.append(piece)

    def write_part(self) -> None:
        """Have the part that was read last written, if its process does that."""
        if self._sinks:
            number = (self._next - 1) % len(self._pipes)
            self._pipes[number].send(_Turn.WRITE)
            if self._sinks[number].is_shared:
                _received(self._pipes[number])

    def close_sinks(self) -> None:
        """Have each process end what it has written, and forget what it reads now."""
        if self._sinks:
            for pipe in self._pipes:
                with suppress(BrokenPipeError):  # its error stands in the pipe
                    pipe.send(_Turn.CLOSE)
            for pipe in self._pipes:
                while _received(pipe) is not _Turn.CLOSE:
                    pass

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(_GRACE)


def _start(process: BaseProcess) -> None:
    with warnings.catch_warnings():  # Python does not know which threads outlive a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()


class SharedFile:
    """A file that all processes write, by its descriptor."""

    is_shared: ClassVar[bool] = True

    def __init__(self, output: int) -> None:
        self._output = output

    def write(self, lines: bytes) -> None:
        """Write lines behind those of all processes."""
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(self._output, rest) :]

    def close(self) -> None:
        """The file stays open."""


def _sinks_of(output: int) -> Sinks:
    """One sink for all processes."""
    sink = SharedFile(output)

    def sinks(_: int) -> Sink:
        return sink

    return sinks


def _descriptor(file: IO[bytes]) -> int | None:
    """The descriptor of a file without bytes that are to be written; None without one."""
    try:
        file.flush()
        return file.fileno()
    except UnsupportedOperation:
        return None


def _received(pipe: Pipe) -> Any:
    try:
        piece = pipe.recv()
    except EOFError:
        raise ChildProcessError("a process that read the log has ended by itself") from None
    if isinstance(piece, BaseException):
        raise piece
    return piece


def _restore_signals() -> None:
    """Undo what a fork has copied: handlers of signals are those of the first process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _send_result(pipe: Pipe, function: Callable[[], Any], inherited: Pipe) -> None:
    """The main function of a process of ``Beside``."""
    _restore_signals()
    inherited.close()
    with suppress(Exception):  # without a result the first process does it again
        pipe.send(function())


def _read_parts(
    pipe: Pipe,
    arguments: argparse.Namespace,
    scans: Sequence[LogScan],
    work: Work,
    parts: Sequence[Part],
    sink: Sink | None,
    inherited: Sequence[Pipe],
) -> None:
    """The main function of a process.

    Args:
        sink: gets the rows; None to send them.
        inherited: ends of pipes that a fork has copied; open here, they would hide that the first
            process has ended.
    """
    if inherited:
        _restore_signals()
    for other in inherited:
        other.close()
    try:
        memory = bytearray(BLOCK_SIZE)
        for part in parts:
            scan = replace(
                scans[part.log],
                files=list(files_between(scans[part.log].files, part.start, part.stop)),
                start=part.start,
                stop=part.stop,
                memory=memory,
                regions=[],
                trail=LogTrail(),
            )
            rows = _read(pipe, arguments, scan, work, are_rows_sent=sink is None)
            is_file_end = any(file.end == part.stop for file in scan.files)
            is_whole = not scan.is_damaged and (is_file_end or scan.end == part.stop)
            is_last = part.stop >= scans[part.log].files[-1].end
            if scan.has_expired_files or (scan.has_ended and not is_last):
                is_whole = False  # what follows shows whether it is the end
            pipe.send(PartEnd(is_whole, scan.trail))
            if sink is not None and not _write_in_turn(pipe, sink, rows):
                break
        if sink is not None:
            sink.close()
            pipe.send(_Turn.CLOSE)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
    except Exception as error:  # noqa: BLE001 - the process that waits raises it
        with suppress(OSError):  # nobody waits any more
            pipe.send(error)


def _read(
    pipe: Pipe, arguments: argparse.Namespace, scan: LogScan, work: Work, *, are_rows_sent: bool
) -> list[Any]:
    """Send what ``work`` yields; returns the rows if they are not sent."""
    rows: list[Any] = []
    for piece in work(arguments, scan):
        if are_rows_sent:
            pipe.send(piece)
        else:
            rows.append(piece[0])
            pipe.send((None, piece[1]))
    return rows


def _write_in_turn(pipe: Pipe, sink: Sink, rows: Sequence[Any]) -> bool:
    """Wait for the turn of a part, and write its rows; False if the part is not to be written."""
    if pipe.recv() is _Turn.CLOSE:
        return False
    try:
        for each in rows:
            if each is not None:
                sink.write(each)
    except BrokenPipeError as error:  # of the output: nobody reads on
        pipe.send(error)
        return False
    if sink.is_shared:
        pipe.send(None)
    return True

"""``Decoder``: a capture in, batches of rows out.

Memory is bounded: rows wait for incomplete frames that were captured before them, but not without
limit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.fused import LENGTH_SIZE, PREFIX_SIZE
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.files.records import CHUNK_SIZE
from rocketwire_tools.pcap.files.series import Series, Span
from rocketwire_tools.pcap.packets.packets import Addresses, segments
from rocketwire_tools.pcap.rows.batches import BatchBuilder, FileNames
from rocketwire_tools.pcap.rows.pairing import Pairing
from rocketwire_tools.pcap.rows.rows import COLUMNS, Rows, concatenate, frames_to_rows
from rocketwire_tools.pcap.streams.flows import MAX_KEPT, MAX_STREAMS, ChunkFrames, Flows
from rocketwire_tools.pcap.streams.reassembly import Limits
from rocketwire_tools.pcap.streams.resync import JSON, ROCKETMQ

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.files.records import Array, Records
    from rocketwire_tools.pcap.packets.packets import Segments

    Watch = Callable[[Records, Segments, Addresses], None]

CELL: Final = 16 << 20  # Bytes of a capture whose rows form one batch
MAX_ROWS: Final = 131_072  # Rows of a batch
MAX_FRAMES: Final = 262_144
"""Frames that are cut at once, if a sample shows that there may be more: frames can have ten
bytes."""
_BETWEEN: Final = 16  # Least distance between the offsets of a file and those of the file before it
_EACH: Final = 1 << 17
_SAMPLE: Final = 1024
_BRACE: Final = 0x7B
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
MAX_WAITING: Final = 131_072  # Rows that wait for incomplete frames; twice as many never wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    fields: Sequence[str] = tuple(COLUMNS)  # the columns of the rows
    bodies: bool = False  # whether to keep bodies
    limits: Limits = field(default_factory=Limits)  # bounds of the wait for missing segments
    chunk_size: int = CHUNK_SIZE  # bytes that are decoded together
    max_streams: int = MAX_STREAMS  # streams that are remembered
    careful: bool = False  # process all streams one by one, without the vectorised path
    eager: bool = False  # process the available bytes at once instead of waiting for a whole chunk
    # ``(k, n)`` decodes the kth of n shares of the connections, from 0 on
    share: tuple[int, int] = (0, 1)
    # called with the records, segments and addresses of each chunk before frames are cut
    watch: Watch | None = None


def connections_of(every: Segments) -> Array:
    """A number for each segment's connection, the same in both directions; collisions are rare."""
    return every.source + every.target


@dataclass(slots=True)
class Totals:
    packets: int = 0  # records
    bytes: int = 0  # captured bytes of packets
    frames: int = 0  # rows
    truncated: bool = False  # whether a capture ends within a record
    ends_within: list[str] = field(default_factory=list[str])  # paths of these captures
    files: int = 0  # captures of a series that were read
    # errors of captures of a series
    failures: list[CaptureError] = field(default_factory=list[CaptureError])
    # packets that were not decoded, by reason
    skipped: Counter[str] = field(default_factory=Counter[str])
    forgotten: int = 0  # streams that were forgotten before they ended
    cut_short: int = 0  # packets that were not captured whole
    unanswered: int = 0  # requests without a response; known at the end


class Decoder:
    """Decodes a capture (``-`` is standard input), or the first captures of a series that continue
    each other as one."""

    def __init__(self, path: str | Series, options: Options | None = None) -> None:
        self._series = Series.of(path)
        self._span = Span()
        self._file_offset = 0
        self.files = FileNames(self._series.paths[0])  # files so far
        self._options = Options() if options is None else options
        self.addresses = Addresses()  # numbers of addresses
        self._flows = Flows(
            self._options.limits, bodies=self._options.bodies, max_streams=self._options.max_streams
        )
        self._flows.careful = self._options.careful
        self.totals = Totals()  # counts so far
        self.pairing = Pairing()  # unanswered requests so far
        self._builder = BatchBuilder(self.files, self._options.fields, self.addresses, self.pairing)
        self._waiting: list[Rows] = []

    def __iter__(self) -> Iterator[Batch]:
        """Decode the rows, in the order of their last captured bytes."""
        try:
            for rows in self.rows():
                yield from self._builder.add(rows)
                if self._options.eager:
                    yield from self._builder.rest()
        except CaptureError:
            yield from self._builder.rest()
            raise
        yield from self._builder.rest()
        self.totals.unanswered = self.pairing.unanswered + self.pairing.waiting

    def rows(self) -> Iterator[Rows]:
        """Decode the rows with encoded headers, in the same order."""
        for rows in self._rows():
            self.totals.frames += len(rows)
            yield rows

    def _rows(self) -> Iterator[Rows]:
        paths = self._series.paths
        try:
            for path in paths:
                try:
                    if not (yield from self._read(path)):
                        break
                except CaptureError as error:
                    if len(paths) == 1:
                        raise
                    self.totals.failures.append(error)
                self.totals.files += 1
        except CaptureError:
            yield from self._finish()
            raise
        finally:
            self.totals.forgotten = self._flows.forgotten
        yield from self._finish()

    def _read(self, path: str) -> Generator[Rows, None, bool]:
        options, base = self._options, self._file_offset
        source = open_input(path)
        reader = CaptureReader(
            path, source, chunk_size=options.chunk_size, eager=options.eager, base=base
        )
        span = Span()
        try:
            for records in reader:
                if span.first_ns is None and self.totals.files:
                    if not (
                        self._series.certain or self._span.is_continued_at(int(records.time_ns[0]))
                    ):
                        return False
                    self.files.add(base, path)
                span.add(records.time_ns)
                yield from self._feed(records)
        except CaptureError as error:
            if error.offset is None or not base:
                raise
            raise CaptureError(error.path, error.offset - base, error.message) from error
        finally:
            source.close()
            if span.first_ns is not None:
                self._span = span
            if reader.truncated:
                self.totals.truncated = True
                self.totals.ends_within.append(path)
        return True

    def _feed(self, records: Records) -> Iterator[Rows]:
        count = len(records.time_ns)
        step = max(count // (_likely_frames(records) // MAX_FRAMES + 1), 1)
        if step == count:
            yield from self._feed_part(records)
            return
        for start in range(0, count, step):
            yield from self._feed_part(records.take(slice(start, start + step)))

    def _feed_part(self, records: Records) -> Iterator[Rows]:
        self._file_offset = int(records.file_offset[-1]) + _BETWEEN
        self.totals.packets += len(records.time_ns)
        self.totals.bytes += int(records.captured.sum())
        self.totals.cut_short += int((records.captured < records.wire).sum())
        every = segments(records, self.addresses, self.totals.skipped)
        tcp_segments = self._select_segments(every)
        if self._options.watch is not None:
            self._options.watch(records, tcp_segments, self.addresses)
        rows = self._rows_of(self._flows.feed(records, tcp_segments))
        yield from self._release(rows, int(records.time_ns[-1]), int(records.file_offset[-1]))
        if self.addresses.are_many:
            self._forget_addresses()

    def _forget_addresses(self) -> None:
        needed = self._flows.hosts()
        for rows in self._waiting:
            needed.update(*((ends >> 16).tolist() for ends in (rows.source, rows.target)))
        self.addresses.keep(needed)

    def _finish(self) -> Iterator[Rows]:
        rows = self._rows_of(ChunkFrames(frames=self._flows.finish()))
        yield from self._release(rows, None, 0)

    def _rows_of(self, frames: ChunkFrames) -> list[Rows]:
        parts = frames_to_rows(frames)
        for part in parts:
            self._flows.number(part.number, part.first_offset)
        return parts

    def _select_segments(self, every: Segments) -> Segments:
        number, count = self._options.share
        if count == 1:
            return every
        mixed: Any = connections_of(every).view(np.uint64) * _MIX >> np.uint64(40)
        return every.take(np.flatnonzero(mixed % np.uint64(count) == number))

    def _select_rows(self, rows: Rows) -> Rows | None:
        return rows

    def _release(self, parts: list[Rows], now: int | None, file_offset: int) -> Iterator[Rows]:
        self._waiting += [rows for part in parts if (rows := self._select_rows(part)) is not None]
        bound = None if now is None else self._before(now, file_offset)
        ready = any(bound is None or part.last_offset.min() < bound for part in self._waiting)
        if not ready:
            return
        sorted_rows = concatenate(self._waiting)
        count = len(sorted_rows)
        if bound is not None:
            count = int(np.searchsorted(sorted_rows.last_offset, bound))
        for cell in self._cells(sorted_rows.last_offset[:count]):
            yield sorted_rows.take(cell)
        self._waiting = [sorted_rows.take(slice(count, None))] if count < len(sorted_rows) else []

    def _before(self, now: int, file_offset: int) -> int:
        # Offset of the first record in which an incomplete frame may end
        bound = self._flows.waits_since()
        waiting = sum(map(len, self._waiting))
        if waiting > MAX_WAITING:
            bound = self._flows.waits_since(now - self._options.limits.hold_ns)
        if waiting > 2 * MAX_WAITING or sum(part.size for part in self._waiting) > MAX_KEPT:
            return file_offset + 1
        bound = file_offset + 1 if bound is None else min(bound, file_offset + 1)
        return bound if self._options.eager else bound - bound % CELL

    def _cells(self, last_offset: Array) -> Iterator[slice]:
        # Slices of rows that form batches. They depend only on positions in the file, and so do the
        # pairs within them.
        cell = last_offset // CELL
        ends = [*(np.flatnonzero(cell[1:] != cell[:-1]) + 1).tolist(), len(cell)]
        if self._options.eager:
            ends = [len(cell)]
        for start, end in zip([0, *ends], ends, strict=False):
            for first in range(start, end, MAX_ROWS):
                yield slice(first, min(first + MAX_ROWS, end))


def _likely_frames(records: Records) -> int:
    # Estimate the number of frames in records by a sample of their first bytes
    data = np.frombuffer(records.buffer, np.uint8)[: records.size]
    lines = data[: len(data) // _EACH * _EACH].reshape(-1, _EACH)[:, :_SAMPLE]
    header_type = lines[:, LENGTH_SIZE : LENGTH_SIZE - PREFIX_SIZE]
    begins = (lines[:, PREFIX_SIZE:] == _BRACE) & (header_type == JSON)
    begins |= header_type == ROCKETMQ
    zero = lines == 0  # the first byte of both lengths is 0
    begins &= zero[:, :-PREFIX_SIZE] & zero[:, LENGTH_SIZE + 1 : LENGTH_SIZE + 1 - PREFIX_SIZE]
    share = int(records.captured.sum()) / max(len(data), 1)
    return int(np.count_nonzero(begins) * share * _EACH / begins.shape[1])

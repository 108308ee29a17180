"""``decode``: a capture in, batches of rows out.

Rules of this file: memory is bounded, whatever the capture: rows wait for those that were captured before them and are not
known yet, but not without end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.functions import LENGTH_SIZE, PREFIX_SIZE
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.files.records import CHUNK_SIZE
from rocketwire_tools.pcap.files.series import Series, Span
from rocketwire_tools.pcap.packets.packets import Addresses, segments
from rocketwire_tools.pcap.packets.skipped import Skipped
from rocketwire_tools.pcap.rows.batches import BatchBuilder
from rocketwire_tools.pcap.rows.file_names import FileNames
from rocketwire_tools.pcap.rows.pairing import Pairing
from rocketwire_tools.pcap.rows.rows import COLUMNS, Rows, frames_to_rows, joined
from rocketwire_tools.pcap.streams.flows import MAX_STREAMS, MOST_KEPT, Flows, Found
from rocketwire_tools.pcap.streams.resync import JSON, ROCKETMQ
from rocketwire_tools.pcap.streams.segments import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.packets.packets import Segments

    Array = np.ndarray[Any, Any]
    Watch = Callable[[Records, Segments, Addresses], None]


CELL: Final = 16 << 20
"""Bytes of a capture whose rows are one batch."""
MOST_ROWS: Final = 131_072
"""Rows of a batch."""
MOST_FRAMES: Final = 262_144
"""Frames that are looked for at once, if a sample says that there may be more: they can be as short as ten bytes."""
_BETWEEN: Final = 16
"""Bytes by which the offsets of a file's records are at least behind those of the file before."""
_EACH: Final = 1 << 17
_SAMPLE: Final = 1024
_BRACE: Final = 0x7B
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
MOST_WAITING: Final = 131_072
"""Rows that wait for others that were captured before them; beyond twice as many they wait no longer, whatever the clock says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a capture is decoded.

    Attributes:
        fields: the columns of the rows.
        bodies: whether bodies are kept.
        limits: how long is waited for missing segments.
        chunk_size: bytes looked at together.
        max_streams: streams remembered at a time.
        careful: take no short way.
        eager: take what has come, however little, instead of waiting for a chunk.
        share: ``(k, n)`` for the connections that are the kth of n shares, from 0 on.
        watch: gets each chunk's records, segments and addresses before frames are looked for.
    """

    fields: Sequence[str] = tuple(COLUMNS)
    bodies: bool = False
    limits: Limits = field(default_factory=Limits)
    chunk_size: int = CHUNK_SIZE
    max_streams: int = MAX_STREAMS
    careful: bool = False
    eager: bool = False
    share: tuple[int, int] = (0, 1)
    watch: Watch | None = None


def connections_of(every: Segments) -> Array:
    """A number for the connection of each segment, the same in both directions; few have the same."""
    return every.source + every.target


@dataclass(slots=True)
class Totals:
    """What has been seen so far.

    Attributes:
        packets: records read.
        bytes: bytes of packets, as captured.
        frames: rows given.
        truncated: whether the capture, or one of a series, ends within a record.
        ends_within: paths of those that do.
        files: captures of a series that were read.
        failures: why captures of a series could not be read to their ends.
        skipped: packets that were not looked into, by reason.
        forgotten: streams that were forgotten before they ended, because there were too many.
        cut_short: packets of which not all bytes were captured.
        unanswered: requests without an answer; known at the end.
    """

    packets: int = 0
    bytes: int = 0
    frames: int = 0
    truncated: bool = False
    ends_within: list[str] = field(default_factory=list[str])
    files: int = 0
    failures: list[CaptureError] = field(default_factory=list[CaptureError])
    skipped: Counter[str] = field(default_factory=Counter[str])
    forgotten: int = 0
    cut_short: int = 0
    unanswered: int = 0


class Decoder:
    """Decodes one capture, or several that continue each other as one.

    Args:
        path: of the capture, ``-`` for standard input; or the series.  Of a series as many files are read as continue each
            other, the first in any case.
        options: how.

    Attributes:
        totals: what has been seen so far.
        files: those that have been begun.
        addresses: numbers of addresses.
        pairing: the requests without an answer so far.
    """

    def __init__(self, path: str | Series, options: Options | None = None) -> None:
        self._series = Series.of(path)
        self._span = Span()
        self._where = 0
        self.files = FileNames(self._series.paths[0])
        self._options = Options() if options is None else options
        self.addresses = Addresses()
        self._skipped = Skipped()
        self._flows = Flows(
            self._options.limits, bodies=self._options.bodies, max_streams=self._options.max_streams
        )
        self._flows.careful = self._options.careful
        self.totals = Totals(skipped=self._skipped.reasons)
        self.pairing = Pairing()
        self._builder = BatchBuilder(self.files, self._options.fields, self.addresses, self.pairing)
        self._waiting: list[Rows] = []

    def __iter__(self) -> Iterator[Batch]:
        """Give the rows, in the order of their last captured byte.

        Raises:
            CaptureError: it cannot be read on; the rows before have been given.  What is wrong with one of several captures
                is noted in ``totals``, and the next one follows.
        """
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
        """Give the rows with their headers unread, in the same order.

        Raises:
            CaptureError: it cannot be read on; the rows before have been given.
        """
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
        """Read a file; returns whether it continues the one before."""
        options, base = self._options, self._where
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
        """Take records, and give the rows that are known by now."""
        count = len(records.time_ns)
        step = max(count // (_likely_frames(records) // MOST_FRAMES + 1), 1)
        if step == count:
            yield from self._feed_part(records)
            return
        for start in range(0, count, step):
            yield from self._feed_part(records.take(slice(start, start + step)))

    def _feed_part(self, records: Records) -> Iterator[Rows]:
        self._where = int(records.where[-1]) + _BETWEEN
        self.totals.packets += len(records.time_ns)
        self.totals.bytes += int(records.captured.sum())
        self.totals.cut_short += int((records.captured < records.wire).sum())
        wanted = self._wanted(segments(records, self.addresses, self._skipped))
        if self._options.watch is not None:
            self._options.watch(records, wanted, self.addresses)
        rows = self._rows_of(self._flows.feed(records, wanted))
        yield from self._release(rows, int(records.time_ns[-1]), int(records.where[-1]))
        if self.addresses.are_many:
            self._forget_addresses()

    def _forget_addresses(self) -> None:
        """Keep those that a stream or a row may yet need."""
        needed = self._flows.hosts()
        for rows in self._waiting:
            needed.update(*((ends >> 16).tolist() for ends in (rows.source, rows.target)))
        self.addresses.keep(needed)

    def _finish(self) -> Iterator[Rows]:
        """Give what is left."""
        rows = self._rows_of(Found(frames=self._flows.finish()))
        yield from self._release(rows, None, 0)

    def _rows_of(self, found: Found) -> list[Rows]:
        parts = frames_to_rows(found)
        for part in parts:
            self._flows.number(part.number, part.first_where)
        return parts

    def _wanted(self, every: Segments) -> Segments:
        """The segments of this decoder's share of the connections."""
        number, count = self._options.share
        if count == 1:
            return every
        mixed: Any = connections_of(every).view(np.uint64) * _MIX >> np.uint64(40)
        return every.take(np.flatnonzero(mixed % np.uint64(count) == number))

    def _owned(self, rows: Rows) -> Rows | None:
        """The rows that are this decoder's to give; None if none are."""
        return rows

    def _release(self, parts: list[Rows], now: int | None, where: int) -> Iterator[Rows]:
        """Give the rows that nothing can come before any more; all of them at the end.

        If too many wait, a body on which nothing has come for long holds them up no longer.

        Args:
            parts: rows that were found.
            now: capture time; None at the end.
            where: offset of the latest record.
        """
        self._waiting += [rows for part in parts if (rows := self._owned(part)) is not None]
        before = None if now is None else self._before(now, where)
        ready = any(before is None or part.last_where.min() < before for part in self._waiting)
        if not ready:
            return
        together = joined(self._waiting)
        count = len(together)
        if before is not None:
            count = int(np.searchsorted(together.last_where, before))
        for cell in self._cells(together.last_where[:count]):
            yield together.take(cell)
        self._waiting = [together.take(slice(count, None))] if count < len(together) else []

    def _before(self, now: int, where: int) -> int:
        """Offset of the first record in which a frame may end that is not known yet."""
        before = self._flows.waits_since()
        waiting = sum(map(len, self._waiting))
        if waiting > MOST_WAITING:
            before = self._flows.waits_since(now - self._options.limits.hold_ns)
        if waiting > 2 * MOST_WAITING or sum(one.size for one in self._waiting) > MOST_KEPT:
            return where + 1
        before = where + 1 if before is None else min(before, where + 1)
        return before if self._options.eager else before - before % CELL

    def _cells(self, last_where: Array) -> Iterator[slice]:
        """Rows that are made a batch of: which ones depends on nothing but where they are in the file, and so
        do the pairs that are found among them."""
        cell = last_where // CELL
        ends = [*(np.flatnonzero(cell[1:] != cell[:-1]) + 1).tolist(), len(cell)]
        if self._options.eager:
            ends = [len(cell)]
        for start, end in zip([0, *ends], ends, strict=False):
            for first in range(start, end, MOST_ROWS):
                yield slice(first, min(first + MOST_ROWS, end))


def _likely_frames(records: Records) -> int:
    """How many frames there may be in records, by a sample: how often there is what they begin with."""
    whole = np.frombuffer(records.buffer, np.uint8)[: records.size]
    lines = whole[: len(whole) // _EACH * _EACH].reshape(-1, _EACH)[:, :_SAMPLE]
    kind = lines[:, LENGTH_SIZE : LENGTH_SIZE - PREFIX_SIZE]
    begins = (lines[:, PREFIX_SIZE:] == _BRACE) & (kind == JSON)
    begins |= kind == ROCKETMQ
    zero = lines == 0  # as the first bytes of both lengths are
    begins &= zero[:, :-PREFIX_SIZE] & zero[:, LENGTH_SIZE + 1 : LENGTH_SIZE + 1 - PREFIX_SIZE]
    share = int(records.captured.sum()) / max(len(whole), 1)
    return int(np.count_nonzero(begins) * share * _EACH / begins.shape[1])

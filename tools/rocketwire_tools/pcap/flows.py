"""Every stream of a capture: segments sorted into streams, chunk by chunk, and frames cut out of them.

Rules of this file: streams that are undisturbed go to ``plain`` together, what is left of a chunk to ``cutting`` and ``Stream``
stream by stream.  A stream that nothing came from for long is forgotten when there are too many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.grammar import PREFIX_SIZE
from rocketwire_tools.pcap import midway, plain
from rocketwire_tools.pcap.chunk import FIN, MASK, RST, SYN, Chunk, sorted_by_stream
from rocketwire_tools.pcap.marks import unmarked
from rocketwire_tools.pcap.reassembly import PIECE
from rocketwire_tools.pcap.segments import Frame, Limits, Place
from rocketwire_tools.pcap.singly import Singly
from rocketwire_tools.pcap.slots import PLAIN, STRANGE, Slots
from rocketwire_tools.pcap.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.capture import Integers, Records
    from rocketwire_tools.pcap.cutting import Cut
    from rocketwire_tools.pcap.packets import Segments

    Array = np.ndarray[Any, Any]

ACK: Final = 16
MAX_STREAMS: Final = 65_536
"""Streams remembered at a time."""
MOST_KEPT: Final = 128 << 20
"""Bytes of memory that all streams take because something of them is not whole or not in order yet; four times as many where
bodies are wanted."""


class KeepingStream(Stream):
    """A stream whose bodies are kept."""

    __slots__ = ()

    wants_bodies = True


@dataclass(slots=True)
class Together:
    """Frames that were cut out of many streams at once, an entry for each.

    Attributes:
        number: of the stream.
        source: sender, as in ``packets.Segments``.
        target: receiver.
        first: number of the record of the first byte.
        last: number of the record of the last captured byte.
        header: where the header begins in the buffer.
        header_length: bytes of it.
        kind: JSON or ROCKETMQ.
        length: value of the length word.
        body: the bodies, where they are wanted.
    """

    number: Integers
    source: Integers
    target: Integers
    first: Integers
    last: Integers
    header: Integers
    header_length: Integers
    kind: Integers
    length: Integers
    body: list[bytes] | None


@dataclass(slots=True)
class Found:
    """Frames of one chunk.

    Attributes:
        records: those of the chunk; None at the end of the capture.
        together: those cut out of many streams at once.
        cuts: others that begin and end in the chunk, as ``Cutter`` gives them.
        frames: all others.
    """

    records: Records | None = None
    together: Together | None = None
    cuts: list[Cut] = field(default_factory=list["Cut"])
    frames: list[Frame] = field(default_factory=list[Frame])


class Flows:
    """The streams of one capture, or of a part of it.

    Args:
        limits: how long is waited for missing segments.
        bodies: whether bodies are kept.
        max_streams: streams remembered at a time.

    Attributes:
        forgotten: streams that were forgotten before they ended, because there were too many.
        careful: take no short way, for tests.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        bodies: bool = False,
        max_streams: int = MAX_STREAMS,
    ) -> None:
        self.limits = Limits() if limits is None else limits
        self.forgotten = 0
        self.careful = False
        self._bodies = bodies
        self._most_kept = 4 * MOST_KEPT if bodies else MOST_KEPT
        self._kept = 0
        self._max = max_streams
        self._slots = Slots(KeepingStream if bodies else Stream)
        self._waiting: set[Stream] = set()
        self._open: set[Stream] = set()

    def feed(self, records: Records, segments: Segments) -> Found:
        """Take a chunk, and give the frames that came to their end."""
        found = Found(records)
        wanted = np.flatnonzero((segments.length > 0) | (segments.flags & (SYN | FIN | RST) != 0))
        if len(wanted):
            order = sorted_by_stream(segments, wanted)
            self._feed_chunk(Chunk(records, segments, order), found)
        self._settle(records, segments, found)
        return found

    def _feed_chunk(self, chunk: Chunk, found: Found) -> None:
        slots = self._slots.of(chunk.source, chunk.target)
        self._slots.seen[slots] = int(chunk.records.time_ns[-1])
        ignored = (self._slots.way[slots] == STRANGE) & ~chunk.has_syn()
        rest = chunk.members(~ignored)
        if not self.careful:
            chunk, slots = unmarked(chunk, slots, self._slots)
            if not len(slots):
                return
            slots = self._straightened(chunk, slots)
            midway.join(chunk, slots, self._slots)
            done = self._feed_together(chunk, slots, found)
            ignored = (self._slots.way[slots] == STRANGE) & ~chunk.has_syn()
            rest = chunk.members(~ignored) & ~done
        if rest.any():
            group = np.repeat(slots, chunk.high - chunk.low)[rest]
            part = chunk.part(rest)
            self._feed_singly(part, group[part.low], found)

    # ---- many streams at once

    def _straightened(self, chunk: Chunk, slots: Array) -> Array:
        """Put segments in order where a stream is plain and has all of them; returns the slots again."""
        expected = self._slots.sequence[slots]
        known = self._slots.way[slots] == PLAIN
        orderly = chunk.undisturbed() & (chunk.sequence[chunk.low] == expected)
        if not (known & ~orderly).any():
            return slots
        kept: Array = slots[chunk.straighten(known & ~orderly, expected, self.limits.hold_ns)]
        return kept

    def _feed_together(self, chunk: Chunk, slots: Array, found: Found) -> Array:
        """Feed the streams that are undisturbed; returns which segments are done with."""
        states = self._slots
        groups = (
            (states.way[slots] == PLAIN)
            & (states.sequence[slots] == chunk.sequence[chunk.low])
            & chunk.undisturbed()
        )
        start, end = chunk.starts[chunk.low], chunk.starts[chunk.high]
        boundary = start + states.need[slots]
        self._go_on(chunk, slots, np.flatnonzero(groups & states.open[slots]), boundary, found)
        of = slots[groups]
        states.sequence[of] = (states.sequence[of] + (end - start)[groups]) & MASK
        states.need[of] = np.maximum(boundary - end, 0)[groups]
        done = chunk.members(groups)
        within = groups & (boundary < end)
        if within.any():
            cuttings = plain.cut(chunk, within, boundary)
            group = np.repeat(np.arange(len(slots)), chunk.high - chunk.low)
            found.together = self._together(chunk, slots, group, cuttings)
            self._leave(chunk, slots, group, cuttings.left, done)
        return done

    def _go_on(
        self, chunk: Chunk, slots: Array, groups: Array, boundary: Array, found: Found
    ) -> None:
        """Go on with the bodies that are open."""
        for group in groups.tolist():
            slot = int(slots[group])
            stream = self._slots.stream(slot)
            low = int(chunk.low[group])
            end = int(chunk.starts[chunk.high[group]])
            stop = min(int(boundary[group]), end)
            last = self._last(chunk, low, max(stop, int(chunk.starts[low]) + 1))
            body = chunk.piece(int(chunk.starts[low]), stop, low) if self._bodies else None
            if boundary[group] > end:
                stream.continues(last, body)
                continue
            found.frames.append(stream.closes(last, body))
            self._slots.open[slot] = False
            self._open.discard(stream)

    def _last(self, chunk: Chunk, segment: int, after: int) -> Place:
        """The record captured last of those between a segment and a virtual position."""
        (record,) = plain.last_records(chunk, np.array([segment]), np.array([after])).tolist()
        return chunk.place(record)

    def _together(
        self, chunk: Chunk, slots: Array, group: Array, cuttings: plain.Cuttings
    ) -> Together:
        whole = cuttings.whole
        of = group[whole.segment]
        bodies = None
        if self._bodies:
            start = whole.at + PREFIX_SIZE + whole.header
            bodies = [
                chunk.piece(*each)
                for each in zip(
                    start.tolist(), whole.after.tolist(), whole.segment.tolist(), strict=True
                )
            ]
        return Together(
            self._slots.number[slots[of]],
            chunk.source[of],
            chunk.target[of],
            cuttings.first,
            cuttings.last,
            whole.offset + PREFIX_SIZE,
            whole.header,
            whole.kind,
            whole.length,
            bodies,
        )

    def _leave(
        self, chunk: Chunk, slots: Array, group: Array, left: plain.Places, done: Array
    ) -> None:
        """Leave bodies open, and what cannot be cut to be fed segment by segment."""
        for number, good in enumerate(left.good.tolist()):
            at, segment = int(left.at[number]), int(left.segment[number])
            of = int(group[segment])
            slot, high = int(slots[of]), int(chunk.high[of])
            stream = self._slots.stream(slot)
            if not good:
                sequence = int(chunk.sequence[segment]) + at - int(chunk.starts[segment])
                stream.next_sequence = sequence & MASK
                self._slots.note(slot, stream)
                done[segment:high] = False
                continue
            self._leave_open(chunk, stream, left, number, high)
            self._slots.note(slot, stream)
            self._open.add(stream)

    def _leave_open(
        self, chunk: Chunk, stream: Stream, left: plain.Places, number: int, high: int
    ) -> None:
        segment, offset = int(left.segment[number]), int(left.offset[number]) + PREFIX_SIZE
        end = int(chunk.starts[high])
        body_start = int(left.at[number]) + PREFIX_SIZE + int(left.header[number])
        header = bytes(chunk.records.buffer[offset : offset + int(left.header[number])])
        body = chunk.piece(body_start, end, segment) if self._bodies else None
        first = chunk.place(int(chunk.record[segment]))
        stream.open(header, int(left.kind[number]), int(left.length[number]), first, body)
        stream.continues(self._last(chunk, segment, end), None)
        stream.need = int(left.after[number]) - end

    # ---- stream by stream

    def _feed_singly(self, chunk: Chunk, of: Array, found: Found) -> None:
        singly = Singly(chunk, self.limits, bodies=self._bodies, careful=self.careful)
        take = found.frames.append
        for slot, low, high in zip(
            of.tolist(), chunk.low.tolist(), chunk.high.tolist(), strict=True
        ):
            stream = self._slots.stream(slot)
            stream = singly.feed(stream, low, high, take, self._renewed)
            self._note(slot, stream)
        found.cuts = singly.cuts

    def _renewed(self, stream: Stream) -> Stream:
        self._waiting.discard(stream)
        self._open.discard(stream)
        return self._slots.renew(stream)

    def _note(self, slot: int, stream: Stream) -> None:
        self._slots.note(slot, stream)
        (self._waiting.add if stream.waits else self._waiting.discard)(stream)
        (self._open.discard if stream.header is None else self._open.add)(stream)

    def _settle(self, records: Records, segments: Segments, found: Found) -> None:
        """After a chunk: let holes be declared, and old streams be forgotten."""
        if not len(records.time_ns):
            return
        now = int(records.time_ns[-1])
        take = found.frames.append
        if self._waiting:
            before = list(self._waiting)
            self._acknowledge(segments, take)
            for stream in before:
                stream.expire(now, self.limits, take)
                self._note(self._slots.slot(stream), stream)
        if len(self._slots) > self._max:
            self._forget(self._slots.oldest(len(self._slots) // 2), take)
        self._slots.let_sleep()
        self._kept += int(segments.captured.sum()) + PIECE * len(segments.captured)
        if self._kept > self._most_kept:
            self._count_kept(take)

    def _count_kept(self, take: Callable[[Frame], None]) -> None:
        """See what is kept, of which ``_kept`` may be too much, and forget streams if it is."""
        kept = {self._slots.slot(one): one.kept for one in self._slots.awake}
        self._kept = sum(kept.values())
        if self._kept <= self._most_kept:
            return
        surplus = self._kept - self._most_kept // 2
        slots = np.array(list(kept), np.int64)
        sizes = np.array(list(kept.values()), np.int64)
        order = np.lexsort((-sizes, self._slots.seen[slots]))
        count = int(np.searchsorted(np.cumsum(sizes[order]), surplus)) + 1
        some = order[:count][sizes[order[:count]] > 0]
        self._kept -= int(sizes[some].sum())
        self._forget(slots[some], take)

    def _acknowledge(self, segments: Segments, take: Callable[[Frame], None]) -> None:
        """Holes that the receiver does not have, because it acknowledged what was in them."""
        waiting = {(one.target, one.source): one for one in self._waiting}
        sources = np.array([key[0] for key in waiting], np.int64)
        flagged = (segments.flags & (ACK | RST)) == ACK
        of = np.flatnonzero(np.isin(segments.source, sources) & flagged)
        latest: dict[tuple[int, int], int] = {}
        for source, target, acknowledged in zip(
            segments.source[of].tolist(),
            segments.target[of].tolist(),
            segments.acknowledged[of].tolist(),
            strict=True,
        ):
            latest[source, target] = acknowledged
        for key, acknowledged in latest.items():
            if (stream := waiting.get(key)) is not None:
                stream.acknowledge(acknowledged, take)

    def _forget(self, slots: Array, take: Callable[[Frame], None]) -> None:
        """Forget streams."""
        self.forgotten += int(np.count_nonzero(~self._slots.ended[slots]))
        for slot in slots.tolist():
            stream = self._slots.forget(slot)
            if stream is not None:
                stream.finish(take)
                self._waiting.discard(stream)
                self._open.discard(stream)

    def finish(self) -> list[Frame]:
        """The capture ends: give what is there."""
        frames: list[Frame] = []
        for stream in self._slots.awake:
            stream.finish(frames.append)
        self._waiting.clear()
        self._open.clear()
        return frames

    def hosts(self) -> set[int]:
        """The addresses of all streams that are remembered, as ``packets.Addresses`` numbers them."""
        return self._slots.hosts()

    def in_doubt(self, end: int) -> list[Stream]:
        """The streams in which a frame may have begun before a record, and is not known yet.

        Args:
            end: offset of the record.
        """
        return [one for one in self._slots.awake if one.may_have_begun(end)]

    def waits_since(self, since_ns: int = 0) -> int | None:
        """Offset of the first record in which a frame may end that has not been given; None for none.

        Args:
            since_ns: bodies on which nothing has come from that time on do not count.
        """
        offsets = [
            since
            for one in self._waiting | self._open
            if (since := one.waits_since(since_ns)) is not None
        ]
        return min(offsets, default=None)

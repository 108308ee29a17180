"""Cutting frames out of all undisturbed streams of a chunk at once.

Rules of this file: numpy, but for chains that few streams have; the same frames as ``Stream`` finds, for less.  Every segment may
begin a frame; where such a frame ends, another may begin; those that hang together with a place where a frame is known to begin
are frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.functions import LENGTH_SIZE, PREFIX_SIZE, PREFIX_STRUCT
from rocketwire_tools.pcap.files.records import rows_at
from rocketwire_tools.pcap.streams.chunk import distinct
from rocketwire_tools.pcap.streams.resync import LARGEST, ROCKETMQ, has_prefix, have_prefixes

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.chunk import Chunk

    Array = np.ndarray[Any, Any]

_ROUNDS: Final = 12
"""Frames that lie one behind the other in one segment are looked for in so many rounds, and from then on one by one."""
_FEW: Final = 64
"""So few new places are not worth a round."""
_unpack: Final[Any] = PREFIX_STRUCT.unpack_from


@dataclass(slots=True)
class Places:
    """Virtual positions at which frames may begin.

    Attributes:
        at: the positions.
        segment: number of the segment that holds each.
        offset: of each in the buffer.
        header: bytes of the header.
        kind: JSON or ROCKETMQ.
        length: value of the length word.
        after: virtual position behind the frame.
        good: whether the prefix makes sense, and it and the header lie in the group.
        split: whether the header, if it is good, lies in several segments, or begins behind that of the prefix.
    """

    at: Array
    segment: Array
    offset: Array
    header: Array
    kind: Array
    length: Array
    after: Array
    good: Array
    split: Array

    def take(self, wanted: Array) -> Places:
        """Some of them."""
        return Places(*(getattr(self, name)[wanted] for name in _PARTS))


_PARTS: Final = tuple(Places.__dataclass_fields__)


@dataclass(slots=True)
class Cuttings:
    """What came out.

    Attributes:
        whole: frames that end in their group.
        first: number of the record of the first byte of each.
        last: largest number of a record of each.
        left: where cutting ended before the end of a group: frames that go on behind it, and places
            (not ``good``) that have to be looked at one by one.
    """

    whole: Places
    first: Array
    last: Array
    left: Places

    def take(self, wanted: Array) -> Cuttings:
        """Some of the whole frames."""
        return Cuttings(self.whole.take(wanted), self.first[wanted], self.last[wanted], self.left)


def cut(chunk: Chunk, groups: Array, boundary: Array) -> Cuttings:
    """Cut groups.

    Args:
        chunk: has the segments; those of a group follow each other.
        groups: the groups, as truths.
        boundary: virtual position at which the next frame of each group begins, in front of its end.
    """
    end = chunk.members(chunk.starts[chunk.high])
    roots = boundary[groups]
    places = _places(chunk, chunk.members(groups), roots, end)
    places = places.take(_reached(places, roots, end))
    whole = places.good & (places.after <= end[places.segment])
    frames = places.take(whole)
    return Cuttings(
        frames,
        chunk.record[frames.segment],
        last_records(chunk, frames.segment, frames.after),
        places.take(~whole),
    )


def last_records(chunk: Chunk, segment: Array, after: Array) -> Array:
    """The largest number of a record between a segment and a virtual position, for several of them."""
    last = segment.copy()
    beyond = np.flatnonzero(after > chunk.starts[segment + 1])
    last[beyond] = np.searchsorted(chunk.starts, after[beyond] - 1, "right") - 1
    if not chunk.moved or not len(segment):
        found: Array = chunk.record[last]
        return found
    record = np.append(chunk.record, 0)
    pairs = np.column_stack((segment, last + 1)).ravel()
    largest: Array = np.maximum.reduceat(record, pairs)[::2]
    return largest


def look(chunk: Chunk, at: Array, segment: Array, end: Array) -> Places:
    """What would be a prefix at virtual positions that lie in segments.

    Args:
        chunk: has the segments.
        at: the positions.
        segment: that holds each.
        end: virtual position behind what follows on each segment.
    """
    offset = chunk.data[segment] + at - chunk.starts[segment]
    room, all_room = chunk.starts[segment + 1] - at, end[segment] - at
    words = rows_at(chunk.records.buffer, offset, PREFIX_SIZE)
    across = np.flatnonzero((room < PREFIX_SIZE) & (all_room >= PREFIX_SIZE))
    if len(across):
        words[across] = _prefixes_across(chunk, at[across])
    length, kind, header, good = have_prefixes(words)
    good &= PREFIX_SIZE + header <= all_room
    split = PREFIX_SIZE + header > room
    return Places(at, segment, offset, header, kind, length, at + LENGTH_SIZE + length, good, split)


def _prefixes_across(chunk: Chunk, at: Array) -> Array:
    """The bytes of prefixes that lie in several segments."""
    each = at[:, None] + np.arange(PREFIX_SIZE)
    segment = np.searchsorted(chunk.starts, each, "right") - 1
    data = np.frombuffer(chunk.records.buffer, np.uint8)
    rows: Array = data[chunk.data[segment] + each - chunk.starts[segment]]
    return rows


def _places(chunk: Chunk, among: Array, roots: Array, end: Array) -> Places:
    """All positions that may turn out to begin a frame, in order."""
    begins = _may_begin(chunk, among)
    segment = np.flatnonzero(begins)
    known = chunk.starts[segment]
    parts = [look(chunk, known, segment, end)]
    ends = np.concatenate([roots, _ends(chunk, parts[0], end, begins)])
    for number in range(_ROUNDS + 1):
        fresh = _others(distinct(ends), known)
        if not len(fresh):
            break
        is_last = number == _ROUNDS or (number > 1 and len(fresh) < _FEW)
        if is_last:
            fresh = _others(_chains(chunk, fresh, known, end), known)
        part = look(chunk, fresh, np.searchsorted(chunk.starts, fresh, "right") - 1, end)
        parts.append(part)
        if is_last:
            break
        known = np.sort(np.concatenate([known, fresh]))
        ends = _ends(chunk, part, end, begins)
    if len(parts) == 1:
        return parts[0]
    columns: list[Array] = []
    for name in _PARTS:
        arrays: list[Array] = [getattr(part, name) for part in parts]
        columns.append(np.concatenate(arrays))
    together = Places(*columns)
    return together.take(np.argsort(together.at, kind="stable"))


def _chains(chunk: Chunk, fresh: Array, known: Array, end: Array) -> Array:
    """Some positions, those at which the frames end that begin there, and so on, up to one that is known; all in order."""
    buffer = chunk.records.buffer
    seen: set[int] = set()
    firsts: list[int] = fresh.tolist()
    for first in firsts:
        at = stop = first
        limit, segment, shift = -1, 0, 0
        while at not in seen:
            if at >= stop:  # another segment
                segment = int(np.searchsorted(chunk.starts, at, "right")) - 1
                if limit < 0:
                    limit = int(end[segment])
                elif _is_among(at, known):
                    break
                stop = int(chunk.starts[segment + 1])
                shift = int(chunk.data[segment] - chunk.starts[segment])
            seen.add(at)
            if at + PREFIX_SIZE <= stop:
                length, kind, high, low = _unpack(buffer, at + shift)
            elif at + PREFIX_SIZE <= limit:
                prefix = chunk.piece(at, at + PREFIX_SIZE, segment)
                length, kind, high, low = _unpack(prefix)
            else:
                break
            if not has_prefix(length, kind, high << 16 | low):
                break
            at += LENGTH_SIZE + length
            if at >= limit:
                break
    return np.sort(np.fromiter(seen, np.int64, len(seen)))


def _is_among(value: int, values: Array) -> bool:
    """Whether a value is one of some in order."""
    number = int(np.searchsorted(values, value))
    return number < len(values) and int(values[number]) == value


def _may_begin(chunk: Chunk, among: Array) -> Array:
    """Which of some segments (given as truths) begin with what a frame may begin with, as far as two of its bytes tell: most of those
    of large frames do not, and no more of them needs to be looked at."""
    data = np.frombuffer(chunk.records.buffer, np.uint8)
    may = data[chunk.data] <= LARGEST >> 24
    may &= (data[chunk.data + LENGTH_SIZE] <= ROCKETMQ) | (chunk.length <= LENGTH_SIZE)
    may &= among
    return may


def _others(some: Array, known: Array) -> Array:
    """Those of some positions that are not known; all of them are in order."""
    if not len(known):
        return some
    at = np.minimum(np.searchsorted(known, some), len(known) - 1)
    others: Array = some[known[at] != some]
    return others


def _ends(chunk: Chunk, places: Places, end: Array, begins: Array) -> Array:
    """Where the frames end that begin there, unless that is where their group does, or a next segment that may begin one."""
    after, segment = places.after, places.segment
    following = np.minimum(segment + 1, len(begins) - 1)
    known = begins[following] & (after == chunk.starts[following])
    ends: Array = after[places.good & (after < end[segment]) & ~known]
    return ends


def _reached(places: Places, roots: Array, end: Array) -> Array:
    """Numbers of the places that hang together with the roots, in order."""
    count = len(places.at)
    following = np.full(count + 1, count, np.int64)
    goes_on = np.flatnonzero(places.good & (places.after < end[places.segment]))
    after = places.after[goes_on]
    next_at = np.append(places.at, -1)
    near = next_at[goes_on + 1] == after
    following[goes_on[near]] = goes_on[near] + 1
    following[goes_on[~near]] = np.searchsorted(places.at, after[~near])
    reached = np.zeros(count + 1, np.bool_)
    reached[np.searchsorted(places.at, roots)] = True
    some = np.flatnonzero(reached)
    while True:
        reached[following[some]] = True
        more = np.flatnonzero(reached)
        if len(more) == len(some):
            break
        some = more
        following = following[following]
    result: Array = some[some < count]
    return result

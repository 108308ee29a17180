"""Cutting frames out of all undisturbed streams of a chunk at once.

Rules of this file: only numpy; the same frames as ``Cutter`` and ``Stream`` find, for less.  Every segment may begin a frame;
where such a frame ends, another may begin; those that hang together with a place where a frame is known to begin are frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.grammar import LENGTH_SIZE, PREFIX_SIZE
from rocketwire_tools.pcap.capture import rows_at
from rocketwire_tools.pcap.sync import LARGEST, ROCKETMQ, have_prefixes

if TYPE_CHECKING:
    from rocketwire_tools.pcap.chunk import Chunk

    Array = np.ndarray[Any, Any]

_ROUNDS: Final = 12
_FEW: Final = 64
"""After so many rounds that few new places are not worth another; what is left is cut one by one."""


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
        good: whether prefix and header lie in the segment, and make sense.
    """

    at: Array
    segment: Array
    offset: Array
    header: Array
    kind: Array
    length: Array
    after: Array
    good: Array

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


def cut(chunk: Chunk, groups: Array, boundary: Array) -> Cuttings:
    """Cut groups.

    Args:
        chunk: has the segments.
        groups: the groups, as truths; they are undisturbed.
        boundary: virtual position at which the next frame of each group begins, in front of its end.
    """
    end = np.repeat(chunk.starts[chunk.high], chunk.high - chunk.low)
    places = _places(chunk, groups, boundary[groups], end)
    reached = _reached(places, boundary[groups], end)
    places = places.take(reached)
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


def look(chunk: Chunk, at: Array, segment: Array) -> Places:
    """What would be a prefix at virtual positions that lie in segments."""
    offset = chunk.data[segment] + at - chunk.starts[segment]
    room = chunk.starts[segment + 1] - at
    words = rows_at(chunk.records.buffer, offset, PREFIX_SIZE)
    length, kind, header, good = have_prefixes(words)
    good &= PREFIX_SIZE + header <= room
    return Places(at, segment, offset, header, kind, length, at + LENGTH_SIZE + length, good)


def _places(chunk: Chunk, groups: Array, roots: Array, end: Array) -> Places:
    """All positions that may turn out to begin a frame, in order."""
    begins = _may_begin(chunk, chunk.members(groups))
    segment = np.flatnonzero(begins)
    fresh = known = chunk.starts[segment]
    parts = [look(chunk, fresh, segment)]
    ends = np.concatenate([roots, _ends(chunk, parts[0], end, begins)])
    for number in range(_ROUNDS + 1):
        fresh = _others(_distinct(ends), known)
        if not len(fresh):
            break
        part = look(chunk, fresh, np.searchsorted(chunk.starts, fresh, "right") - 1)
        parts.append(part)
        if number == _ROUNDS or (number > 1 and len(fresh) < _FEW):
            part.good[:] = False
            break
        known = np.sort(np.concatenate([known, fresh]))
        ends = _ends(chunk, part, end, begins)
    if len(parts) == 1:
        return parts[0]
    together = Places(*(np.concatenate([getattr(one, name) for one in parts]) for name in _PARTS))
    return together.take(np.argsort(together.at, kind="stable"))


def _may_begin(chunk: Chunk, among: Array) -> Array:
    """Which of some segments (given as truths) begin with what a frame may begin with, as far as two of its bytes tell: most of those
    of large frames do not, and no more of them needs to be looked at."""
    data = np.frombuffer(chunk.records.buffer, np.uint8)
    may = data[chunk.data] <= LARGEST >> 24
    may &= data[chunk.data + LENGTH_SIZE] <= ROCKETMQ
    may &= among
    return may


def _others(some: Array, known: Array) -> Array:
    """Those of some positions that are not known; all of them are in order."""
    if not len(known):
        return some
    at = np.minimum(np.searchsorted(known, some), len(known) - 1)
    others: Array = some[known[at] != some]
    return others


def _distinct(values: Array) -> Array:
    """As ``np.unique``, which imports all of ``numpy.ma``."""
    values = np.sort(values)
    new = np.empty(len(values), np.bool_)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    result: Array = values[new]
    return result


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

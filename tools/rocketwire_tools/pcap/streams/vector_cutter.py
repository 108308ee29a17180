"""Cuts frames out of all ordered streams of a chunk at once.

The result is the same as that of ``Stream``. Every segment may begin a frame, and every frame may
be followed by another. Frames are the candidates that a chain connects with a known frame boundary.
Python follows
the chains of frames that begin within segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.fused import LENGTH_SIZE, PREFIX_SIZE, PREFIX_STRUCT
from rocketwire_tools.pcap.files.records import rows_at
from rocketwire_tools.pcap.streams.resync import LARGEST, ROCKETMQ, has_prefix, have_prefixes

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.streams.chunk import Chunk

_unpack: Final[Any] = PREFIX_STRUCT.unpack_from


@dataclass(slots=True)
class Candidates:
    """Virtual positions at which frames may begin."""

    position: Array  # the positions
    segment: Array  # index of the segment that holds each
    offset: Array  # of each in the buffer
    header: Array  # bytes of the header
    header_type: Array  # JSON or ROCKETMQ
    length: Array  # value of the length word
    end: Array  # virtual position after the frame
    good: Array  # whether the prefix is valid, and prefix and header lie in the group
    # whether a good header lies in several segments, or in another one than the prefix
    split: Array

    def take(self, numbers: Array) -> Candidates:
        return Candidates(*(getattr(self, name)[numbers] for name in _PARTS))


_PARTS: Final = tuple(Candidates.__dataclass_fields__)


@dataclass(slots=True)
class CutFrames:
    frames: Candidates  # frames that end in their group
    first: Array  # number of the record of each frame's first byte
    last: Array  # largest number of a record of each frame
    # frames that continue after their group, and positions (not ``good``) that must be processed
    # one by one
    unfinished: Candidates

    def take(self, numbers: Array) -> CutFrames:
        return CutFrames(
            self.frames.take(numbers), self.first[numbers], self.last[numbers], self.unfinished
        )


def cut(chunk: Chunk, groups: Array, boundary: Array) -> CutFrames:
    """Cut the groups of a mask, each from the virtual position of its next frame on."""
    end = chunk.members(chunk.starts[chunk.high])
    roots = boundary[groups]
    candidates = _find_candidates(chunk, chunk.members(groups), roots, end)
    candidates = candidates.take(_follow_from_roots(candidates, roots, end))
    is_complete = candidates.good & (candidates.end <= end[candidates.segment])
    frames = candidates.take(is_complete)
    return CutFrames(
        frames,
        chunk.record[frames.segment],
        last_records(chunk, frames.segment, frames.end),
        candidates.take(~is_complete),
    )


def last_records(chunk: Chunk, segment: Array, ends: Array) -> Array:
    """The largest number of a record between a segment and a virtual position."""
    last = segment.copy()
    beyond = np.flatnonzero(ends > chunk.starts[segment + 1])
    last[beyond] = np.searchsorted(chunk.starts, ends[beyond] - 1, "right") - 1
    if not chunk.moved or not len(segment):
        return chunk.record[last]
    record = np.append(chunk.record, 0)
    pairs = np.column_stack((segment, last + 1)).ravel()
    return np.maximum.reduceat(record, pairs)[::2]


def read_prefixes(chunk: Chunk, positions: Array, segment: Array, end: Array) -> Candidates:
    offset = chunk.data[segment] + positions - chunk.starts[segment]
    room, all_room = chunk.starts[segment + 1] - positions, end[segment] - positions
    words = rows_at(chunk.records.buffer, offset, PREFIX_SIZE)
    across = np.flatnonzero((room < PREFIX_SIZE) & (all_room >= PREFIX_SIZE))
    if len(across):
        words[across] = _prefixes_across(chunk, positions[across])
    length, header_type, header, good = have_prefixes(words)
    good &= PREFIX_SIZE + header <= all_room
    split = PREFIX_SIZE + header > room
    return Candidates(
        positions,
        segment,
        offset,
        header,
        header_type,
        length,
        positions + LENGTH_SIZE + length,
        good,
        split,
    )


def _prefixes_across(chunk: Chunk, positions: Array) -> Array:
    # The bytes of prefixes that lie in several segments
    byte_positions = positions[:, None] + np.arange(PREFIX_SIZE)
    segment = np.searchsorted(chunk.starts, byte_positions, "right") - 1
    data = np.frombuffer(chunk.records.buffer, np.uint8)
    return data[chunk.data[segment] + byte_positions - chunk.starts[segment]]


def _find_candidates(chunk: Chunk, among: Array, roots: Array, end: Array) -> Candidates:
    begins = _may_begin(chunk, among)
    segment = np.flatnonzero(begins)
    checked = chunk.starts[segment]
    parts = [read_prefixes(chunk, checked, segment, end)]
    ends = np.concatenate([roots, _frame_ends(chunk, parts[0], end, begins)])
    unchecked = _not_in(np.unique(ends), checked)
    if not len(unchecked):
        return parts[0]
    unchecked = _not_in(_follow_chains(chunk, unchecked, checked, end), checked)
    segment = np.searchsorted(chunk.starts, unchecked, "right") - 1
    parts.append(read_prefixes(chunk, unchecked, segment, end))
    columns: list[Array] = []
    for name in _PARTS:
        arrays: list[Array] = [getattr(part, name) for part in parts]
        columns.append(np.concatenate(arrays))
    candidates = Candidates(*columns)
    return candidates.take(np.argsort(candidates.position, kind="stable"))


def _follow_chains(chunk: Chunk, fresh: Array, checked: Array, end: Array) -> Array:
    # Follow chains of frames from positions up to checked ones; returns the positions of all frames
    # in order
    buffer = chunk.records.buffer
    visited: set[int] = set()
    firsts: list[int] = fresh.tolist()
    for first in firsts:
        position = stop = first
        limit, segment, shift = -1, 0, 0
        while position not in visited:
            if position >= stop:  # another segment
                segment = int(np.searchsorted(chunk.starts, position, "right")) - 1
                if limit < 0:
                    limit = int(end[segment])
                elif _is_among(position, checked):
                    break
                stop = int(chunk.starts[segment + 1])
                shift = int(chunk.data[segment] - chunk.starts[segment])
            visited.add(position)
            if position + PREFIX_SIZE <= stop:
                length, header_type, high, low = _unpack(buffer, position + shift)
            elif position + PREFIX_SIZE <= limit:
                prefix = chunk.piece(position, position + PREFIX_SIZE, segment)
                length, header_type, high, low = _unpack(prefix)
            else:
                break
            if not has_prefix(length, header_type, high << 16 | low):
                break
            position += LENGTH_SIZE + length
            if position >= limit:
                break
    return np.sort(np.fromiter(visited, np.int64, len(visited)))


def _is_among(value: int, values: Array) -> bool:
    number = int(np.searchsorted(values, value))
    return number < len(values) and int(values[number]) == value


def _may_begin(chunk: Chunk, among: Array) -> Array:
    # Which segments of a mask may begin with a frame, by two bytes. This excludes most segments of
    # large frames.
    data = np.frombuffer(chunk.records.buffer, np.uint8)
    may = data[chunk.data] <= LARGEST >> 24
    may &= (data[chunk.data + LENGTH_SIZE] <= ROCKETMQ) | (chunk.length <= LENGTH_SIZE)
    may &= among
    return may


def _not_in(positions: Array, checked: Array) -> Array:
    if not len(checked):
        return positions
    indexes = np.minimum(np.searchsorted(checked, positions), len(checked) - 1)
    return positions[checked[indexes] != positions]


def _frame_ends(chunk: Chunk, candidates: Candidates, end: Array, begins: Array) -> Array:
    # The ends of frames, except ends of groups and starts of segments that are candidates anyway
    frame_ends, segment = candidates.end, candidates.segment
    following = np.minimum(segment + 1, len(begins) - 1)
    begins_segment = begins[following] & (frame_ends == chunk.starts[following])
    return frame_ends[candidates.good & (frame_ends < end[segment]) & ~begins_segment]


def _follow_from_roots(candidates: Candidates, roots: Array, end: Array) -> Array:
    count = len(candidates.position)
    following = np.full(count + 1, count, np.int64)
    resume = np.flatnonzero(candidates.good & (candidates.end < end[candidates.segment]))
    ends = candidates.end[resume]
    next_at = np.append(candidates.position, -1)
    near = next_at[resume + 1] == ends
    following[resume[near]] = resume[near] + 1
    following[resume[~near]] = np.searchsorted(candidates.position, ends[~near])
    reached = np.zeros(count + 1, np.bool_)
    reached[np.searchsorted(candidates.position, roots)] = True
    numbers = np.flatnonzero(reached)
    while True:
        reached[following[numbers]] = True
        new_numbers = np.flatnonzero(reached)
        if len(new_numbers) == len(numbers):
            break
        numbers = new_numbers
        following = following[following]
    return numbers[numbers < count]

"""Streams whose first segment begins with a frame, many at once: also those whose beginning was not captured are known from there on.

Rules of this file: what ``Singly`` and ``Scan`` would find out stream by stream; where that is not certain it is left to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.wire.layouts.functions import LENGTH_SIZE, PREFIX_SIZE
from rocketwire_tools.pcap.files.records import rows_at
from rocketwire_tools.pcap.streams import vector_cutter
from rocketwire_tools.pcap.streams.resync import JSON, MOST_SCANNED_HEADER, have_prefixes, is_header
from rocketwire_tools.pcap.streams.sequential import REORDERED_NS

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.chunk import Chunk
    from rocketwire_tools.pcap.streams.stream_table import Slots

    Array = np.ndarray[Any, Any]

_BRACE: Final = 0x7B


def join(chunk: Chunk, states: Slots) -> None:
    """Note the streams that go on with a frame.

    Args:
        chunk: the chunk.
        states: all streams.
    """
    unknown = states.unknown(chunk.slots)
    if not unknown.any():
        return
    times = chunk.records.time_ns
    patient = times[-1] - times[chunk.record[chunk.low]] >= REORDERED_NS
    groups = np.flatnonzero(unknown & patient & chunk.undisturbed())
    if not len(groups):
        return
    groups = groups[_begin(chunk, chunk.low[groups])]
    states.join(chunk.slots[groups], chunk.sequence[chunk.low[groups]])


def _begin(chunk: Chunk, segments: Array) -> Array:
    """Which segments begin with a frame, as ``sync.begins_frame`` says."""
    places = look(chunk, segments)
    good: Array = places.good & (places.kind == JSON)
    good &= places.header <= MOST_SCANNED_HEADER
    good &= rows_at(chunk.records.buffer, places.offset + PREFIX_SIZE, 1)[:, 0] == _BRACE
    good &= _makes_sense(chunk, places, good)
    return have_headers(chunk, places, good)


def look(chunk: Chunk, segments: Array) -> vector_cutter.Places:
    """What may be frames at the beginning of segments; their headers lie in the same segments."""
    return vector_cutter.look(chunk, chunk.starts[segments], segments, chunk.starts[1:])


def have_headers(chunk: Chunk, places: vector_cutter.Places, good: Array) -> Array:
    """Which of those that are good have a header that can be read."""
    buffer, readable = chunk.records.buffer, good.copy()
    for number in np.flatnonzero(good).tolist():
        start = int(places.offset[number]) + PREFIX_SIZE
        header = bytes(buffer[start : start + int(places.header[number])])
        readable[number] = is_header(int(places.kind[number]), header)
    return readable


def _makes_sense(chunk: Chunk, places: vector_cutter.Places, good: Array) -> Array:
    """Whether what follows the frame in its segment may be a frame too."""
    sound = np.ones(len(good), np.bool_)
    inside = places.after + PREFIX_SIZE <= chunk.starts[places.segment + 1]
    of = np.flatnonzero(good & inside)
    if len(of):
        after = places.offset[of] + LENGTH_SIZE + places.length[of]
        sound[of] = have_prefixes(rows_at(chunk.records.buffer, after, PREFIX_SIZE))[3]
    return sound

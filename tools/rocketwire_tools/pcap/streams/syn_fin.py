"""Segments without data that begin and end streams: what they say is noted, and they are left out of the chunk, so that the
streams that begin or end in it are as undisturbed as those that go on.

Rules of this file: what ``Stream`` would make of them; where that is not certain they are left in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rocketwire.wire.layouts.functions import PREFIX_SIZE
from rocketwire_tools.pcap.streams import vector_cutter
from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.streams.resync import is_header
from rocketwire_tools.pcap.streams.stream_table import CAREFUL, STRANGE

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.chunk import Chunk
    from rocketwire_tools.pcap.streams.stream_table import Slots

    Array = np.ndarray[Any, Any]


def unmarked(chunk: Chunk, states: Slots) -> Chunk:
    """Note what segments without data say.

    Args:
        chunk: the chunk.
        states: all streams.

    Returns:
        The chunk without those that have been noted.
    """
    bare = chunk.length == 0
    if not bare.any():
        return chunk
    keep = np.ones(len(bare), np.bool_)
    stop = _ended(chunk, states, bare, keep)
    _announced(chunk, states, stop, keep)
    _begun(chunk, states, stop, keep)
    return chunk.part(keep)


def _ended(chunk: Chunk, states: Slots, bare: Array, keep: Array) -> Array:
    """Note the streams whose last segments say that nothing follows; returns the number behind the last other one of each."""
    others = ~(bare & (chunk.flags & SYN == 0))
    number = np.where(others, np.arange(1, len(bare) + 1), 0)
    stop = np.maximum(np.maximum.reduceat(number, chunk.low), chunk.low)
    strange = states.way[chunk.slots] == STRANGE
    stop[strange] = chunk.high[strange]
    states.ended[chunk.slots[stop < chunk.high]] = True
    keep &= np.arange(len(bare)) < chunk.members(stop)
    return cast("Array", stop)


def _announced(chunk: Chunk, states: Slots, stop: Array, keep: Array) -> None:
    """Note the streams that begin, and of which nothing else is there yet."""
    low = chunk.low
    begin = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    groups = np.flatnonzero(begin & (stop == low + 1))
    new = states.announce(chunk.slots[groups], (chunk.sequence[low[groups]] + 1) & MASK)
    keep[low[groups[new]]] = False


def _begun(chunk: Chunk, states: Slots, stop: Array, keep: Array) -> None:
    """Note the streams that begin with a frame."""
    first = chunk.low + (chunk.flags[chunk.low] & SYN != 0)
    groups = np.flatnonzero((states.way[chunk.slots] == CAREFUL) & (first < stop))
    first, low = first[groups], chunk.low[groups]
    syn = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    follows = (chunk.sequence[low] + 1) & MASK == chunk.sequence[first]
    likely = ~chunk.unusual[first] & ((first == low) | (syn & follows))
    groups, first, low = groups[likely], first[likely], low[likely]
    if not len(groups):
        return
    places = vector_cutter.look(chunk, chunk.starts[first], first, chunk.starts[1:])
    good = _have_headers(chunk, places)
    groups, first, low = groups[good], first[good], low[good]
    done = states.start(chunk.slots[groups], chunk.sequence[first], first > low)
    keep[low[done & (first > low)]] = False
    for slot, one, number in zip(
        chunk.slots[groups[~done]].tolist(), low[~done].tolist(), first[~done].tolist(), strict=True
    ):
        stream = states.stream(slot)
        if stream.begins(int(chunk.sequence[number]), has_syn=number > one):
            states.note(slot, stream)
            keep[one:number] = False


def _have_headers(chunk: Chunk, places: vector_cutter.Places) -> Array:
    """Which frames have a header that the codec can read."""
    buffer, readable = chunk.records.buffer, places.good.copy()
    for number in np.flatnonzero(places.good).tolist():
        start = int(places.offset[number]) + PREFIX_SIZE
        header = bytes(buffer[start : start + int(places.header[number])])
        readable[number] = is_header(int(places.kind[number]), header)
    return readable

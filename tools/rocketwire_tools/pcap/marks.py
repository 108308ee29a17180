"""Segments without data that begin and end streams: what they say is noted, and they are left out of the chunk, so that the
streams that begin or end in it are as undisturbed as those that go on.

Rules of this file: what ``Stream`` would make of them; where that is not certain they are left in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocketwire_tools.pcap import midway, plain
from rocketwire_tools.pcap.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.slots import CAREFUL, STRANGE

if TYPE_CHECKING:
    from rocketwire_tools.pcap.chunk import Chunk
    from rocketwire_tools.pcap.slots import Slots

    Array = np.ndarray[Any, Any]


def unmarked(chunk: Chunk, slots: Array, states: Slots) -> tuple[Chunk, Array]:
    """Note what segments without data say.

    Args:
        chunk: the chunk.
        slots: of the stream of each of its groups.
        states: all streams.

    Returns:
        The chunk without those that have been noted, and the slots of the groups that are left.
    """
    bare = chunk.length == 0
    if not bare.any():
        return chunk, slots
    keep = np.ones(len(bare), np.bool_)
    stop = _ended(chunk, slots, states, bare, keep)
    _announced(chunk, slots, states, stop, keep)
    _begun(chunk, slots, states, stop, keep)
    if keep.all():
        return chunk, slots
    left = slots[np.logical_or.reduceat(keep, chunk.low)]
    return chunk.part(keep), left


def _ended(chunk: Chunk, slots: Array, states: Slots, bare: Array, keep: Array) -> Array:
    """Note the streams whose last segments say that nothing follows; returns the number behind the last other one of each."""
    others = ~(bare & (chunk.flags & SYN == 0))
    number = np.where(others, np.arange(1, len(bare) + 1), 0)
    stop = np.maximum(np.maximum.reduceat(number, chunk.low), chunk.low)
    stop[states.way[slots] == STRANGE] = chunk.high[states.way[slots] == STRANGE]
    groups = np.flatnonzero(stop < chunk.high)
    states.ended[slots[groups]] = True
    keep &= np.arange(len(bare)) < np.repeat(stop, chunk.high - chunk.low)
    return stop


def _announced(chunk: Chunk, slots: Array, states: Slots, stop: Array, keep: Array) -> None:
    """Note the streams that begin, and of which nothing else is there yet."""
    low = chunk.low
    begin = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    groups = np.flatnonzero(begin & (stop == low + 1))
    new = states.announce(slots[groups], (chunk.sequence[low[groups]] + 1) & MASK)
    keep[low[groups[new]]] = False


def _begun(chunk: Chunk, slots: Array, states: Slots, stop: Array, keep: Array) -> None:
    """Note the streams that begin with a frame."""
    first = chunk.low + (chunk.flags[chunk.low] & SYN != 0)
    groups = np.flatnonzero((states.way[slots] == CAREFUL) & (first < stop))
    first, low = first[groups], chunk.low[groups]
    syn = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    follows = (chunk.sequence[low] + 1) & MASK == chunk.sequence[first]
    likely = ~chunk.unusual[first] & ((first == low) | (syn & follows))
    groups, first, low = groups[likely], first[likely], low[likely]
    if not len(groups):
        return
    places = plain.look(chunk, chunk.starts[first], first)
    good = midway.have_headers(chunk, places, places.good)
    groups, first, low = groups[good], first[good], low[good]
    done = states.start(slots[groups], chunk.sequence[first], first > low)
    keep[low[done & (first > low)]] = False
    for slot, one, number in zip(
        slots[groups[~done]].tolist(), low[~done].tolist(), first[~done].tolist(), strict=True
    ):
        stream = states.stream(slot)
        if stream.begins(int(chunk.sequence[number]), has_syn=number > one):
            states.note(slot, stream)
            keep[one:number] = False

"""Processes segments without data that begin and end streams, and removes them from the chunk, so
that their streams can be vectorised.

The result is the same as that of ``Stream``. Uncertain segments stay in the chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rocketwire.wire.layouts.fused import PREFIX_SIZE
from rocketwire_tools.pcap.streams import vector_cutter
from rocketwire_tools.pcap.streams.chunk import FIN, MASK, RST, SYN
from rocketwire_tools.pcap.streams.resync import is_header
from rocketwire_tools.pcap.streams.stream_table import IGNORED, SEQUENTIAL

if TYPE_CHECKING:
    from rocketwire_tools.pcap.streams.chunk import Chunk
    from rocketwire_tools.pcap.streams.stream_table import StreamTable

    Array = np.ndarray[Any, Any]


def without_control_segments(chunk: Chunk, states: StreamTable) -> Chunk:
    """Process segments without data.

    Returns:
        The chunk without the processed segments.
    """
    is_empty = chunk.length == 0
    if not is_empty.any():
        return chunk
    keep = np.ones(len(is_empty), np.bool_)
    stop = _apply_ends(chunk, states, is_empty, keep)
    _apply_syns(chunk, states, stop, keep)
    _start_streams(chunk, states, stop, keep)
    return chunk.part(keep)


def _apply_ends(chunk: Chunk, states: StreamTable, is_empty: Array, keep: Array) -> Array:
    # Process FIN and RST at the end of streams; returns the index after the last other segment of
    # each
    is_kept = ~(is_empty & (chunk.flags & SYN == 0))
    number = np.where(is_kept, np.arange(1, len(is_empty) + 1), 0)
    stop = np.maximum(np.maximum.reduceat(number, chunk.low), chunk.low)
    is_foreign = states.mode[chunk.slots] == IGNORED
    stop[is_foreign] = chunk.high[is_foreign]
    states.ended[chunk.slots[stop < chunk.high]] = True
    keep &= np.arange(len(is_empty)) < chunk.members(stop)
    return cast("Array", stop)


def _apply_syns(chunk: Chunk, states: StreamTable, stop: Array, keep: Array) -> None:
    low = chunk.low
    begin = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    groups = np.flatnonzero(begin & (stop == low + 1))
    new = states.announce(chunk.slots[groups], (chunk.sequence[low[groups]] + 1) & MASK)
    keep[low[groups[new]]] = False


def _start_streams(chunk: Chunk, states: StreamTable, stop: Array, keep: Array) -> None:
    first = chunk.low + (chunk.flags[chunk.low] & SYN != 0)
    groups = np.flatnonzero((states.mode[chunk.slots] == SEQUENTIAL) & (first < stop))
    first, low = first[groups], chunk.low[groups]
    syn = (chunk.flags[low] & (SYN | FIN | RST) == SYN) & (chunk.length[low] == 0)
    follows = (chunk.sequence[low] + 1) & MASK == chunk.sequence[first]
    likely = ~chunk.unusual[first] & ((first == low) | (syn & follows))
    groups, first, low = groups[likely], first[likely], low[likely]
    if not len(groups):
        return
    candidates = vector_cutter.read_prefixes(chunk, chunk.starts[first], first, chunk.starts[1:])
    good = _have_headers(chunk, candidates)
    groups, first, low = groups[good], first[good], low[good]
    started = states.start(chunk.slots[groups], chunk.sequence[first], first > low)
    keep[low[started & (first > low)]] = False
    for slot, first_number, number in zip(
        chunk.slots[groups[~started]].tolist(),
        low[~started].tolist(),
        first[~started].tolist(),
        strict=True,
    ):
        stream = states.stream(slot)
        if stream.begins(int(chunk.sequence[number]), has_syn=number > first_number):
            states.note(slot, stream)
            keep[first_number:number] = False


def _have_headers(chunk: Chunk, candidates: vector_cutter.Candidates) -> Array:
    buffer, readable = chunk.records.buffer, candidates.good.copy()
    for number in np.flatnonzero(candidates.good).tolist():
        start = int(candidates.offset[number]) + PREFIX_SIZE
        header = bytes(buffer[start : start + int(candidates.header[number])])
        readable[number] = is_header(int(candidates.header_type[number]), header)
    return readable

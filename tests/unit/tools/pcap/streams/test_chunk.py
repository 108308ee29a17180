"""The segments of a chunk, sorted by stream."""

from __future__ import annotations

import random

import numpy as np

from rocketwire_tools.pcap.packets.packets import Segments
from rocketwire_tools.pcap.streams import chunk


def test_segments_are_sorted_by_stream_and_stay_in_the_order_of_their_capture() -> None:
    chance = random.Random(1)
    broker, client = 0x0A000001 << 16 | 10911, 0x0A000002 << 16
    clients = [client | chance.randrange(40_000, 40_030) for _ in range(2000)]
    ends = [(broker, one) if chance.random() < 0.5 else (one, broker) for one in clients]
    source, target = np.array(ends, np.int64).T
    wanted = np.flatnonzero(np.arange(2000) % 7)
    none = np.zeros(2000, np.int64)
    every = Segments(none, source, target, none, none, none, none, none, none)
    order: list[int] = chunk.sorted_by_stream(every, wanted).tolist()
    by_stream: dict[tuple[int, int], list[int]] = {}
    for number in order:
        by_stream.setdefault(ends[number], []).append(number)
    assert [number for each in by_stream.values() for number in each] == order
    assert all(each == sorted(each) for each in by_stream.values())
    assert sorted(order) == wanted.tolist()

"""How much of each queue a batch takes, and how that is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketwire_tools.spark.topics.offsets import Queue, QueueRange
from rocketwire_tools.spark.topics.ranges import cut, share

A, B, C = Queue("t", "a", 0), Queue("t", "a", 1), Queue("t", "b", 0)
WAITING = st.dictionaries(
    st.sampled_from([Queue("t", "a", number) for number in range(9)]), st.integers(0, 10**6)
)


@given(st.integers(1, 10**6), WAITING)
def test_shares_add_up_to_the_limit_exactly(limit: int, waiting: dict[Queue, int]) -> None:
    shares = share(limit, waiting)

    assert sum(shares.values()) == min(limit, sum(waiting.values()))
    assert all(0 <= shares[queue] <= count for queue, count in waiting.items())


def a_range(size: int, number: int = 0) -> QueueRange:
    return QueueRange(topic="t", broker="a", queue_id=number, begin=10, end=10 + size)


@given(st.lists(st.integers(1, 200), max_size=6), st.integers(0, 40), st.integers(0, 50))
def test_cut_loses_nothing(sizes: list[int], least: int, most: int) -> None:
    ranges = [a_range(size, number) for number, size in enumerate(sizes)]

    pieces = cut(ranges, least, most)

    read = [
        (piece.queue_id, offset) for piece in pieces for offset in range(piece.begin, piece.end)
    ]
    assert read == [
        (each.queue_id, offset) for each in ranges for offset in range(each.begin, each.end)
    ]
    assert len(pieces) >= min(least, sum(sizes))
    assert all(len(piece) <= most for piece in pieces if most)

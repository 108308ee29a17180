"""How much of each queue a batch takes, and how that is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketwire_tools.spark.topics.offsets import Queue, QueueRange
from rocketwire_tools.spark.topics.ranges import Limits, cut, parts, ranges_between, share

A, B, C = Queue("t", "a", 0), Queue("t", "a", 1), Queue("t", "b", 0)
WAITING = st.dictionaries(
    st.sampled_from([Queue("t", "a", number) for number in range(9)]), st.integers(0, 10**6)
)


@given(st.integers(1, 10**6), WAITING)
def test_shares_add_up_to_the_limit_exactly(limit: int, waiting: dict[Queue, int]) -> None:
    shares = share(limit, waiting)

    assert sum(shares.values()) == min(limit, sum(waiting.values()))
    assert all(0 <= shares[queue] <= count for queue, count in waiting.items())


@given(st.integers(9, 10**6), WAITING)
def test_no_queue_with_messages_is_left_out(limit: int, waiting: dict[Queue, int]) -> None:
    shares = share(limit, waiting)

    assert all(shares[queue] for queue, count in waiting.items() if count)


def test_limits_take_the_smaller_one_of_offsets_and_bytes() -> None:
    waiting = {A: 600, B: 400}

    assert Limits().apportion(waiting, {}) == waiting
    assert Limits(max_offsets=10).apportion(waiting, {}) == {A: 6, B: 4}
    assert Limits(max_bytes=5000).apportion(waiting, {"t": 100.0}) == {A: 30, B: 20}
    assert Limits(max_bytes=1).apportion(waiting, {"t": 100.0}) == {A: 1, B: 0}
    assert Limits(max_bytes=5000).apportion(waiting, {}) == waiting
    assert Limits(max_bytes=5000, max_offsets=10).apportion(waiting, {"t": 100.0}) == {A: 6, B: 4}


def test_ranges_are_those_with_messages_in_order() -> None:
    ranges = ranges_between({A: 5, B: 0, C: 2}, {C: 4, B: 0, A: 6})

    assert [(str(each), each.begin, each.end) for each in ranges] == [
        ("topic t, broker a, queue 0", 5, 6),
        ("topic t, broker b, queue 0", 2, 4),
    ]


def a_range(size: int, number: int = 0) -> QueueRange:
    return QueueRange(topic="t", broker="a", queue_id=number, begin=10, end=10 + size)


@given(st.lists(st.integers(1, 200), max_size=6), st.integers(0, 40), st.integers(0, 50))
def test_a_cut_loses_nothing(sizes: list[int], least: int, most: int) -> None:
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


def test_the_longest_range_is_cut_into_most_parts() -> None:
    pieces = cut([a_range(100, 0), a_range(10, 1), a_range(900, 2)], 12)

    assert [sum(piece.queue_id == number for piece in pieces) for number in range(3)] == [2, 1, 9]
    assert cut([a_range(3)], 1) == [a_range(3)]
    assert [len(part) for part in parts(a_range(10), 3)] == [3, 3, 4]

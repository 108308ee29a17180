"""The share of each queue in a batch, and its parts."""

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


def make_range(size: int, number: int = 0) -> QueueRange:
    return QueueRange(topic="t", broker="a", queue_id=number, begin=10, end=10 + size)


@given(st.lists(st.integers(1, 200), max_size=6), st.integers(0, 40), st.integers(0, 50))
def test_cut_loses_nothing(sizes: list[int], minimum: int, maximum: int) -> None:
    ranges = [make_range(size, number) for number, size in enumerate(sizes)]

    pieces = cut(ranges, minimum, maximum)

    read = [
        (piece.queue_id, offset) for piece in pieces for offset in range(piece.begin, piece.end)
    ]
    assert read == [
        (part.queue_id, offset) for part in ranges for offset in range(part.begin, part.end)
    ]
    assert len(pieces) >= min(minimum, sum(sizes))
    assert all(len(piece) <= maximum for piece in pieces if maximum)

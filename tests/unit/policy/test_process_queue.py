"""The held messages and the offset to commit, step by step as Java's ``ProcessQueue``."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.process_queue import FlowControl, ProcessQueue, Thresholds
from rocketwire.wire.message.stored import StoredMessage
from tests.support.policy_vectors import decisions
from tests.support.vectors import JavaVector

MIB = 1 << 20


def messages(offsets: Iterable[int], body: bytes = b"0123456789") -> list[StoredMessage]:
    return [StoredMessage(topic="T", queue_offset=offset, body=body) for offset in offsets]


def queue_with_messages(*offsets: int, now: float = 0.0) -> ProcessQueue:
    queue = ProcessQueue(now=now)
    queue.put(messages(offsets))
    return queue


def nothing_as_minus_one(offset: int | None) -> int:
    return -1 if offset is None else offset


def do(queue: ProcessQueue, what: str, argument: Any) -> object:
    if what == "put":
        return queue.put(messages(argument))
    if what == "remove":
        return nothing_as_minus_one(queue.remove(messages(argument), now=0))
    if what == "take":
        return [message.queue_offset for message in queue.take(argument, now=0)]
    if what == "commit":
        return nothing_as_minus_one(queue.commit())
    if what == "again":
        queue.consume_again(messages(argument))
    elif what == "rollback":
        queue.rollback()
    else:
        queue.clear()
    return None


@pytest.mark.parametrize("vector", decisions("window", "process_queue"), ids=str)
def test_every_step_has_the_same_state_as_in_java(vector: JavaVector) -> None:
    queue = ProcessQueue(now=0)
    results = [
        [do(queue, what, argument), queue.count, queue.size, queue.span]
        for what, argument in vector["steps"]
    ]
    assert results == vector["value"]


def test_no_offset_after_the_oldest_in_flight_is_committed() -> None:
    queue = queue_with_messages(5, 6, 7, 8)

    assert queue.remove(messages([6, 8]), now=1) == 5
    assert queue.remove(messages([5]), now=1) == 7
    assert queue.remove(messages([7]), now=2) == 9
    assert queue.remove(messages([7]), now=3) is None
    assert queue.last_consume == 3
    assert queue.first_offset is None
    assert queue.last_offset is None


@pytest.mark.parametrize(
    "offsets", [(1, 2, 3, 4), (1, 3, 2, 4), (1, 1, 4, 4), (1, 2, 9, 2**62), (7,)], ids=str
)
def test_messages_count_with_and_without_a_known_size(offsets: tuple[int, ...]) -> None:
    sized, unsized = ProcessQueue(now=0), queue_with_messages(*offsets)
    pull = messages(offsets)
    ascend = list(offsets) == sorted({*offsets})
    sized.put(pull, body_size=10 * len(pull) if ascend else None)

    for queue in (sized, unsized):
        assert (queue.first_offset, queue.last_offset) == (min(offsets), max(offsets))
        assert (queue.count, queue.size) == (len({*offsets}), 10 * len({*offsets}))
        assert queue.remove(pull, now=1) == offsets[-1] + 1
        assert queue.size == 0


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.integers(0, 12),
            st.integers(1, 4),
            st.sampled_from(("", "take", "again")),
        ),
        max_size=12,
    )
)
def test_batches_and_messages_have_the_same_state(steps: list[tuple[bool, int, int, str]]) -> None:
    kept, looked_at = ProcessQueue(now=0), ProcessQueue(now=0)
    pulls = {
        (start, count): messages(range(start, start + count))
        for start in range(13)
        for count in range(1, 5)
    }
    for puts, start, count, then in steps:
        results: list[object] = []
        for queue in (kept, looked_at):
            what: Any = queue.put if puts else partial(queue.remove, now=0)
            answer = what(pulls[start, count])
            if queue is looked_at:
                assert -1 not in queue
            if then:
                answer = answer, queue.take(count, now=0), queue.commit()
            if then == "again":
                queue.put(pulls[start, count])
                queue.take(1, now=0)
                queue.rollback()
            results.append((answer, queue.count, queue.size, queue.span, queue.info(0, int)))
        assert results[0] == results[1]


def test_a_message_that_comes_again_earlier_than_others_is_the_oldest() -> None:
    queue = queue_with_messages(5, 6)
    queue.remove(messages([5]), now=0)
    queue.put(messages([3]))
    assert (queue.first_offset, queue.last_offset, queue.span) == (3, 6, 3)
    assert 3 in queue
    assert 5 not in queue


def test_nothing_is_committed_of_nothing_taken() -> None:
    assert queue_with_messages(1).commit() is None


def test_an_orderly_consumer_is_woken_once_until_it_finds_nothing() -> None:
    queue = ProcessQueue(now=0)

    assert queue.put([]) is False
    assert queue.put(messages([1])) is True
    assert queue.put(messages([2])) is False
    assert [message.queue_offset for message in queue.take(10, now=4)] == [1, 2]
    assert queue.has_messages is False
    assert queue.take(10, now=5) == []
    assert queue.put(messages([3])) is True


def test_the_backlog_begins_after_the_last_message() -> None:
    queue = ProcessQueue(now=0)
    queue.put(messages([1, 2]), max_offset=10)
    assert queue.backlog == 8
    queue.put(messages([9]), max_offset=9)
    assert queue.backlog == 8
    queue.put([], max_offset=100)
    assert queue.backlog == 8


def test_pulling_stops_above_each_threshold_and_not_at_it() -> None:
    thresholds = Thresholds(count=3, mebibytes=2, span=100)
    queue = queue_with_messages(0, 50, 100)
    assert queue.flow_control(thresholds) is None
    assert queue_with_messages(0, 101).flow_control(thresholds) is FlowControl.SPAN
    assert queue_with_messages(0, 101).flow_control(Thresholds(span=None)) is None
    assert queue_with_messages(0, 1, 2, 3).flow_control(thresholds) is FlowControl.COUNT
    queue = ProcessQueue(now=0)
    queue.put(messages([0], bytes(3 * MIB - 1)))
    assert queue.flow_control(thresholds) is None
    queue.put(messages([1], b"x"))
    assert queue.flow_control(thresholds) is FlowControl.SIZE


def test_messages_that_were_taken_count_until_they_are_committed() -> None:
    queue = queue_with_messages(0, 1, 2, 3)
    queue.take(4, now=0)
    assert queue.flow_control(Thresholds(count=3)) is FlowControl.COUNT
    queue.commit()
    assert queue.flow_control(Thresholds(count=3)) is None
    assert queue.size == 0


def test_the_thresholds_of_a_topic_are_shared_by_its_queues() -> None:
    thresholds = Thresholds(count_of_topic=1000, mebibytes_of_topic=3)
    assert thresholds.for_queues(0) == thresholds
    shared = thresholds.for_queues(4)
    assert (shared.count, shared.mebibytes) == (250, 1)
    assert Thresholds().for_queues(4) == Thresholds()


def test_locks_and_pulls_expire_after_their_time_and_not_at_it() -> None:
    queue = queue_with_messages(now=10.0)
    assert not queue.is_lock_expired(40.0)
    assert queue.is_lock_expired(40.1)
    assert not queue.is_pull_expired(130.0)
    assert queue.is_pull_expired(130.1)


def test_the_oldest_message_expires_when_it_was_worked_on_too_long() -> None:
    queue = queue_with_messages(1, 2)
    assert queue.oldest_expired(now=1000, timeout=900) is None
    queue.mark_started(messages([1, 7]), now=100)
    assert queue.oldest_expired(now=1000, timeout=900) is None
    expired = queue.oldest_expired(now=1000.5, timeout=900)
    assert expired is not None
    assert expired.queue_offset == 1
    assert queue.remove([expired], now=1001) == 2
    assert queue.oldest_expired(now=5000, timeout=900) is None
    queue.clear()
    assert queue.oldest_expired(now=5000, timeout=900) is None


def test_the_state_of_a_queue_is_shown_to_operators() -> None:
    queue = queue_with_messages(1, 2, 3)
    queue.take(1, now=2)
    queue.locked = queue.dropped = True
    info = queue.info(1, lambda now: int(now * 1000))

    assert (info.cached_msg_min_offset, info.cached_msg_max_offset) == (2, 3)
    assert (info.cached_msg_count, info.cached_msg_size_in_mi_b) == (2, 0)
    assert (info.transaction_msg_min_offset, info.transaction_msg_max_offset) == (1, 1)
    assert (info.transaction_msg_count, info.commit_offset) == (1, 1)
    assert (info.locked, info.droped) == (True, True)
    assert (info.last_lock_timestamp, info.last_consume_timestamp) == (0, 2000)
    empty = ProcessQueue(now=0).info(0, int)
    assert (empty.cached_msg_min_offset, empty.cached_msg_max_offset) == (0, 0)

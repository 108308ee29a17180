"""Locks of orderly consumers."""

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.tables.members import Locks

FIRST, SECOND = (
    MessageQueue(topic="orders", broker_name="b", queue_id=number) for number in (1, 2)
)


def test_there_are_no_more_locks_than_the_limit() -> None:
    locks = Locks(60_000, max_locks=1)

    assert locks.lock("g", "a", (FIRST, SECOND), now=0) == (FIRST,)
    assert locks.lock("g", "a", (FIRST,), now=1) == (FIRST,)


def test_free_locks_make_room_for_others() -> None:
    locks = Locks(60_000, max_locks=1)
    locks.lock("g", "a", (FIRST,), now=0)

    assert locks.lock("h", "b", (SECOND,), now=60_000) == ()
    assert locks.lock("h", "b", (SECOND,), now=60_001) == (SECOND,)


def test_names_too_long_are_not_locked() -> None:
    locks = Locks(60_000, max_locks=10)
    queue = MessageQueue(topic="t" * 1_025, broker_name="b", queue_id=1)

    assert locks.lock("g", "a", (queue, FIRST), now=0) == (FIRST,)
    assert locks.lock("g" * 1_025, "a", (FIRST,), now=0) == ()
    assert locks.lock("h", "a" * 1_025, (FIRST,), now=0) == ()

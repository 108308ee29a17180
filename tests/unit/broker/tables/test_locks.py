"""Locks of orderly consumers."""

from __future__ import annotations

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.tables.locks import Locks

ONE, TWO = (MessageQueue(topic="orders", broker_name="b", queue_id=number) for number in (1, 2))


def test_there_are_no_more_locks_than_the_limit() -> None:
    locks = Locks(60_000, max_locks=1)

    assert locks.lock("g", "a", (ONE, TWO), now=0) == (ONE,)
    assert locks.lock("g", "a", (ONE,), now=1) == (ONE,)


def test_free_locks_make_room_for_others() -> None:
    locks = Locks(60_000, max_locks=1)
    locks.lock("g", "a", (ONE,), now=0)

    assert locks.lock("h", "b", (TWO,), now=60_000) == ()
    assert locks.lock("h", "b", (TWO,), now=60_001) == (TWO,)


def test_names_too_long_are_not_locked() -> None:
    locks = Locks(60_000, max_locks=10)
    queue = MessageQueue(topic="t" * 1_025, broker_name="b", queue_id=1)

    assert locks.lock("g", "a", (queue, ONE), now=0) == (ONE,)
    assert locks.lock("g" * 1_025, "a", (ONE,), now=0) == ()
    assert locks.lock("h", "a" * 1_025, (ONE,), now=0) == ()

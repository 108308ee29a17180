"""Locks of orderly consumers."""

from __future__ import annotations

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.tables.locks import Locks

ONE, TWO = (MessageQueue(topic="orders", broker_name="b", queue_id=number) for number in (1, 2))


def test_a_queue_is_locked_for_one_client_and_renewed_by_it() -> None:
    locks = Locks(60_000, most=10)

    assert locks.lock("g", "a", (ONE, TWO), now=0) == (ONE, TWO)
    assert locks.lock("g", "b", (ONE,), now=1) == ()
    assert locks.lock("g", "a", (ONE,), now=2) == (ONE,)
    assert locks.lock("other", "b", (ONE,), now=3) == (ONE,)


def test_a_lock_is_free_after_its_time() -> None:
    locks = Locks(60_000, most=10)
    locks.lock("g", "a", (ONE,), now=0)

    assert locks.lock("g", "b", (ONE,), now=60_000) == ()
    assert locks.is_any_held("g", now=60_000)
    assert not locks.is_any_held("g", now=60_001)
    assert locks.lock("g", "b", (ONE,), now=60_001) == (ONE,)


def test_only_its_owner_unlocks_a_queue() -> None:
    locks = Locks(60_000, most=10)
    locks.lock("g", "a", (ONE,), now=0)

    locks.unlock("g", "b", (ONE,))
    assert locks.is_any_held("g", now=1)

    locks.unlock("g", "a", (ONE, TWO))
    assert not locks.is_any_held("g", now=1)


def test_there_are_no_more_locks_than_the_limit() -> None:
    locks = Locks(60_000, most=1)

    assert locks.lock("g", "a", (ONE, TWO), now=0) == (ONE,)
    assert locks.lock("g", "a", (ONE,), now=1) == (ONE,)

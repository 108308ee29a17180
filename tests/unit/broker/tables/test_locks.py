"""Locks of orderly consumers."""

from __future__ import annotations

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.tables.locks import Locks

ONE, TWO = (MessageQueue(topic="orders", broker_name="b", queue_id=number) for number in (1, 2))


def test_there_are_no_more_locks_than_the_limit() -> None:
    locks = Locks(60_000, most=1)

    assert locks.lock("g", "a", (ONE, TWO), now=0) == (ONE,)
    assert locks.lock("g", "a", (ONE,), now=1) == (ONE,)

"""Locks on the wire (broker.md 8)."""

from __future__ import annotations

from rocketwire.messages import decode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    LockBatchResponseBody,
)
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client

QUEUE = MessageQueue(topic="orders", broker_name="broker-a", queue_id=0)


def lock(client: Client, client_id: str) -> tuple[MessageQueue, ...] | None:
    body = LockBatchRequestBody(consumer_group="g", client_id=client_id, mq_set=(QUEUE,))
    answer = decode_body(LockBatchResponseBody, client.call(41, {}, body).body or b"")
    return None if answer is None else answer.lock_ok_mq_set


def test_a_lock_outlives_its_owners_connection_and_ends_at_its_time() -> None:
    home = BrokerAtHand()
    owner, other = home.connect(), home.connect()

    assert lock(owner, "a") == (QUEUE,)
    assert lock(other, "b") == ()
    owner.close()
    home.pass_time(58_500)
    assert lock(other, "b") == ()
    home.pass_time(2_500)
    assert lock(other, "b") == (QUEUE,)

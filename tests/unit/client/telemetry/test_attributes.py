"""Attributes of spans."""

from __future__ import annotations

from rocketwire.client import Message
from rocketwire.client.telemetry.attributes import (
    message_attributes,
    server_attributes,
    stored_attributes,
)
from rocketwire.wire.message.stored import StoredMessage


def test_several_messages_are_counted() -> None:
    count = {"messaging.batch.message_count": 2}

    assert message_attributes([Message("T", b"1", tags="a"), Message("T", b"2")]) == count
    assert stored_attributes([StoredMessage(topic="T"), StoredMessage(topic="T")]) == count


def test_a_delayed_message_says_so() -> None:
    assert message_attributes([Message("T", b"1", delay_level=3)]) == {
        "messaging.rocketmq.message.type": "delay",
        "messaging.rocketmq.message.delay_time_level": 3,
    }


def test_an_unknown_broker_has_no_address() -> None:
    assert server_attributes(None) == {}
    assert server_attributes("[::1]:10911") == {"server.address": "::1", "server.port": 10911}

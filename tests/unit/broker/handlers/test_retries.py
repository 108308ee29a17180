"""36: where a message that a consumer sends back comes again, and when it is a dead letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.broker import BrokerAtHand, messages

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.broker import Client


def sent(client: Client, **properties: str | None) -> StoredMessage:
    client.send(properties={"UNIQ_KEY": "KEY1", "TAGS": "red", **properties}, h=7)
    return messages(client.pulled())[0]


def send_back(client: Client, message: StoredMessage, **changes: object) -> int:
    fields: dict[str, object] = {
        "offset": message.commit_log_offset,
        "group": "g",
        "delayLevel": 0,
        "originTopic": "orders",
        "originMsgId": "",
        "unitMode": False,
    }
    return client.call(36, {**fields, **changes}).code


def test_a_retry_topic_that_may_not_be_written_is_an_error() -> None:
    home = BrokerAtHand()
    client = home.connect()
    message = sent(client)
    send_back(client, message)
    topic = home.broker.topics.get("%RETRY%g")
    assert topic is not None
    home.broker.topics.put(replace(topic, perm=4), home.now)

    assert send_back(client, message) == 16

"""36: where a message that a consumer sends back comes again, and when it is a dead letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.broker import BrokerAtHand, bodies, messages

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from tests.support.broker import Client

SECOND, MINUTE = 1_000, 60_000

DELAYS = [
    *(10 * SECOND, 30 * SECOND),
    *(minutes * MINUTE for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120)),
]
"""Delays of the 16 retries of Java's default."""


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


def jump(home: BrokerAtHand, milliseconds: int) -> None:
    """Let time pass in one step."""
    home.now += milliseconds
    home.settle()


def test_a_message_is_retried_16_times_with_java_s_delays_and_is_a_dead_letter_then() -> None:
    home = BrokerAtHand()
    client = home.connect()
    message = first = sent(client)

    for times, delay in enumerate(DELAYS):
        assert send_back(client, message) == 0
        jump(home, delay - 1)
        assert bodies(client.pulled(times, "%RETRY%g")) == []
        jump(home, 1)
        [message] = messages(client.pulled(times, "%RETRY%g"))
        assert message.reconsume_times == times + 1
    assert send_back(client, message) == 0

    [dead] = messages(client.pulled(0, "%DLQ%g"))
    properties = dead.properties or {}
    assert dead.reconsume_times == 17
    assert dead.body == b"body"
    assert dead.flag == 7
    assert dead.born_host == first.born_host
    assert dead.born_timestamp == first.born_timestamp
    wanted = {
        "UNIQ_KEY": "KEY1",
        "TAGS": "red",
        "RETRY_TOPIC": "orders",
        "ORIGIN_MESSAGE_ID": f"7F00000100002A9F{first.commit_log_offset:016X}",
        "DELAY": "0",
        "WAIT": "false",
    }
    assert {name: properties[name] for name in wanted} == wanted
    topic = home.broker.topics.get("%DLQ%g")
    assert topic is not None
    assert (topic.read_queue_nums, topic.write_queue_nums, topic.perm) == (1, 1, 6)


def test_a_retry_topic_that_may_not_be_written_is_an_error() -> None:
    home = BrokerAtHand()
    client = home.connect()
    message = sent(client)
    send_back(client, message)
    topic = home.broker.topics.get("%RETRY%g")
    assert topic is not None
    home.broker.topics.put(replace(topic, perm=4), home.now)

    assert send_back(client, message) == 16

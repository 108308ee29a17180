"""324 and 325: the requester gets the reply, and the replier hears whether it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages.heartbeat import HeartbeatData, ProducerData
from rocketwire.wire.message.properties import encode_properties
from tests.support.broker import START, BrokerAtHand

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import Client

TOPIC = "DefaultCluster_REPLY_TOPIC"


def requester(home: BrokerAtHand) -> Client:
    """The producer ``asker``."""
    client = home.connect()
    data = ProducerData(group_name="p")
    client.call(34, {}, HeartbeatData(client_id="asker", producer_data_set=(data,)))
    return client


def reply(
    client: Client, code: int = 325, to: str | None = "asker", flag: int = 0, **changes: object
) -> int:
    properties = {"CORRELATION_ID": "1", "REPLY_TO_CLIENT": to}
    text = encode_properties({name: value for name, value in properties.items() if value})
    short: dict[str, object] = {
        "a": "repliers",
        "b": TOPIC,
        "c": "TBW102",
        "d": 4,
        "e": 0,
        "f": 0,
        "g": START,
        "h": 7,
        "i": text,
        "j": 0,
        "k": False,
        **changes,
    }
    long = "producerGroup topic defaultTopic defaultTopicQueueNums queueId sysFlag bornTimestamp"
    names = dict(
        zip(
            "abcdefghijk",
            [*long.split(), *["flag", "properties", "reconsumeTimes", "unitMode"]],
            strict=True,
        )
    )
    fields = {names[name]: value for name, value in short.items()} if code == 324 else short
    return client.ask(code, fields, b"pong", flag)


def answered(client: Client, opaque: int) -> RemotingCommand:
    answer = client.answer_to(opaque)
    assert answer is not None
    return answer


def test_replies_need_not_be_stored() -> None:
    home = BrokerAtHand(store_replies=False)
    asker, replier = requester(home), home.connect()

    opaque = reply(replier)
    asker.respond(asker.requests()[0])

    assert (answered(replier, opaque).ext_fields or {})["msgId"] == "0"
    assert home.broker.store.put_count == 0


def test_a_one_way_reply_is_not_answered() -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    reply(replier, flag=2)
    asker.respond(asker.requests()[0])

    assert replier.received == []
    assert home.broker.store.put_count == 1

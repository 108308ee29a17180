"""324 and 325: the requester gets the reply, and the replier hears whether it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages.heartbeat import HeartbeatData, ProducerData
from rocketwire.wire.message.properties import encode_properties
from tests.support.broker import START, BrokerAtHand

if TYPE_CHECKING:
    from tests.support.broker import Client

TOPIC = "DefaultCluster_REPLY_TOPIC"


def requester(home: BrokerAtHand) -> Client:
    """The producer ``asker``."""
    client = home.connect()
    data = ProducerData(group_name="p")
    client.call(34, {}, HeartbeatData(client_id="asker", producer_data_set=(data,)))
    return client


def reply(client: Client, flag: int = 0) -> int:
    text = encode_properties({"CORRELATION_ID": "1", "REPLY_TO_CLIENT": "asker"})
    fields: dict[str, object] = {"a": "repliers", "b": TOPIC, "c": "TBW102", "d": 4, "e": 0}
    more: dict[str, object] = {"f": 0, "g": START, "h": 7, "i": text, "j": 0, "k": False}
    return client.ask(325, fields | more, b"pong", flag)


def test_replies_need_not_be_stored() -> None:
    home = BrokerAtHand(store_replies=False)
    asker, replier = requester(home), home.connect()

    opaque = reply(replier)
    asker.respond(asker.requests()[0])

    answer = replier.answer_to(opaque)
    assert answer is not None
    assert (answer.ext_fields or {})["msgId"] == "0"
    assert home.broker.store.put_count == 0


def test_a_one_way_reply_is_not_answered() -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    reply(replier, flag=2)
    asker.respond(asker.requests()[0])

    assert replier.received == []
    assert home.broker.store.put_count == 1

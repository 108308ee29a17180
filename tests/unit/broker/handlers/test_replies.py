"""324 and 325: the requester gets the reply, and the replier hears whether it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages.heartbeat import HeartbeatData, ProducerData
from rocketwire.wire.message.properties import decode_properties, encode_properties
from tests.support.broker import START, BrokerAtHand, messages

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


@pytest.mark.parametrize("code", [324, 325])
def test_a_reply_reaches_its_requester_and_is_stored(code: int) -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    opaque = reply(replier, code)
    assert replier.answer_to(opaque) is None
    [pushed] = asker.requests()
    asker.respond(pushed)

    fields = dict(pushed.ext_fields or {})
    properties = decode_properties(fields.pop("properties"))
    assert (pushed.code, pushed.is_oneway, pushed.body) == (326, False, b"pong")
    assert properties == {
        "PUSH_REPLY_TIME": str(START),
        "CORRELATION_ID": "1",
        "REPLY_TO_CLIENT": "asker",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    assert fields == {
        "topic": TOPIC,
        "producerGroup": "repliers",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": str(START),
        "flag": "7",
        "reconsumeTimes": "0",
        "unitMode": "false",
        "bornHost": replier.peer.address,
        "storeHost": "127.0.0.1:10911",
        "storeTimestamp": str(START),
    }
    answer = answered(replier, opaque)
    assert answer.code == 0
    assert answer.ext_fields == {
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "msgId": "7F00000100002A9F0000000000000000",
        "queueId": "0",
        "queueOffset": "0",
    }
    [stored] = messages(replier.pulled(topic=TOPIC))
    assert "CLUSTER" not in (stored.properties or {})


def test_replies_need_not_be_stored() -> None:
    home = BrokerAtHand(store_replies=False)
    asker, replier = requester(home), home.connect()

    opaque = reply(replier)
    asker.respond(asker.requests()[0])

    assert (answered(replier, opaque).ext_fields or {})["msgId"] == "0"
    assert home.broker.store.put_count == 0


def test_a_requester_that_refuses_the_reply_is_an_error() -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    opaque = reply(replier)
    asker.respond(asker.requests()[0], code=1)

    answer = answered(replier, opaque)
    assert (answer.code, answer.remark) == (1, "push reply message to askerfail.")


def test_a_requester_that_is_silent_or_gone_is_an_error() -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    silent = reply(replier)
    home.pass_time(9_999)
    assert replier.answer_to(silent) is None
    home.pass_time(1)
    gone = reply(replier)
    asker.close()

    assert answered(replier, silent).code == 1
    assert answered(replier, gone).code == 1


@pytest.mark.parametrize(
    ("to", "remark"),
    [
        (None, "reply message properties[REPLY_TO_CLIENT] is null"),
        ("nobody", "push reply message fail, channel of <nobody> not found."),
    ],
)
def test_a_reply_to_nobody_is_an_error_and_is_stored(to: str | None, remark: str) -> None:
    home = BrokerAtHand()
    replier = home.connect()

    answer = answered(replier, reply(replier, to=to))

    assert (answer.code, answer.remark) == (1, remark)
    assert home.broker.store.put_count == 1


@pytest.mark.parametrize(("changes", "code"), [({"b": "a!"}, 29), ({"e": 1}, 29)])
def test_topic_and_queue_are_checked_as_those_of_a_message(
    changes: dict[str, Any], code: int
) -> None:
    replier = BrokerAtHand().connect()

    assert answered(replier, reply(replier, **changes)).code == code


def test_a_one_way_reply_is_not_answered() -> None:
    home = BrokerAtHand()
    asker, replier = requester(home), home.connect()

    reply(replier, flag=2)
    asker.respond(asker.requests()[0])

    assert replier.received == []
    assert home.broker.store.put_count == 1

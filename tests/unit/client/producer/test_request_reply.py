"""Requests and replies in memory."""

import zlib
from dataclasses import replace

import pytest
import trio

from rocketwire.client.message import Message
from rocketwire.client.producer.request_reply import create_reply
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import IllegalMessageError, ReplyTimeoutError, SendFailedError
from rocketwire.messages import encode_header
from rocketwire.messages.send import ReplyMessageRequestHeader
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.producer_fakes import World, send_response, world

PUSHED = ReplyMessageRequestHeader(
    producer_group="other", topic="c_REPLY_TOPIC", default_topic="TBW102",
    default_topic_queue_nums=4, queue_id=1, sys_flag=0, born_timestamp=5, flag=0,
    born_host="/10.0.0.9:1234", store_host="nonsense", store_timestamp=6,
)  # fmt: skip


async def push(it: World, body: bytes, sys_flag: int = 0, correlation: str | None = None) -> int:
    """Let the broker push a reply; returns the response code of the client."""
    sent = await it.a.asked(Code.SEND_MESSAGE_V2)
    properties = decode_properties((sent.ext_fields or {})["i"])
    correlation_id = correlation or properties["CORRELATION_ID"]
    header = replace(
        PUSHED, sys_flag=sys_flag, properties=encode_properties({"CORRELATION_ID": correlation_id})
    )
    request = RemotingCommand(
        code=Code.PUSH_REPLY_MESSAGE_TO_CLIENT, ext_fields=encode_header(header), body=body
    )
    return (await it.a.request(request)).code


async def test_a_reply_is_matched_with_its_request() -> None:
    replies: list[StoredMessage] = []
    async with world(brokers=("a",)) as it, trio.open_nursery() as nursery:

        async def ask() -> None:
            replies.append(await it.producer.request(Message("T", b"what?")))

        nursery.start_soon(ask)
        assert await push(it, b"that", correlation="another") == 0
        assert await push(it, zlib.compress(b"that"), 0x301) == 0

        properties = decode_properties((it.sent()[0].ext_fields or {})["i"])
        assert properties["REPLY_TO_CLIENT"] == it.client.client_id
        assert properties["TTL"] == "3000"
    (answer,) = replies
    assert answer.body == b"that"
    assert answer.topic == "c_REPLY_TOPIC"
    assert str(answer.born_host) == "10.0.0.9:1234"
    assert (answer.properties or {})["ARRIVE_TIME"]


async def test_a_heartbeat_precedes_the_first_request() -> None:
    async with world(brokers=("a",)) as it:
        it.a.on(Code.SEND_MESSAGE_V2, reply(code=13))
        with pytest.raises(Exception, match="13"):
            await it.producer.request(Message("T", b"what?"))
        assert it.a.codes().index(Code.HEART_BEAT) < it.a.codes().index(Code.SEND_MESSAGE_V2)


async def test_no_reply_in_time_is_an_error(autojump_clock: object) -> None:
    async with world(brokers=("a",)) as it:
        with pytest.raises(ReplyTimeoutError) as caught:
            await it.producer.request(Message("T", b"what?"), within=2)
        assert trio.current_time() < 2.5
        assert caught.value.correlation_id in str(caught.value)
        assert await push(it, b"late") == 0


async def test_a_request_that_cannot_be_sent_is_the_send_s_error() -> None:
    async with world() as it:
        for peer in (it.a, it.b):
            peer.on(Code.SEND_MESSAGE_V2, reply(code=2))
        with pytest.raises(SendFailedError):
            await it.producer.request(Message("T", b"what?"))


async def test_a_reply_is_sent_to_the_requester_s_cluster() -> None:
    sent = {"CLUSTER": "c", "CORRELATION_ID": "1", "REPLY_TO_CLIENT": "me", "TTL": "3000"}
    answer = create_reply(StoredMessage(topic="T", properties=sent), b"that")

    assert answer.topic == "c_REPLY_TOPIC"
    async with world(brokers=("a",)) as it:
        it.a.on(Code.SEND_REPLY_MESSAGE_V2, send_response)
        await it.producer.send(answer)

        (request,) = it.sent()
        properties = decode_properties((request.ext_fields or {})["i"])
        assert request.code == Code.SEND_REPLY_MESSAGE_V2
        assert properties["MSG_TYPE"] == "reply"
        assert {name: properties[name] for name in sent if name != "CLUSTER"} == {
            name: value for name, value in sent.items() if name != "CLUSTER"
        }


@pytest.mark.parametrize("missing", ["CLUSTER", "REPLY_TO_CLIENT"])
def test_no_reply_is_created_without_the_requester_s_properties(missing: str) -> None:
    sent = {"CLUSTER": "c", "CORRELATION_ID": "1", "REPLY_TO_CLIENT": "me"}
    del sent[missing]
    with pytest.raises(IllegalMessageError):
        create_reply(StoredMessage(topic="T", properties=sent), b"that")

"""``BrokerCalls`` in memory: requests, results and errors."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest

from rocketwire.client import ClientConfig, open_pool
from rocketwire.client.net.broker_api import BrokerCalls
from rocketwire.client.net.rpc import decode_response, encode_any_body, make_request
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import SerializeType
from rocketwire.errors import BrokerError, DecodeError
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    LockBatchResponseBody,
    UnlockBatchRequestBody,
)
from rocketwire.messages.auth import UserInfo
from rocketwire.messages.connections import GetConsumerListByGroupResponseBody
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicList
from rocketwire.testing import ScriptedPeer, open_network, reply
from rocketwire.wire.command import RemotingCommand

BROKER = "b:10911"
QUEUE = MessageQueue(broker_name="b", queue_id=2, topic="T")


@asynccontextmanager
async def broker(
    port: int = 10911, **settings: Any
) -> AsyncGenerator[tuple[BrokerCalls, ScriptedPeer]]:
    config = ClientConfig(**settings)
    async with (
        open_network() as network,
        open_pool(config, environment={}, connect=network.connect) as pool,
    ):
        yield BrokerCalls(pool, config), network.peer(f"b:{port}")


AT_QUEUE = {"topic": "T", "queueId": "2", "bname": "b"}
OFFSET, EARLIEST = reply(ext_fields={"offset": "7"}), reply(ext_fields={"timestamp": "5"})
IN_GROUP, MEMBER = {"consumerGroup": "g"}, {"clientID": "c", "producerGroup": "p"}
MEMBERS = reply(body=GetConsumerListByGroupResponseBody(consumer_id_list=("c",)))
NO_MEMBERS = reply(code=1, remark="no consumer for this group, g")
LOCKED = reply(body=LockBatchResponseBody(lock_ok_mq_set=(QUEUE,)))
SEARCHED = {**AT_QUEUE, "timestamp": "99", "boundaryType": "LOWER"}
NOT_ZERO = {**AT_QUEUE, **IN_GROUP, "setZeroIfNotFound": "false"}
Call: TypeAlias = "tuple[int, Callable[[BrokerCalls], Awaitable[object]], RemotingCommand, object, dict[str, str]]"
CALLS: list[Call] = [
    (30, lambda b: b.max_offset(BROKER, QUEUE), OFFSET, 7, {**AT_QUEUE, "committed": "true"}),
    (31, lambda b: b.min_offset(BROKER, QUEUE), OFFSET, 7, AT_QUEUE),
    (29, lambda b: b.search_offset(BROKER, QUEUE, 99), OFFSET, 7, SEARCHED),
    (32, lambda b: b.earliest_store_time(BROKER, QUEUE), EARLIEST, 5, AT_QUEUE),
    (32, lambda b: b.earliest_store_time(BROKER, QUEUE), reply(), -1, AT_QUEUE),
    (14, lambda b: b.consumer_offset(BROKER, "g", QUEUE), OFFSET, 7, {**AT_QUEUE, **IN_GROUP}),
    (14, lambda b: b.consumer_offset(BROKER, "g", QUEUE, zero_if_not_found=False), reply(code=22), None, NOT_ZERO),
    (15, lambda b: b.update_consumer_offset(BROKER, "g", QUEUE, 8), reply(), None, {**AT_QUEUE, **IN_GROUP, "commitOffset": "8"}),
    (38, lambda b: b.consumer_ids(BROKER, "g"), MEMBERS, ("c",), IN_GROUP),
    (38, lambda b: b.consumer_ids(BROKER, "g"), NO_MEMBERS, (), IN_GROUP),
    (41, lambda b: b.lock_queues(BROKER, LockBatchRequestBody(mq_set=(QUEUE,))), LOCKED, (QUEUE,), {}),
    (42, lambda b: b.unlock_queues(BROKER, UnlockBatchRequestBody(mq_set=(QUEUE,))), reply(), None, {}),
]  # fmt: skip


@pytest.mark.parametrize("vip", [False, True])
@pytest.mark.parametrize(("code", "call", "answer", "expected", "fields"), CALLS)
async def test_calls_go_to_the_port_that_is_configured(
    code: int,
    call: Callable[[BrokerCalls], Awaitable[object]],
    answer: RemotingCommand,
    expected: object,
    fields: dict[str, str],
    vip: bool,
) -> None:
    async with broker(10909 if vip else 10911, vip_channel_enabled=vip) as (brokers, peer):
        peer.expect(code, answer)
        assert await call(brokers) == expected
        assert dict(peer.requests[0].ext_fields or {}) == fields


async def test_a_client_leaves_over_the_first_port() -> None:
    async with broker(vip_channel_enabled=True) as (brokers, peer):
        peer.expect(Code.UNREGISTER_CLIENT, reply())
        await brokers.unregister_client(BROKER, "c", producer_group="p")
        assert peer.requests[0].ext_fields == MEMBER


async def test_offsets_may_be_committed_one_way() -> None:
    async with broker() as (brokers, peer):
        peer.expect(Code.UPDATE_CONSUMER_OFFSET, None)
        await brokers.update_consumer_offset(BROKER, "g", QUEUE, 8, oneway=True)
        assert (await peer.asked(Code.UPDATE_CONSUMER_OFFSET)).is_oneway


async def test_an_error_code_is_an_error_with_code_and_remark() -> None:
    async with broker() as (brokers, peer):
        peer.on(Code.GET_MAX_OFFSET, reply(code=999, remark="no"))
        peer.on(Code.QUERY_CONSUMER_OFFSET, reply(code=16))
        with pytest.raises(BrokerError, match=r"GET_MAX_OFFSET \(30\): code 999 no") as caught:
            await brokers.max_offset(BROKER, QUEUE)
        assert (caught.value.code, caught.value.remark, caught.value.address) == (999, "no", BROKER)
        with pytest.raises(
            BrokerError, match=r"QUERY_CONSUMER_OFFSET \(14\): NO_PERMISSION \(16\)"
        ):
            await brokers.consumer_offset(BROKER, "g", QUEUE)


def test_codes_that_no_binary_header_can_hold_are_sent_as_json() -> None:
    config = ClientConfig(serialize_type=SerializeType.ROCKETMQ)
    assert make_request(config, Code.HEART_BEAT).serialize_type == SerializeType.ROCKETMQ
    assert make_request(config, Code.POP_MESSAGE).serialize_type == SerializeType.JSON


def test_bodies_are_bytes_texts_classes_or_arrays() -> None:
    assert encode_any_body(None) is None
    assert encode_any_body(b"x") == b"x"
    assert encode_any_body("x") == b"x"
    assert encode_any_body(TopicList(topic_list=("a",))) == b'{"topicList":["a"]}'
    assert encode_any_body([TopicList(topic_list=("a",))]) == b'[{"topicList":["a"]}]'


def test_headers_may_be_given_as_fields_and_unknown_codes_are_bytes() -> None:
    request = make_request(ClientConfig(), 9999, {"a": "b"}, b"x")
    answer = decode_response(9999, reply(body=b"y", ext_fields={"c": "d"}))
    assert (request.ext_fields, request.body) == ({"a": "b"}, b"x")
    assert (answer.header, answer.body, answer.command.ext_fields) == (None, b"y", {"c": "d"})


def test_an_array_in_an_answer_is_read_as_one() -> None:
    users = decode_response(Code.AUTH_LIST_USER, reply(body=b'[{"username":"u"}]')).body
    assert users == (UserInfo(username="u"),)


@pytest.mark.parametrize("code", [Code.GET_ALL_TOPIC_CONFIG, Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG])
def test_decode_response_with_null_as_body(code: int) -> None:
    with pytest.raises(DecodeError, match="the body is null"):
        decode_response(code, reply(body=b"null"))


def test_require_body_of_a_response_without_one() -> None:
    with pytest.raises(DecodeError, match="the response has no body"):
        decode_response(Code.GET_ALL_TOPIC_CONFIG, reply()).require_body()

"""Requests of brokers reach the member of their group."""

import pytest
import trio
import trio.testing

from rocketwire.client.instance.broker_requests import decode_reset_offsets
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, encode_header
from rocketwire.messages.callbacks import (
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
    GetConsumerStatusBody,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import ReplyMessageRequestHeader
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.member_fakes import Consumer, Producer
from tests.unit.client.instance.test_instance import MASTER, World, world

QUEUE = MessageQueue(broker_name="b", queue_id=1, topic="T")
HALF = encode_stored_message(StoredMessage(topic="T", body=b"x", properties={"PGROUP": "p"}))
REPLY = ReplyMessageRequestHeader(
    producer_group="p", topic="T", default_topic="TBW102", default_topic_queue_nums=4, queue_id=0,
    sys_flag=0, born_timestamp=0, flag=0, born_host="h", store_host="s", store_timestamp=0,
)  # fmt: skip


async def join(opened: World, producer: Producer, consumer: Consumer) -> None:
    await opened.client.route("T")
    opened.client.add_producer(producer)
    opened.client.add_consumer(consumer)
    await opened.master.asked(Code.HEART_BEAT)


def command(code: int, body: bytes | None = None, **fields: str) -> RemotingCommand:
    return RemotingCommand(code=code, ext_fields=fields, body=body)


async def test_one_way_requests_reach_the_member_of_the_group() -> None:
    producer, consumer = Producer(), Consumer()
    stranger = encode_stored_message(StoredMessage(topic="T", body=b"x"))
    reset = b'{"offsetTable":{{"brokerName":"b","queueId":1,"topic":"T"}:5}}'
    async with world() as opened:
        await join(opened, producer, consumer)
        for request in (
            command(Code.CHECK_TRANSACTION_STATE, HALF, msgId="m", tranStateTableOffset="1"),
            command(Code.CHECK_TRANSACTION_STATE, stranger, msgId="m"),
            command(Code.NOTIFY_CONSUMER_IDS_CHANGED, consumerGroup="g"),
            command(Code.NOTIFY_CONSUMER_IDS_CHANGED, consumerGroup="other"),
            command(Code.RESET_CONSUMER_CLIENT_OFFSET, reset, topic="T", group="g"),
            command(Code.RESET_CONSUMER_CLIENT_OFFSET, reset, topic="T", group="other"),
        ):
            await opened.master.send_oneway(request)
        await trio.testing.wait_all_tasks_blocked()

    assert producer.heard == [(MASTER, "m", "T")]
    assert sorted(consumer.heard, key=str) == [("T", {QUEUE: 5}), "rebalance"]


async def test_questions_about_a_consumer_are_answered() -> None:
    async with world() as opened:
        await join(opened, Producer(), Consumer())
        ask = opened.master.request
        status = await ask(command(Code.GET_CONSUMER_STATUS_FROM_CLIENT, topic="T", group="g"))
        info = await ask(command(Code.GET_CONSUMER_RUNNING_INFO, consumerGroup="g", clientId="c"))
        consumed = await ask(
            command(Code.CONSUME_MESSAGE_DIRECTLY, HALF, consumerGroup="g", brokerName="b")
        )

    assert decode_body(GetConsumerStatusBody, status.body) == GetConsumerStatusBody(
        message_queue_table={QUEUE: 7}
    )
    running_info = decode_body(ConsumerRunningInfo, info.body)
    assert running_info is not None
    assert running_info.properties == {
        "PROP_NAMESERVER_ADDR": "10.0.0.1:9876;",
        "PROP_CLIENT_VERSION": "V5_5_0",
        "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
    }
    result = decode_body(ConsumeMessageDirectlyResult, consumed.body)
    assert result is not None
    assert result.remark == "T of b"


async def test_an_unknown_group_is_an_error_and_has_no_offsets() -> None:
    async with world() as opened:
        await join(opened, Producer(), Consumer())
        for request in (
            command(Code.GET_CONSUMER_RUNNING_INFO, consumerGroup="x"),
            command(Code.CONSUME_MESSAGE_DIRECTLY, HALF, consumerGroup="x"),
        ):
            answer = await opened.master.request(request)
            assert (answer.code, answer.remark) == (1, "this client has no consumer of group x")
        status = command(Code.GET_CONSUMER_STATUS_FROM_CLIENT, topic="T", group="x")
        answer = await opened.master.request(status)

    assert answer.code == 0
    assert decode_body(GetConsumerStatusBody, answer.body) == GetConsumerStatusBody()


async def test_every_reply_is_acknowledged() -> None:
    producer = Producer(replies=(b"mine",))
    async with world() as opened:
        await join(opened, producer, Consumer())
        for body in (b"mine", b"nobody's"):
            request = RemotingCommand(code=326, ext_fields=encode_header(REPLY), body=body)
            assert (await opened.master.request(request)).code == 0

    assert producer.heard == [("T", b"mine"), ("T", b"nobody's")]


def test_offsets_of_a_reset_are_read_in_both_forms() -> None:
    listed = b'{"offsetTable":[{"brokerName":"b","offset":5,"queueId":1,"topic":"T"}]}'
    assert decode_reset_offsets(listed) == {QUEUE: 5}
    assert decode_reset_offsets(None) == {}
    with pytest.raises(DecodeError):
        decode_reset_offsets(b"[")

"""Consumers in memory: a name server and a broker with given responses, and the log of the clients."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
import trio

from rocketwire.client import (
    ClientConfig,
    ClientInstance,
    open_client,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.consumer.config import PushConsumerConfig
from rocketwire.client.consumer.offset_store import OffsetStore
from rocketwire.client.consumer.push.consumption import PushParts
from rocketwire.client.consumer.stats import ConsumerStats
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import (
    LockBatchRequestBody,
    LockBatchResponseBody,
    QueryAssignmentResponseBody,
)
from rocketwire.messages.connections import GetConsumerListByGroupResponseBody
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import QueryConsumerOffsetResponseHeader
from rocketwire.messages.pop import PopMessageResponseHeader
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.testing import MemoryNetwork, open_network, reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message

NS, BROKER = "10.0.0.1:9876", "10.0.0.2:10911"
CLIENT = "1.1.1.1@i"
FLAVOURS = ("concurrent", "orderly", "pop", "lite pull")
PULLS = (Code.PULL_MESSAGE, Code.LITE_PULL_MESSAGE, Code.POP_MESSAGE)

PLAIN_CLIENT: Final = SimpleNamespace(config=ClientConfig())
"""A client with its settings alone."""


def push_parts(nursery: trio.Nursery, offsets: object, **parts: object) -> PushParts:
    parts = {"config": PushConsumerConfig(), "stats": ConsumerStats(), "locks": None, **parts}
    shared: Any = {"instance": PLAIN_CLIENT, "group": "g", "subscriptions": {}, **parts}
    return PushParts(**shared, offsets=cast("OffsetStore", offsets), nursery=nursery)


class RecordedOffsets:
    def __init__(self, *, increase_only: bool = True) -> None:
        self.updates: list[int] = []
        self.by_queue: dict[MessageQueue, int] = {}
        self._increase_only = increase_only

    def update(self, queue: MessageQueue, offset: int, *, increase_only: bool) -> None:
        assert increase_only is self._increase_only
        self.updates.append(offset)
        self.by_queue[queue] = offset


def route(perm: int = 6, queues: int = 2) -> RemotingCommand:
    return reply(
        body=TopicRouteData(
            broker_datas=(BrokerData(broker_name="b", cluster="c", broker_addrs={0: BROKER}),),
            queue_datas=(
                QueueData(
                    broker_name="b", perm=perm, read_queue_nums=queues, write_queue_nums=queues
                ),
            ),
        )
    )


def members(*ids: str) -> RemotingCommand:
    return reply(body=GetConsumerListByGroupResponseBody(consumer_id_list=ids))


def refusal(code: int, remark: str = "") -> RemotingCommand:
    return reply(code=code, remark=remark)


UNKNOWN = refusal(ResponseCode.TOPIC_NOT_EXIST, "No topic route info in name server")


def pull_response(
    *messages: StoredMessage, begin: int = 1, end: int | None = None
) -> RemotingCommand:
    header = PullMessageResponseHeader(
        next_begin_offset=begin,
        min_offset=0,
        max_offset=begin if end is None else end,
        suggest_which_broker_id=0,
    )
    code = ResponseCode.SUCCESS if messages else ResponseCode.PULL_NOT_FOUND
    return reply(header, b"".join(map(encode_stored_message, messages)) or None, code=code)


def pop_response(*messages: StoredMessage) -> RemotingCommand:
    offsets = ",".join(str(message.queue_offset) for message in messages)
    header = PopMessageResponseHeader(
        pop_time=1,
        invisible_time=60_000,
        revive_qid=0,
        rest_num=0,
        start_offset_info=f"0 0 {messages[0].queue_offset}",
        msg_offset_info=f"0 0 {offsets}",
    )
    return reply(header, b"".join(map(encode_stored_message, messages)))


def make_messages(
    count: int = 1, topic: str = "orders", body: bytes = b"x", **properties: str
) -> list[StoredMessage]:
    return [
        StoredMessage(
            topic=topic,
            body=body,
            queue_offset=number,
            properties={"UNIQ_KEY": f"ID{number}", **properties},
        )
        for number in range(count)
    ]


def bring_messages(
    network: MemoryNetwork, messages: Sequence[StoredMessage], end: int | None = None
) -> None:
    waiting = [messages]

    async def answer(request: RemotingCommand) -> RemotingCommand:
        if not waiting or (request.ext_fields or {}).get("topic") != messages[0].topic:
            await trio.sleep_forever()
        waiting.clear()
        if request.code == Code.POP_MESSAGE:
            return pop_response(*messages)
        return pull_response(*messages, begin=messages[-1].queue_offset + 1, end=end)

    for code in PULLS:
        network.peer(BROKER).on(code, answer)


async def _hold(_: RemotingCommand) -> RemotingCommand:
    await trio.sleep(10)
    return pull_response(begin=0)


async def _pop(_: RemotingCommand) -> RemotingCommand:
    await trio.sleep(10)
    return reply(code=ResponseCode.POLLING_TIMEOUT)


def _lock(request: RemotingCommand) -> RemotingCommand:
    body = decode_body(LockBatchRequestBody, request.body)
    assert body is not None
    return reply(body=LockBatchResponseBody(lock_ok_mq_set=body.mq_set))


def script(network: MemoryNetwork) -> None:
    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route())
    broker = network.peer(BROKER)
    broker.on(Code.GET_CONSUMER_LIST_BY_GROUP, members(CLIENT))
    broker.on(Code.QUERY_CONSUMER_OFFSET, reply(QueryConsumerOffsetResponseHeader(offset=0)))
    broker.on(Code.PULL_MESSAGE, _hold)
    broker.on(Code.LITE_PULL_MESSAGE, _hold)
    broker.on(Code.POP_MESSAGE, _pop)
    broker.on(Code.LOCK_BATCH_MQ, _lock)
    broker.on(Code.QUERY_ASSIGNMENT, reply(body=QueryAssignmentResponseBody()))
    for code in (
        Code.HEART_BEAT,
        Code.UNREGISTER_CLIENT,
        Code.UNLOCK_BATCH_MQ,
        Code.UPDATE_CONSUMER_OFFSET,
        Code.CONSUMER_SEND_MSG_BACK,
        Code.ACK_MESSAGE,
        Code.BATCH_ACK_MESSAGE,
        Code.CHANGE_MESSAGE_INVISIBLETIME,
    ):
        broker.on(code, reply())


@asynccontextmanager
async def client_in(network: MemoryNetwork, **settings: Any) -> AsyncGenerator[ClientInstance]:
    config = ClientConfig(namesrv_addr=NS, client_ip="1.1.1.1", instance_name="i", **settings)
    async with open_client(config, environment={}, connect=network.connect) as client:
        yield client


@asynccontextmanager
async def world(**settings: Any) -> AsyncGenerator[tuple[MemoryNetwork, ClientInstance]]:
    async with open_network() as network:
        script(network)
        async with client_in(network, **settings) as client:
            yield network, client


async def ignore(*_: object) -> None:
    await trio.lowlevel.checkpoint()


def consumer(
    flavour: str,
    client: ClientInstance,
    topic: str = "orders",
    group: str = "g",
    handler: Any = ignore,
) -> AbstractAsyncContextManager[object]:
    if flavour == "pop":
        return open_pop_consumer(client, group, {topic: "*"}, handler)
    if flavour == "lite pull":
        return _lite(client, group, topic)
    if flavour == "orderly":
        return open_push_consumer(client, group, {topic: "*"}, orderly_listener=handler)
    return open_push_consumer(client, group, {topic: "*"}, handler)


@asynccontextmanager
async def _lite(client: ClientInstance, group: str, topic: str) -> AsyncGenerator[object]:
    async with open_lite_pull_consumer(client, group) as opened:
        opened.subscribe(topic)
        yield opened


def list_logged(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= level]

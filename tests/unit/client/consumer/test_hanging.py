"""A group whose topic has a broker that accepts connections and answers nothing."""

from collections.abc import Sequence
from typing import Any

import pytest
import trio

from rocketwire.client import ClientConfig, PushConsumerConfig, open_client, open_push_consumer
from rocketwire.client.consumer.rebalance import Rebalance
from rocketwire.client.consumer.retry import send_to_retry_topic
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import RequestTimeoutError
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, LockBatchResponseBody
from rocketwire.messages.connections import GetConsumerListByGroupResponseBody
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from rocketwire.testing import MemoryNetwork, open_network, reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.consumer_fakes import BROKER, consumer, world
from tests.support.fakes.producer_fakes import NS, A, B, route

CONFIG = ClientConfig(namesrv_addr=NS, client_ip="1.1.1.1", instance_name="i")
MEMBERS = reply(body=GetConsumerListByGroupResponseBody(consumer_id_list=("1.1.1.1@i",)))
ASKED = (
    *(Code.HEART_BEAT, Code.GET_CONSUMER_LIST_BY_GROUP, Code.QUERY_CONSUMER_OFFSET),
    *(Code.LOCK_BATCH_MQ, Code.UNLOCK_BATCH_MQ, Code.PULL_MESSAGE, Code.UPDATE_CONSUMER_OFFSET),
    Code.UNREGISTER_CLIENT,
)


def set_up_brokers(network: MemoryNetwork, *silent: str) -> None:
    """Set up a name server that knows both brokers, and silent brokers."""
    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a", "b", queues=2)))
    for address in silent:
        for code in ASKED:
            network.peer(address).on(code, None)


async def test_members_are_fetched_from_another_broker(autojump_clock: object) -> None:
    async with open_network() as network:
        set_up_brokers(network, A)
        network.peer(B).on(Code.GET_CONSUMER_LIST_BY_GROUP, MEMBERS)
        async with open_client(CONFIG, environment={}, connect=network.connect) as client:
            strategy = AllocateMessageQueueAveragely()
            rebalance = Rebalance(client, "g", MessageModel.CLUSTERING, strategy)
            for _ in range(8):  # whom it asks first is chance
                assert await rebalance.fetch_members("T") == ("1.1.1.1@i",)
            network.peer(B).on(Code.GET_CONSUMER_LIST_BY_GROUP, None)
            with pytest.raises(RequestTimeoutError):
                await rebalance.fetch_members("T")


@pytest.mark.parametrize("orderly", [False, True])
async def test_queues_of_other_brokers_are_consumed(autojump_clock: object, orderly: bool) -> None:
    """The one that hangs has the queues that come first.

    Each of its answers is waited for as long as any.
    """

    def lock(request: RemotingCommand) -> RemotingCommand:
        body = decode_body(LockBatchRequestBody, request.body or b"")
        assert body is not None
        return reply(body=LockBatchResponseBody(lock_ok_mq_set=body.mq_set))

    def pull(request: RemotingCommand) -> RemotingCommand:
        header = PullMessageResponseHeader(
            suggest_which_broker_id=0, next_begin_offset=1, min_offset=0, max_offset=1
        )
        message = StoredMessage(topic="T", body=b"x", queue_offset=0)
        return reply(header, body=encode_stored_message(message))

    times: list[float] = []
    received = trio.Event()

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        times.append(trio.current_time())
        received.set()

    async with open_network() as network:
        set_up_brokers(network, A)
        peer = network.peer(B)
        for code in ASKED:
            peer.on(code, reply())
        peer.on(Code.GET_CONSUMER_LIST_BY_GROUP, MEMBERS)
        peer.on(Code.QUERY_CONSUMER_OFFSET, reply(code=ResponseCode.QUERY_NOT_FOUND))
        peer.on(Code.LOCK_BATCH_MQ, lock)
        peer.on(Code.PULL_MESSAGE, pull)
        config = PushConsumerConfig(
            consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, pull_interval=60
        )
        listening: dict[str, Any] = {"orderly_listener" if orderly else "listener": listen}
        start = trio.current_time()
        async with (
            open_client(CONFIG, environment={}, connect=network.connect) as client,
            open_push_consumer(client, "g", {"T": "*"}, config=config, **listening),
        ):
            await received.wait()

    assert times[0] - start <= 3 * CONFIG.mq_client_api_timeout


async def test_a_message_to_the_retry_topic_has_the_number_of_attempts() -> None:
    properties = {"UNIQ_KEY": "ID", "TRAN_MSG": "true"}
    failed = StoredMessage(topic="orders", body=b"x", properties=properties, reconsume_times=2)
    async with world(namespace="ns") as (network, client):
        broker = network.peer(BROKER)
        header = SendMessageResponseHeader(msg_id="0" * 32, queue_id=0, queue_offset=1)
        broker.on(Code.SEND_MESSAGE_V2, reply(header))
        await send_to_retry_topic(client, "g", failed, 16)
        sent = await broker.asked(Code.SEND_MESSAGE_V2)
    assert decode_properties((sent.ext_fields or {})["i"]) == {
        "UNIQ_KEY": "ID",
        "ORIGIN_MESSAGE_ID": "ID",
        "RETRY_TOPIC": "orders",
        "RECONSUME_TIME": "3",
        "MAX_RECONSUME_TIMES": "16",
        "INSTANCE_ID": "ns",
        "DELAY": "5",
    }


@pytest.mark.parametrize("flavour", ["push", "pop", "lite pull"])
async def test_a_group_belongs_to_the_unit_of_its_client(flavour: str) -> None:
    async with world(unit_mode=True) as (_, client), consumer(flavour, client) as opened:
        member: Any = opened
        assert member.heartbeat().unit_mode

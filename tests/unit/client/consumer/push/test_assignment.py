"""The queues of a push consumer: the last request of a released queue is its unlock."""

from typing import Any

import pytest
import trio

from rocketwire.client import ClientConfig, open_client
from rocketwire.client.consumer.push.push_consumer import PushConsumer
from rocketwire.client.consumer.queues import LOCK_INTERVAL
from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, LockBatchResponseBody
from rocketwire.testing import open_network, reply
from rocketwire.wire.command import RemotingCommand
from tests.support.fakes.consumer_fakes import BROKER, NS, consumer, members, script, world


@pytest.mark.parametrize("leaves", [False, True], ids=["another member joins", "it closes"])
async def test_a_renewal_that_is_on_its_way_does_not_lock_a_released_queue_again(
    autojump_clock: object, leaves: bool
) -> None:
    handled: list[Code] = []

    async def lock(request: RemotingCommand) -> RemotingCommand:
        body = decode_body(LockBatchRequestBody, request.body) or LockBatchRequestBody()
        if trio.current_time() - started >= LOCK_INTERVAL:  # a renewal, in a thread that is late
            renewing.set()
            with trio.CancelScope(shield=True):
                await trio.sleep(2)
        handled.append(Code.LOCK_BATCH_MQ)
        return reply(body=LockBatchResponseBody(lock_ok_mq_set=body.mq_set))

    def unlock(_: RemotingCommand) -> RemotingCommand:
        handled.append(Code.UNLOCK_BATCH_MQ)
        return reply()

    started, renewing = trio.current_time(), trio.Event()
    async with world() as (network, client):
        broker = network.peer(BROKER)
        broker.on(Code.LOCK_BATCH_MQ, lock)
        broker.on(Code.UNLOCK_BATCH_MQ, unlock)
        async with consumer("orderly", client) as opened:
            assert isinstance(opened, PushConsumer)
            await renewing.wait()
            if not leaves:
                broker.on(Code.GET_CONSUMER_LIST_BY_GROUP, members("another"))
                opened.rebalance_soon()
                await trio.sleep(5)
                assert opened.assigned == ()
                assert handled[-1] is Code.UNLOCK_BATCH_MQ

    assert handled[-1] is Code.UNLOCK_BATCH_MQ
    assert Code.LOCK_BATCH_MQ in handled[handled.index(Code.LOCK_BATCH_MQ) + 1 :]


@pytest.mark.parametrize(
    ("names", "count", "text"),
    [
        ({"instance_name": "i"}, 1, "2 clients have the client id 1.1.1.1@i: they get the same"),
        ({}, 2, "the broker lists 2 connections of this client"),
    ],
)
async def test_a_duplicate_client_id_is_distinguished_from_two_clients(
    autojump_clock: object,
    names: dict[str, Any],
    count: int,
    text: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "rocketwire.client")
    config = ClientConfig(namesrv_addr=NS, client_ip="1.1.1.1", **names)
    async with open_network() as network:
        script(network)
        async with open_client(config, environment={}, connect=network.connect) as client:
            twice = members(client.client_id, client.client_id)
            network.peer(BROKER).on(Code.GET_CONSUMER_LIST_BY_GROUP, twice)
            async with consumer("concurrent", client) as opened:
                await trio.sleep(1)
                assert isinstance(opened, PushConsumer)
                assert sum(queue.topic == "orders" for queue in opened.assigned) == count
    assert [line for line in caplog.messages if "2 c" in line and text in line]
    assert ("clients have the client id" in caplog.text) == (count == 1)

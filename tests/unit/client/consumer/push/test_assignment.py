"""The queues of a push consumer: what a broker handles last when a queue is released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client.consumer.push.push_consumer import PushConsumer
from rocketwire.client.consumer.queue_locks import LOCK_INTERVAL
from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, LockBatchResponseBody
from rocketwire.testing import reply
from tests.support.fakes.consumer_fakes import BROKER, consumer, members, world

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand


@pytest.mark.parametrize("leaves", [False, True], ids=["another member joins", "it closes"])
async def test_a_renewal_that_is_on_its_way_does_not_lock_a_released_queue_again(
    autojump_clock: trio.abc.Clock, leaves: bool
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

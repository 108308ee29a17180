"""Polls of a lite pull consumer: two at once, paused queues, the end, and brokers without them."""

from collections.abc import Callable

import pytest
import trio
import trio.testing

from rocketwire.client.consumer.lite.lite_pull_consumer import (
    LitePullConsumer,
    LitePulls,
    open_lite_pull_consumer,
)
from rocketwire.client.consumer.pull import PullRequest, PullStatus
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelClosedError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import BROKER, PULLS, pull_response, world
from tests.support.fakes.producer_fakes import open_broker_and_client

QUEUE = MessageQueue(topic="orders", broker_name="b", queue_id=0)


async def test_a_message_for_each_of_two_polls_wakes_both(autojump_clock: object) -> None:
    brought: set[str] = set()

    async def pull(request: RemotingCommand) -> RemotingCommand:
        queue = (request.ext_fields or {})["queueId"]
        if queue in brought:
            await trio.sleep_forever()
        brought.add(queue)
        await trio.sleep(1 + int(queue))
        return pull_response(StoredMessage(topic="orders", body=b"x", queue_id=int(queue)))

    seconds: list[float] = []
    async with world() as (network, client):
        for code in PULLS:
            network.peer(BROKER).on(code, pull)
        network.peer(BROKER).on(Code.UPDATE_CONSUMER_OFFSET, reply())
        async with open_lite_pull_consumer(client, "g") as consumer, trio.open_nursery() as nursery:
            consumer.subscribe("orders")

            async def poll() -> None:
                assert await consumer.poll(100) is not None
                seconds.append(trio.current_time())

            nursery.start_soon(poll)
            nursery.start_soon(poll)
    assert len(seconds) == 2
    assert max(seconds) < 50


async def test_polls_end_with_the_consumer(autojump_clock: object) -> None:
    errors: list[BaseException] = []
    async with world() as (_, client), trio.open_nursery() as nursery:
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.subscribe("orders")

            async def poll() -> None:
                with pytest.raises(ChannelClosedError) as closed:
                    await consumer.poll(1000)
                errors.append(closed.value)

            nursery.start_soon(poll)
            nursery.start_soon(poll)
            await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(ChannelClosedError):
            await consumer.poll(1000)
        await trio.testing.wait_all_tasks_blocked()
    assert len(errors) == 2
    assert trio.current_time() < 500


def stay(_: LitePullConsumer) -> None:
    """Leave the consumer where it is."""


def go_back(consumer: LitePullConsumer) -> None:
    """Let the consumer begin again."""
    consumer.go_back(QUEUE, 0)


@pytest.mark.parametrize("move", [stay, go_back])
async def test_a_queue_is_paused_until_it_is_resumed(
    autojump_clock: object, move: Callable[[LitePullConsumer], None]
) -> None:
    async def pull(request: RemotingCommand) -> RemotingCommand:
        await trio.sleep(1 if (request.ext_fields or {})["queueOffset"] == "0" else 1000)
        return pull_response(StoredMessage(topic="orders", body=b"x"))

    async with world() as (network, client):
        network.peer(BROKER).on(Code.LITE_PULL_MESSAGE, pull)
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.assign([QUEUE])
            await trio.testing.wait_all_tasks_blocked()
            consumer.pause([QUEUE])
            move(consumer)
            while_paused = await consumer.poll(5)
            consumer.resume([QUEUE])
            afterwards = await consumer.poll(5)

    assert while_paused is None
    assert afterwards is not None


REQUEST = PullRequest(
    queue=MessageQueue(topic="T", broker_name="a", queue_id=0),
    offset=0,
    group="g",
    subscription=subscription_data("T", version=1),
    send_subscription=True,
)


async def test_a_broker_without_lite_pulls_gets_plain_ones_from_then_on() -> None:
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.LITE_PULL_MESSAGE, reply(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
        broker.on(Code.PULL_MESSAGE, pull_response(begin=0))
        pulls = LitePulls(client)
        results = [await pulls.pull(REQUEST) for _ in range(2)]

    assert [result.status for result in results] == [PullStatus.NO_NEW_MSG] * 2
    assert broker.codes() == [Code.LITE_PULL_MESSAGE, Code.PULL_MESSAGE, Code.PULL_MESSAGE]


async def test_other_refusals_of_lite_pulls_are_errors() -> None:
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.LITE_PULL_MESSAGE, reply(code=ResponseCode.NO_PERMISSION))
        with pytest.raises(BrokerError):
            await LitePulls(client).pull(REQUEST)
    assert broker.codes() == [Code.LITE_PULL_MESSAGE]

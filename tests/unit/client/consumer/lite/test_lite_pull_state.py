"""Lite pulls find brokers that know none."""

from __future__ import annotations

import pytest

from rocketwire.client import ClientConfig, open_client
from rocketwire.client.consumer.lite.lite_pull_state import LitePulls
from rocketwire.client.consumer.pull import PullRequest, PullStatus
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.policy.subscription import subscription_data
from rocketwire.testing import open_network, reply
from tests.support.fakes.producer_fakes import NS, A, route

REQUEST = PullRequest(
    queue=MessageQueue(topic="T", broker_name="a", queue_id=0),
    offset=0,
    group="g",
    subscription=subscription_data("T", version=1),
    send_subscription=True,
)
NOTHING = reply(
    PullMessageResponseHeader(
        suggest_which_broker_id=0, next_begin_offset=0, min_offset=0, max_offset=0
    ),
    code=ResponseCode.PULL_NOT_FOUND,
)


async def test_a_broker_without_lite_pulls_gets_plain_ones_from_then_on() -> None:
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
        broker = network.peer(A)
        broker.on(Code.LITE_PULL_MESSAGE, reply(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
        broker.on(Code.PULL_MESSAGE, NOTHING)
        config = ClientConfig(namesrv_addr=NS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            pulls = LitePulls(client)
            results = [await pulls.pull(REQUEST) for _ in range(2)]

    assert [one.status for one in results] == [PullStatus.NO_NEW_MSG] * 2
    assert [one.code for one in broker.requests] == [
        Code.LITE_PULL_MESSAGE,
        Code.PULL_MESSAGE,
        Code.PULL_MESSAGE,
    ]


async def test_other_refusals_of_lite_pulls_are_errors() -> None:
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
        broker = network.peer(A)
        broker.on(Code.LITE_PULL_MESSAGE, reply(code=ResponseCode.NO_PERMISSION))
        config = ClientConfig(namesrv_addr=NS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            with pytest.raises(BrokerError):
                await LitePulls(client).pull(REQUEST)
    assert [one.code for one in broker.requests] == [Code.LITE_PULL_MESSAGE]

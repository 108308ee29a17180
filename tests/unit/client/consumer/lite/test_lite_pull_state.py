"""Lite pulls find brokers that know none."""

import pytest

from rocketwire.client.consumer.lite.lite_pull_consumer import LitePulls
from rocketwire.client.consumer.pull import PullRequest, PullStatus
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire.testing import reply
from tests.support.fakes.consumer_fakes import pull_response
from tests.support.fakes.producer_fakes import open_broker_and_client

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

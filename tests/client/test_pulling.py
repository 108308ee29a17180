"""What a pull asks, from one pull of a queue to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from rocketwire.client.calls import Answer
from rocketwire.client.config import ClientConfig
from rocketwire.client.pulling import PullCalls, PullRequest, PullStatus, pull_header
from rocketwire.client.routes import FoundBroker
from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.messages import encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.command import RemotingCommand

if TYPE_CHECKING:
    from rocketwire.client.instance import ClientInstance

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=3)
ALL = subscription_data("T", version=5)
FIRST = PullRequest(queue=QUEUE, offset=0, group="g", subscription=ALL, max_msg_bytes=262_144)


@dataclass
class Instance:
    """Has one broker, which answers nothing but where to go on, and remembers what it was asked."""

    config: ClientConfig
    broker_id: int = 0

    def __post_init__(self) -> None:
        self.brokers = self
        self.asked: list[tuple[int, dict[str, str]]] = []

    async def replica(self, _: str, broker_id: int, *, topic: str | None) -> FoundBroker:
        assert topic == "T"
        return FoundBroker("b:10911", broker_id)

    async def call(self, _: str, code: int, header: dict[str, str], **__: Any) -> Answer:
        self.asked.append((code, header))
        told = PullMessageResponseHeader(
            suggest_which_broker_id=self.broker_id,
            next_begin_offset=7,
            min_offset=0,
            max_offset=9,
        )
        return Answer(told, None, RemotingCommand(code=ResponseCode.PULL_NOT_FOUND))


@pytest.mark.parametrize("form", SerializeType)
async def test_each_pull_says_what_its_header_says_whatever_the_one_before_said(
    form: SerializeType,
) -> None:
    instance = Instance(ClientConfig(namesrv_addr="n:9876", serialize_type=form))
    calls = PullCalls(cast("ClientInstance", instance))
    tags = subscription_data("T", "a || b", version=6)
    requests = [
        FIRST,
        replace(FIRST, offset=32),
        replace(FIRST, offset=64, commit_offset=32),
        replace(FIRST, offset=2**63 - 1, commit_offset=64),
        replace(FIRST, offset=96),
        replace(FIRST, offset=128, subscription=tags, send_subscription=True),
        replace(FIRST, offset=160, subscription=tags, suspend_timeout=0.0),
        replace(FIRST, offset=192, lite=True),
        replace(FIRST, offset=224, group="h", max_msg_nums=1, max_msg_bytes=None),
        replace(FIRST, offset=1, queue=replace(QUEUE, queue_id=4)),
        replace(FIRST, offset=256),
    ]
    for request in requests:
        result = await calls.pull(request)
        assert (result.status, result.next_begin_offset) == (PullStatus.NO_NEW_MSG, 7)
        expected = encode_header(pull_header(request, to_slave=False), serialize_type=form)
        code, fields = instance.asked[-1]
        assert fields == expected
        assert list(fields) == list(expected)
        assert code == (RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE)


async def test_a_slave_is_told_no_offsets_once_it_was_suggested() -> None:
    instance = Instance(ClientConfig(namesrv_addr="n:9876"), broker_id=1)
    calls = PullCalls(cast("ClientInstance", instance))
    request = replace(FIRST, commit_offset=5)
    for to_slave in (False, True):
        await calls.pull(request)
        assert instance.asked[-1][1] == encode_header(pull_header(request, to_slave=to_slave))
    calls.forget(QUEUE)
    await calls.pull(request)
    assert instance.asked[-1][1] == encode_header(pull_header(request, to_slave=False))

"""Every way to handle messages restores the topic of retried messages."""

from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing

from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
from rocketwire.client.consumer.push.lending import LentConsumption, LentMessages
from rocketwire.client.consumer.push.orderly import OrderlyConsumption
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import push_parts


class Handlers:
    """Handles messages in all ways, and keeps their topics."""

    handles = True

    def __init__(self) -> None:
        self.topics: list[str] = []

    async def listener(self, messages: Sequence[StoredMessage], _: object) -> None:
        self.topics += [message.topic for message in messages]

    def receive(self, parts: Sequence[LentMessages]) -> None:
        self.topics += [message.topic for part in parts for message in part.messages]

    def take_settled(self) -> tuple[()]:
        return ()

    async def lock(self, queues: list[MessageQueue]) -> list[MessageQueue]:
        return queues

    def update(self, *_: object, **__: object) -> None:
        """Offsets are not looked at."""


@pytest.mark.parametrize(
    "consumption_class", [ConcurrentConsumption, OrderlyConsumption, LentConsumption]
)
async def test_retried_messages_have_the_topic_they_were_sent_to(
    autojump_clock: object, consumption_class: Any
) -> None:
    queue = MessageQueue(topic="%RETRY%g", broker_name="b", queue_id=0)
    message = StoredMessage(topic="%RETRY%g", body=b"x", properties={"RETRY_TOPIC": "T"})
    window = ProcessQueue(now=trio.current_time())
    window.put([message])
    handlers = Handlers()
    async with background() as nursery:
        parts = push_parts(nursery, handlers, locks=handlers)
        borrower: Any = (handlers,) if consumption_class is LentConsumption else ()
        consumption = consumption_class(parts, handlers.listener, *borrower)
        consumption.start()
        consumption.submit(queue, window, [message])
        await trio.testing.wait_all_tasks_blocked()

    assert handlers.topics == ["T"]

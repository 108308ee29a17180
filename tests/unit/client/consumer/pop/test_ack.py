"""Acknowledgements of popped messages: batches, and brokers that do not support them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import pytest
import trio
import trio.testing

from rocketwire.client.consumer.pop.ack import Acknowledgements
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelBrokenError, RocketWireError
from rocketwire.messages.message_const import POP_CK
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from rocketwire.client.consumer.pop.pop import PopCalls

UNKNOWN = int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


def popped(offset: int, *, broker: str = "a", topic: str = "T") -> StoredMessage:
    handle = f"0 1700000000000 60000 3 0 {broker} 0 {offset}"
    return StoredMessage(topic=topic, queue_offset=offset, properties={POP_CK: handle})


class Broker:
    """Takes a second over each request, and remembers the offsets of each.

    Attributes:
        asked: by request the offsets; a number alone came by itself.
        refuses: what it answers requests of several messages with; 0 for success.
        refuses_one: likewise of a single message.
        is_gone: whether it answers nothing.
    """

    def __init__(self) -> None:
        self.asked: list[int | list[int]] = []
        self.refuses = 0
        self.refuses_one = 0
        self.is_gone = False

    async def ack(self, message: StoredMessage) -> None:
        await trio.sleep(1)
        self.asked.append(message.queue_offset)
        self._refuse(self.refuses_one, RequestCode.ACK_MESSAGE)

    async def batch_ack(self, messages: Iterable[StoredMessage]) -> None:
        await trio.sleep(1)
        self.asked.append([message.queue_offset for message in messages])
        self._refuse(self.refuses, RequestCode.BATCH_ACK_MESSAGE)

    def _refuse(self, code: int, request: int) -> None:
        if self.is_gone:
            raise ChannelBrokenError("the peer closed the connection")
        if code:
            raise BrokerError(code, "no", request, "a:1")


class Handled:
    """Messages that are handled in this order, and what came of it."""

    def __init__(self, broker: Broker) -> None:
        self.all = Acknowledgements(cast("PopCalls", broker))
        self.failed: list[int] = []

    async def one(self, message: StoredMessage) -> None:
        try:
            await self.all.ack(message)
        except RocketWireError:
            self.failed.append(message.queue_offset)

    async def start(self, nursery: trio.Nursery, *messages: StoredMessage) -> None:
        for message in messages:
            nursery.start_soon(self.one, message)
            await trio.testing.wait_all_tasks_blocked()


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def handled(broker: Broker) -> Handled:
    return Handled(broker)


async def test_what_is_handled_while_a_request_travels_goes_with_the_next_one(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(4)))
        await trio.sleep(1.5)
        await handled.start(nursery, *map(popped, (4, 5)))
    await handled.one(popped(6))

    assert broker.asked == [0, [1, 2, 3], [4, 5], 6]
    assert trio.current_time() >= 4
    assert handled.failed == []


async def test_topics_and_brokers_do_not_wait_for_each_other(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        messages = (popped(1), popped(2, broker="b"), popped(3, topic="U"))
        await handled.start(nursery, *messages)

    assert trio.current_time() - began < 1.5
    assert sorted(map(str, broker.asked)) == ["1", "2", "3"]


async def test_a_broker_without_batch_acks_gets_single_ones_from_then_on(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    broker.refuses = UNKNOWN
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3)))
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3, 6)))

    assert broker.asked[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.asked[2:])) == [*"12345"]
    assert handled.failed == []


async def test_a_rejected_batch_is_sent_one_by_one_and_the_next_together(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    broker.refuses = int(ResponseCode.NO_PERMISSION)
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3)))
    broker.refuses = 0
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3, 6)))

    assert broker.asked[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.asked[2:4])) == ["1", "2"]
    assert broker.asked[4:] == [3, [4, 5]]
    assert handled.failed == []


async def test_a_request_that_fails_fails_for_all_its_messages_and_for_no_others(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    broker.is_gone = True
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3)))
    broker.is_gone = False
    broker.refuses_one = UNKNOWN  # a broker that cannot be popped at all
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, *map(popped, range(3, 6)))

    assert broker.asked == [0, [1, 2], 3, [4, 5]]
    assert sorted(handled.failed) == [0, 1, 2, 3]


async def test_if_the_one_that_asks_is_cancelled_another_one_asks(
    broker: Broker, handled: Handled, autojump_clock: object
) -> None:
    async with trio.open_nursery() as nursery:
        await handled.start(nursery, popped(0))
        with trio.move_on_after(1.5):
            async with trio.open_nursery() as cancelled:
                await handled.start(cancelled, popped(1))
                await handled.start(nursery, popped(2), popped(3))

    assert broker.asked == [0, [1, 2, 3]]
    assert handled.failed == []

"""Acknowledgements of popped messages: batches, and brokers that do not support them."""

from collections.abc import Iterable
from typing import cast

import pytest
import trio
import trio.testing

from rocketwire.client.consumer.pop.pop import Acknowledgements, PopCalls
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelBrokenError, RocketWireError
from rocketwire.messages.message_const import POP_CK
from rocketwire.wire.message.stored import StoredMessage

UNKNOWN = int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


def pop_message(offset: int, *, broker: str = "a", topic: str = "T") -> StoredMessage:
    handle = f"0 1700000000000 60000 3 0 {broker} 0 {offset}"
    return StoredMessage(topic=topic, queue_offset=offset, properties={POP_CK: handle})


class Broker:
    """Takes a second for each request."""

    def __init__(self) -> None:
        #: the offset of each single acknowledgement, the offsets of each batch
        self.requests: list[int | list[int]] = []
        self.batch_code = 0  #: code of the responses to batches
        self.single_code = 0  #: code of the responses to single acknowledgements
        self.is_down = False  #: whether it is silent

    async def ack(self, message: StoredMessage) -> None:
        await trio.sleep(1)
        self.requests.append(message.queue_offset)
        self._refuse(self.single_code, RequestCode.ACK_MESSAGE)

    async def batch_ack(self, messages: Iterable[StoredMessage]) -> None:
        await trio.sleep(1)
        self.requests.append([message.queue_offset for message in messages])
        self._refuse(self.batch_code, RequestCode.BATCH_ACK_MESSAGE)

    def _refuse(self, code: int, request: int) -> None:
        if self.is_down:
            raise ChannelBrokenError("the peer closed the connection")
        if code:
            raise BrokerError(code, "no", request, "a:1")


class Consumer:
    """Acknowledges messages in their order, and records those that fail."""

    def __init__(self, broker: Broker) -> None:
        self.acknowledgements = Acknowledgements(cast("PopCalls", broker))
        self.failed: list[int] = []

    async def handle(self, message: StoredMessage) -> None:
        try:
            await self.acknowledgements.ack(message)
        except RocketWireError:
            self.failed.append(message.queue_offset)

    async def start(self, nursery: trio.Nursery, *messages: StoredMessage) -> None:
        for message in messages:
            nursery.start_soon(self.handle, message)
            await trio.testing.wait_all_tasks_blocked()

    async def handle_all(self, *messages: StoredMessage) -> None:
        async with trio.open_nursery() as nursery:
            await self.start(nursery, *messages)


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def consumer(broker: Broker) -> Consumer:
    return Consumer(broker)


async def test_waiting_acks_are_a_batch(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    async with trio.open_nursery() as nursery:
        await consumer.start(nursery, *map(pop_message, range(4)))
        await trio.sleep(1.5)
        await consumer.start(nursery, *map(pop_message, (4, 5)))
    await consumer.handle(pop_message(6))

    assert broker.requests == [0, [1, 2, 3], [4, 5], 6]
    assert trio.current_time() >= 4
    assert consumer.failed == []


async def test_topics_and_brokers_do_not_wait_for_each_other(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    start = trio.current_time()
    messages = (pop_message(1), pop_message(2, broker="b"), pop_message(3, topic="U"))
    await consumer.handle_all(*messages)

    assert trio.current_time() - start < 1.5
    assert sorted(map(str, broker.requests)) == ["1", "2", "3"]


async def test_a_broker_without_batch_acks_gets_single_ones_from_then_on(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.batch_code = UNKNOWN
    await consumer.handle_all(*map(pop_message, range(3)))
    await consumer.handle_all(*map(pop_message, range(3, 6)))

    assert broker.requests[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.requests[2:])) == [*"12345"]
    assert consumer.failed == []


async def test_a_rejected_batch_is_sent_one_by_one_and_the_next_together(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.batch_code = int(ResponseCode.NO_PERMISSION)
    await consumer.handle_all(*map(pop_message, range(3)))
    broker.batch_code = 0
    await consumer.handle_all(*map(pop_message, range(3, 6)))

    assert broker.requests[:2] == [0, [1, 2]]
    assert sorted(map(str, broker.requests[2:4])) == ["1", "2"]
    assert broker.requests[4:] == [3, [4, 5]]
    assert consumer.failed == []


async def test_a_failed_request_fails_for_its_messages_only(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    broker.is_down = True
    await consumer.handle_all(*map(pop_message, range(3)))
    broker.is_down = False
    broker.single_code = UNKNOWN  # a broker that cannot be popped at all
    await consumer.handle_all(*map(pop_message, range(3, 6)))

    assert broker.requests == [0, [1, 2], 3, [4, 5]]
    assert sorted(consumer.failed) == [0, 1, 2, 3]


async def test_a_cancelled_ack_is_sent(
    autojump_clock: object, broker: Broker, consumer: Consumer
) -> None:
    async with trio.open_nursery() as nursery:
        await consumer.start(nursery, pop_message(0))
        with trio.move_on_after(1.5):
            async with trio.open_nursery() as cancelled:
                await consumer.start(cancelled, pop_message(1))
                await consumer.start(nursery, pop_message(2), pop_message(3))

    assert broker.requests == [0, [1, 2, 3]]
    assert consumer.failed == []

"""Parts of batches on loan: their sizes, their number and their settlement."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    PushConsumerConfig,
    count_successes,
)
from rocketwire.client.consumer.push.lending import (
    FAST,
    MAX_PART,
    MIN_PARTS,
    SLOW,
    Failure,
    LentConsumption,
    LentMessages,
    Settled,
    failed_messages,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import RecordedOffsets, push_parts

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=0)


class Library:
    """A consumption that lends parts, and these parts."""

    def __init__(self, nursery: trio.Nursery, *, handles: bool, **settings: Any) -> None:
        self.handles = handles
        self.nursery = nursery
        self.lent: list[LentMessages] = []
        self.settled: list[tuple[LentMessages, Sequence[Failure]]] = []
        self.offsets = RecordedOffsets()
        self.window = ProcessQueue(now=trio.current_time())
        parts = push_parts(nursery, self.offsets, config=PushConsumerConfig(**settings))
        self.consumption = LentConsumption(parts, cast("Any", None), self)
        self.consumption.start()

    def receive(self, parts: Sequence[LentMessages]) -> None:
        self.lent += parts

    def take_settled(self) -> Settled:
        settled, self.settled = self.settled, []
        return settled

    def bring(self, *offsets: int) -> None:
        messages = [StoredMessage(topic="T", queue_offset=offset, body=b"x") for offset in offsets]
        self.window.put(messages)
        self.consumption.submit(QUEUE, self.window, messages)

    def sizes(self) -> list[int]:
        """Sizes of the parts that were lent since the last call, which are settled."""
        parts, self.lent = self.lent, []
        self.consumption.settle_parts([(part, ()) for part in parts])
        return [len(part.messages) for part in parts]


@asynccontextmanager
async def open_library(
    messages: int, *, handles: bool = False, threads: int = 1
) -> AsyncGenerator[Library]:
    """A consumption that lends, after a pull of messages."""
    async with background() as nursery:
        library = Library(nursery, handles=handles, consume_thread_max=threads)
        library.bring(*range(messages))
        yield library


async def test_parts_grow_with_the_speed_of_handlers(mock_clock: trio.testing.MockClock) -> None:
    async with open_library(500, handles=True) as library:
        assert [library.sizes() for _ in range(7)] == [[1], [2], [4], [8], [16], [32], [32]]
        mock_clock.jump(2 * FAST)
        assert library.sizes() == [MAX_PART]
        assert library.sizes() == [MAX_PART // 2]


async def test_there_is_one_part_for_each_handler() -> None:
    async with open_library(5, handles=True, threads=3) as library:
        assert [part.messages[0].queue_offset for part in library.lent] == [0, 1, 2]
        assert [part.is_awaited for part in library.lent] == [False, False, True]
        first = library.lent.pop(0)
        library.consumption.settle_parts([(first, ())])
        assert [part.messages[0].queue_offset for part in library.lent] == [1, 2, 3]
        assert library.offsets.updates == [1]


async def test_a_slow_application_gets_fewer_parts(mock_clock: trio.testing.MockClock) -> None:
    async with open_library(MAX_PART * 30, threads=16) as library:
        mock_clock.jump(2 * SLOW)
        assert library.sizes() == [MAX_PART] * 16
        assert len(library.lent) == MIN_PARTS


async def test_messages_leave_the_window_when_their_part_is_settled() -> None:
    async with open_library(MAX_PART * 2, threads=2) as library:
        first, second = library.lent
        library.consumption.settle_parts([(second, ())])
        assert library.offsets.updates == [0]
        library.consumption.settle_parts([(first, ()), (first, ())])
        assert library.offsets.updates == [0, MAX_PART * 2]
        assert library.window.count == 0


async def test_messages_that_are_pulled_bring_the_settled_parts_along() -> None:
    async with open_library(MAX_PART) as library:
        library.settled.append((library.lent.pop(), ()))
        library.bring(*range(MAX_PART, 2 * MAX_PART))
        assert library.offsets.updates == [MAX_PART]
        assert [part.messages[0].queue_offset for part in library.lent] == [MAX_PART]


@pytest.mark.parametrize("is_end", [True, False], ids=["the end", "a dropped queue"])
async def test_nothing_more_is_lent(autojump_clock: object, is_end: bool) -> None:
    async with open_library(2, handles=True) as library:
        if is_end:
            library.nursery.start_soon(library.consumption.settle, 30)
            await trio.testing.wait_all_tasks_blocked()
        else:
            library.window.retiring = True
        assert library.sizes() == [1]
        assert library.sizes() == []


async def test_the_end_takes_settled_parts_that_were_not_delivered(autojump_clock: object) -> None:
    async with open_library(2) as library:
        library.settled.append((library.lent[0], ()))
        await library.consumption.settle(30)
        assert library.offsets.updates == [2]
        assert trio.current_time() < 1


async def test_parts_settled_after_the_end_have_no_effect(autojump_clock: object) -> None:
    async with open_library(2) as library:
        (part,) = library.lent
        await library.consumption.settle(0)
    rejected: Any = [(part.messages, ConsumeConcurrentlyContext(message_queue=QUEUE))]
    library.settled.append((part, rejected))
    library.consumption.settle_later(1, library.take_settled)
    library.consumption.settle_parts([(part, rejected)])
    await trio.sleep(2)

    assert library.offsets.updates == []
    assert len(library.settled) == 1


async def test_the_end_does_not_wait_for_a_part_that_is_given_up(autojump_clock: object) -> None:
    async with open_library(1, handles=True) as library:
        library.nursery.start_soon(library.consumption.settle, 30)
        await trio.testing.wait_all_tasks_blocked()
        library.consumption.abandon(library.lent[0])
        await trio.testing.wait_all_tasks_blocked()
        assert trio.current_time() < 1
        library.consumption.settle_parts([(library.lent[0], ())])
        assert library.offsets.updates == []


async def test_parts_are_settled_later(autojump_clock: object) -> None:
    async with open_library(2) as library:
        library.consumption.settle_later(5, library.take_settled)
        library.settled.append((library.lent[0], ()))
        await trio.sleep(4)
        assert library.offsets.updates == []
        await trio.sleep(2)
        assert library.offsets.updates == [2]


@pytest.mark.parametrize(("ack_index", "successes"), [(None, 3), (0, 1), (-5, 0), (9, 3)])
def test_messages_after_the_ack_index_are_rejected(ack_index: int | None, successes: int) -> None:
    messages: Any = ["a", "b", "c"]
    context = ConsumeConcurrentlyContext(message_queue=QUEUE, ack_index=ack_index)
    later = ConsumeConcurrentlyStatus.RECONSUME_LATER

    assert count_successes(3, None, context) == successes
    assert count_successes(3, later, context) == 0
    assert failed_messages(messages, None, context) == messages[successes:]
    assert failed_messages(messages, later, context) == messages

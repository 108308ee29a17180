"""Orderly handlers: one at a time for a queue, with turns for other queues."""

from collections.abc import Sequence

import trio

from rocketwire.client.consumer.config import ConsumeOrderlyContext, MessageListenerOrderly
from rocketwire.client.consumer.push.orderly import OrderlyConsumption
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import RecordedOffsets, push_parts


class Locks:
    """Gives every lock."""

    def __init__(self) -> None:
        self.calls = 0

    async def lock(self, queues: list[MessageQueue]) -> list[MessageQueue]:
        await trio.lowlevel.checkpoint()
        self.calls += 1
        return queues


class Consumption:
    """A consumption with several windows."""

    def __init__(self, nursery: trio.Nursery, listener: MessageListenerOrderly) -> None:
        self.offsets = RecordedOffsets(increase_only=False)
        self.locks = Locks()
        self.windows: dict[MessageQueue, ProcessQueue] = {}
        self.orderly = OrderlyConsumption(
            push_parts(nursery, self.offsets, locks=self.locks), listener
        )

    def bring(self, number: int, count: int) -> MessageQueue:
        queue = MessageQueue(topic="T", broker_name="b", queue_id=number)
        window = self.windows[queue] = ProcessQueue(now=trio.current_time())
        messages = [
            StoredMessage(topic="T", queue_id=number, queue_offset=offset)
            for offset in range(count)
        ]
        assert window.put(messages)
        self.orderly.submit(queue, window, messages)
        return queue


async def test_queues_with_fast_handlers_take_turns_in_order(autojump_clock: object) -> None:
    handled: list[tuple[int, int]] = []

    async def listener(messages: Sequence[StoredMessage], _: ConsumeOrderlyContext) -> None:
        handled.extend((message.queue_id, message.queue_offset) for message in messages)

    async with background() as nursery:
        consumption = Consumption(nursery, listener)
        queues = [consumption.bring(number, 200) for number in range(2)]
        await trio.testing.wait_all_tasks_blocked()
        for number, queue in enumerate(queues):
            assert [offset for at_queue, offset in handled if at_queue == number] == list(
                range(200)
            )
            assert consumption.offsets.by_queue[queue] == 200
            assert consumption.windows[queue].count == 0
        assert {queue_id for queue_id, _ in handled[:200]} == {0, 1}
        assert consumption.locks.calls == 2


async def test_a_failed_orderly_message_is_retried_first(autojump_clock: object) -> None:
    tries: list[tuple[int, int]] = []

    async def listener(messages: Sequence[StoredMessage], _: ConsumeOrderlyContext) -> None:
        message = messages[0]
        tries.append((message.queue_offset, message.reconsume_times))
        if message.queue_offset == 1 and not message.reconsume_times:
            raise ValueError("not today")

    async with background() as nursery:
        consumption = Consumption(nursery, listener)
        queue = consumption.bring(0, 3)
        await trio.testing.wait_all_tasks_blocked()
        assert consumption.offsets.by_queue[queue] == 1
        await trio.sleep(2)
        assert tries == [(0, 0), (1, 0), (1, 1), (2, 0)]
        assert consumption.offsets.by_queue[queue] == 3


async def test_the_message_of_a_cancelled_handler_waits_again(autojump_clock: object) -> None:
    async def listener(messages: Sequence[StoredMessage], _: ConsumeOrderlyContext) -> None:
        if messages[0].queue_offset == 1:
            await trio.sleep_forever()

    async with background() as nursery:
        consumption = Consumption(nursery, listener)
        queue = consumption.bring(0, 3)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert consumption.offsets.by_queue[queue] == 1
    assert consumption.windows[queue].first_offset == 1

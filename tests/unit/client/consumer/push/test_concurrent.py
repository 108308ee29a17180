"""Concurrent handlers: when messages leave the process queue, and which worker handles them."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    PushConsumerConfig,
)
from rocketwire.client.consumer.push.concurrent import (
    SHORT_TURN,
    ConcurrentConsumption,
    notify_before_wait,
)
from rocketwire.client.consumer.push.consumption import TURN
from rocketwire.client.consumer.stats import ConsumerStats
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import RecordedOffsets, push_parts

Listener = Callable[
    [Sequence[StoredMessage], ConsumeConcurrentlyContext],
    Awaitable[ConsumeConcurrentlyStatus | None],
]


QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=0)


class Consumption:
    """A consumption with one window."""

    def __init__(self, nursery: trio.Nursery, listener: Listener, **settings: Any) -> None:
        self.offsets = RecordedOffsets()
        self.stats = ConsumerStats()
        self.window = ProcessQueue(now=trio.current_time())
        config = PushConsumerConfig(**settings)
        parts = push_parts(nursery, self.offsets, config=config, stats=self.stats)
        self.concurrent = ConcurrentConsumption(parts, listener)
        self.concurrent.start()

    def bring(self, *offsets: int) -> None:
        messages = [StoredMessage(topic="T", queue_offset=offset, body=b"x") for offset in offsets]
        self.window.put(messages)
        self.concurrent.submit(QUEUE, self.window, messages)


@asynccontextmanager
async def open_consumption(listener: Listener, **settings: Any) -> AsyncGenerator[Consumption]:
    async with background() as nursery:
        yield Consumption(nursery, listener, **settings)


async def test_messages_of_fast_handlers_leave_together(autojump_clock: object) -> None:
    handled: list[int] = []

    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        handled.extend(message.queue_offset for message in messages)

    async with open_consumption(listener) as consumption:
        consumption.bring(*range(32))
        consumption.bring(*range(32, 100))
        await trio.testing.wait_all_tasks_blocked()
        assert handled == list(range(100))
        assert consumption.window.count == consumption.window.size == 0
        assert consumption.offsets.updates[-1] == 100
        assert len(consumption.offsets.updates) < 10
        assert consumption.stats.status("T", trio.current_time()).consume_oktps == 100 / 60


@pytest.mark.parametrize(("duration", "limit"), [(0.0, 9), (2 * SHORT_TURN / TURN, 2)])
async def test_other_tasks_run_between_slow_handlers(
    mock_clock: trio.testing.MockClock, duration: float, limit: int
) -> None:
    turns: list[str] = []

    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        mock_clock.jump(duration)
        turns.append(".")

    async with open_consumption(listener, consume_thread_max=1) as consumption:
        await trio.testing.wait_all_tasks_blocked()
        consumption.bring(*range(9 * TURN))
        while consumption.window.count:
            await trio.lowlevel.checkpoint()
            turns.append(" ")
        handled = "".join(turns).split()
        assert sum(map(len, handled)) == 9 * TURN
        assert max(map(len, handled)) <= limit * TURN  # of two tasks that can run, either is first
        assert (len(handled) == 1) is (duration == 0)


async def test_offsets_are_committed_while_a_handler_waits(autojump_clock: object) -> None:
    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        if messages[0].queue_offset == 3:
            await trio.sleep_forever()

    async with open_consumption(listener, consume_thread_max=1) as consumption:
        consumption.bring(0, 1, 2, 3, 4)
        await trio.testing.wait_all_tasks_blocked()
        assert consumption.offsets.updates == [3]
        assert consumption.window.count == 2
        await trio.sleep(11)
        stuck = consumption.window.oldest_expired(now=trio.current_time(), timeout=10)
        assert stuck is not None
        assert stuck.queue_offset == 3


async def test_the_handler_of_a_dropped_queue_commits_nothing(autojump_clock: object) -> None:
    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        consumption.window.dropped = True

    async with open_consumption(listener) as consumption:
        consumption.bring(0)
        await trio.testing.wait_all_tasks_blocked()

    assert consumption.window.count == 0
    assert consumption.offsets.updates == []


async def test_handlers_wait_concurrently_up_to_the_limit(autojump_clock: object) -> None:
    handled: list[int] = []
    highest, running = 0, 0

    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        nonlocal highest, running
        running += 1
        highest = max(highest, running)
        await trio.sleep(1)
        handled.append(messages[0].queue_offset)
        running -= 1

    async with open_consumption(listener, consume_thread_max=4) as consumption:
        started = trio.current_time()
        consumption.bring(*range(12))
        await trio.sleep(3.5)
        assert highest == 4
        assert sorted(handled) == list(range(12))
        assert consumption.offsets.updates[-1] == 12
        assert trio.current_time() - started < 4


async def test_batches_have_the_configured_size_and_partial_results(autojump_clock: object) -> None:
    handled: list[list[int]] = []

    async def listener(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        handled.append([message.queue_offset for message in messages])
        context.ack_index = 0

    async with open_consumption(
        listener, consume_message_batch_max_size=2, message_model=MessageModel.BROADCASTING
    ) as consumption:
        consumption.bring(0, 1, 2, 3, 4)
        await trio.testing.wait_all_tasks_blocked()
        assert handled == [[0, 1], [2, 3], [4]]
        assert consumption.offsets.updates[-1] == 5
        status = consumption.stats.status("T", trio.current_time())
        assert (status.consume_oktps, status.consume_failed_msgs) == (3 / 60, 2)


async def test_a_message_that_cannot_be_sent_back_is_retried_locally(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[tuple[int, int]] = []

    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        message = messages[0]
        tries.append((message.queue_offset, message.reconsume_times))
        if message.queue_offset == 1 and not message.reconsume_times:
            raise ValueError("not today")

    async def refuse(*_: object, **__: object) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    monkeypatch.setattr(ConcurrentConsumption, "send_back", refuse)
    async with open_consumption(listener) as consumption:
        consumption.bring(0, 1, 2)
        await trio.testing.wait_all_tasks_blocked()
        assert tries == [(0, 0), (1, 0), (2, 0)]
        assert consumption.offsets.updates[-1] == 1
        await trio.sleep(6)
        assert tries[-1] == (1, 1)
        assert consumption.offsets.updates[-1] == 3


@pytest.mark.parametrize("is_queue", [True, False], ids=["a dropped queue", "the consumer ends"])
async def test_running_handlers_finish_at_the_end(autojump_clock: object, is_queue: bool) -> None:
    handled: list[int] = []

    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        handled.append(messages[0].queue_offset)
        await trio.sleep(2)

    async with open_consumption(listener, consume_thread_max=2) as consumption:
        consumption.bring(*range(9))
        await trio.testing.wait_all_tasks_blocked()
        if is_queue:
            consumption.window.retiring = True
            assert not await consumption.concurrent.settle_queue(QUEUE, consumption.window, 1)
            assert await consumption.concurrent.settle_queue(QUEUE, consumption.window, 9)
        else:
            await consumption.concurrent.settle(5)
        assert handled == [0, 1]
        assert consumption.offsets.updates[-1] == 2


async def test_messages_of_a_cancelled_handler_stay_in_the_window(autojump_clock: object) -> None:
    async def listener(messages: Sequence[StoredMessage], _: object) -> None:
        if messages[0].queue_offset == 2:
            await trio.sleep_forever()

    async with open_consumption(listener) as consumption:
        consumption.bring(0, 1, 2, 3)
        await trio.testing.wait_all_tasks_blocked()
    assert consumption.offsets.updates[-1] == 2
    assert consumption.window.first_offset == 2


async def test_each_wait_notifies_and_results_are_passed_on(autojump_clock: object) -> None:
    waits: list[float] = []

    async def work() -> str:
        await trio.sleep(1)
        with trio.move_on_after(1):
            await trio.sleep_forever()
        return "done"

    assert await notify_before_wait(work(), lambda: waits.append(trio.current_time())) == "done"
    assert len(waits) == 2

    async def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await notify_before_wait(fails(), lambda: None)

"""A pop consumer that is closed returns the messages that the broker has hidden for it."""

from dataclasses import replace
from typing import cast

import pytest
import trio

from rocketwire.client.consumer.member import Membership
from rocketwire.client.consumer.pop.pop import Acknowledgements, PopCalls, PopResult, PopStatus
from rocketwire.client.consumer.pop.pop_consumer import (
    POP_DELAY_LEVEL,
    RESPONSE_WAIT,
    PopConsumer,
    PopConsumerConfig,
    PopListener,
)
from rocketwire.messages.message_const import POP_CK
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import world

OFTEN = StoredMessage(topic="T", body=b"x", reconsume_times=99)
"""A message that is acknowledged if its handler fails again."""


def pop_result(*messages: StoredMessage) -> PopResult:
    """The answer to a pop."""
    return PopResult(
        status=PopStatus.FOUND, messages=messages, pop_time=0, invisible_time=60_000, rest=0
    )


class Calls:
    """Pops that are answered after a time, and the messages that were returned."""

    def __init__(self, *answers: tuple[float, StoredMessage | PopResult]) -> None:
        self.answers = list(answers)
        self.given_back: list[tuple[StoredMessage, float]] = []
        self.given_back_at: list[float] = []
        self.acknowledged: list[StoredMessage] = []

    async def pop(self, *_: object, **__: object) -> PopResult:
        seconds, answer = self.answers.pop(0) if self.answers else (15, OFTEN)
        await trio.sleep(seconds)
        if isinstance(answer, PopResult):
            return answer
        return pop_result(answer)

    async def change_invisible_time(self, message: StoredMessage, seconds: float) -> None:
        await trio.lowlevel.checkpoint()
        self.given_back.append((message, seconds))
        self.given_back_at.append(trio.current_time())

    async def ack(self, message: StoredMessage) -> None:
        await trio.lowlevel.checkpoint()
        self.acknowledged.append(message)


async def close_after(calls: Calls, listener: PopListener, seconds: float) -> float:
    """Close a consumer after some seconds; returns the duration of the close."""
    async with world() as (_, client), background() as nursery:
        config = PopConsumerConfig(consume_thread_max=1)
        consumer = PopConsumer(Membership(client, "g", nursery, None), config, listener)
        consumer.calls = cast("PopCalls", calls)
        consumer._acknowledgements = Acknowledgements(consumer.calls)  # pyright: ignore[reportPrivateUsage] - of these calls
        consumer.subscribe("T")
        nursery.start_soon(consumer.run)
        await trio.sleep(seconds)
        since = trio.current_time()
        await consumer.close()
        return trio.current_time() - since


async def refuse_messages(_: StoredMessage) -> None:
    raise AssertionError("a handler was started")


async def test_messages_of_a_pop_during_close_are_returned(autojump_clock: object) -> None:
    calls = Calls((0.5, OFTEN))
    took = await close_after(calls, refuse_messages, seconds=0.25)
    assert calls.given_back == [(OFTEN, POP_DELAY_LEVEL[0])]
    assert took == pytest.approx(0.25)


async def test_close_returns_waiting_messages_and_awaits_handlers(autojump_clock: object) -> None:
    first = StoredMessage(topic="T", body=b"1", reconsume_times=1)
    ended: list[StoredMessage] = []

    async def fails(message: StoredMessage) -> bool:
        await trio.sleep(5)
        ended.append(message)
        return False

    calls = Calls((0, first), (0, OFTEN))
    took = await close_after(calls, fails, seconds=2)
    assert ended == [first]
    assert calls.given_back == [(OFTEN, POP_DELAY_LEVEL[0]), (first, POP_DELAY_LEVEL[1])]
    assert took == pytest.approx(3)


async def test_close_returns_messages_behind_a_hanging_handler(autojump_clock: object) -> None:
    first, second = StoredMessage(topic="T", body=b"1"), StoredMessage(topic="T", body=b"2")

    async def never(message: StoredMessage) -> None:
        assert message is first
        await trio.sleep_forever()

    start = trio.current_time()
    calls = Calls((0, first), (0, second), (0, OFTEN))
    took = await close_after(calls, never, seconds=2)

    assert sorted(body.body or b"" for body, _ in calls.given_back) == [b"2", b"x"]
    assert [time - start for time in calls.given_back_at] == [2, 2]
    assert took == PopConsumerConfig().await_termination


@pytest.mark.parametrize(("tries", "level"), [(-(2**31), 0), (-1, 0), (0, 0), (7, 7), (15, 15)])
async def test_the_delay_depends_on_attempts(
    autojump_clock: object, tries: int, level: int
) -> None:
    message = StoredMessage(topic="T", body=b"1", reconsume_times=tries)

    async def fails(_: StoredMessage) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    calls = Calls((0, message))
    await close_after(calls, fails, seconds=2)
    assert calls.given_back == [(message, POP_DELAY_LEVEL[level])]


BATCH = tuple(
    StoredMessage(
        topic="T",
        body=b"%d" % number,
        queue_offset=number,
        properties={POP_CK: "0 1700000000000 60000 3 0 b 0 0"},
    )
    for number in range(3)
)
"""The messages of an inner batch."""


async def test_a_handled_inner_batch_is_acknowledged_once(autojump_clock: object) -> None:
    bodies: list[bytes | None] = []

    async def handle(message: StoredMessage) -> None:
        await trio.sleep(0.1)
        assert not calls.acknowledged
        bodies.append(message.body)

    calls = Calls((0, pop_result(*BATCH)))
    await close_after(calls, handle, seconds=2)

    assert bodies == [b"0", b"1", b"2"]
    assert len(calls.acknowledged) == 1
    assert calls.given_back == []


async def test_an_inner_batch_with_a_failed_message_is_returned(autojump_clock: object) -> None:
    async def handle(message: StoredMessage) -> bool:
        await trio.lowlevel.checkpoint()
        return message.body != b"1"

    calls = Calls((0, pop_result(*BATCH)))
    await close_after(calls, handle, seconds=2)

    assert calls.acknowledged == []
    assert len(calls.given_back) == 1


async def test_an_expired_inner_batch_is_not_handled_further(autojump_clock: object) -> None:
    bodies: list[bytes | None] = []

    async def handle(message: StoredMessage) -> None:
        bodies.append(message.body)
        await trio.sleep(40)

    calls = Calls((0, pop_result(*BATCH)), (1000, OFTEN))
    await close_after(calls, handle, seconds=100)

    assert bodies == [b"0", b"1"]
    assert (calls.acknowledged, calls.given_back) == ([], [])


async def test_messages_of_other_tags_are_acknowledged(autojump_clock: object) -> None:
    calls = Calls((0, replace(pop_result(), filtered=BATCH[:1])))
    await close_after(calls, refuse_messages, seconds=2)
    assert (calls.acknowledged, calls.given_back) == ([*BATCH[:1]], [])


async def test_close_does_not_wait_for_a_long_poll(autojump_clock: object) -> None:
    assert await close_after(Calls(), refuse_messages, seconds=2 * RESPONSE_WAIT) == 0
    assert await close_after(Calls(), refuse_messages, seconds=RESPONSE_WAIT / 4) == pytest.approx(
        RESPONSE_WAIT * 3 / 4
    )

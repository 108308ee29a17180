"""A consumer that pops, when it is closed: what the broker has hidden for it is given back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio

from rocketwire.client.pop_consumer import (
    ANSWER_SOON,
    POP_DELAY_LEVEL,
    PopConsumer,
    PopConsumerConfig,
)
from rocketwire.client.popping import PopResult, PopStatus
from rocketwire.messages.route import BrokerData, TopicRouteData
from rocketwire.tasks import background
from rocketwire.wire.stored import StoredMessage

if TYPE_CHECKING:
    from rocketwire.client.instance import ClientInstance
    from rocketwire.client.pop_consumer import PopListener
    from rocketwire.client.popping import PopCalls

OFTEN = StoredMessage(topic="T", body=b"x", reconsume_times=99)
"""One that is acknowledged if it cannot be handled once more."""


class Instance:
    """A client that knows one broker."""

    config = SimpleNamespace(namespace=None)

    async def route(self, topic: str) -> TopicRouteData:
        await trio.lowlevel.checkpoint()
        return TopicRouteData(
            broker_datas=(BrokerData(broker_name="b", broker_addrs={0: topic}),), queue_datas=()
        )

    async def remove_consumer(self, _: object) -> None:
        await trio.lowlevel.checkpoint()


class Calls:
    """Pops that are answered after a time, and notes of what was given back."""

    def __init__(self, *answers: tuple[float, StoredMessage]) -> None:
        self.answers = list(answers)
        self.given_back: list[tuple[StoredMessage, float]] = []

    async def pop(self, *_: object, **__: object) -> PopResult:
        seconds, message = self.answers.pop(0) if self.answers else (15, OFTEN)
        await trio.sleep(seconds)
        return PopResult(
            status=PopStatus.FOUND, messages=(message,), pop_time=0, invisible_time=60_000, rest=0
        )

    async def change_invisible_time(self, message: StoredMessage, seconds: float) -> None:
        await trio.lowlevel.checkpoint()
        self.given_back.append((message, seconds))


async def closing(calls: Calls, listener: PopListener, after: float) -> float:
    """Close a consumer after so many seconds; returns how long that took."""
    async with background() as nursery:
        config = PopConsumerConfig(consume_thread_max=1)
        instance = cast("ClientInstance", Instance())
        consumer = PopConsumer(instance, "g", config, listener, nursery)
        consumer.calls = cast("PopCalls", calls)
        consumer.subscribe("T")
        nursery.start_soon(consumer.run)
        await trio.sleep(after)
        since = trio.current_time()
        await consumer.close()
        return trio.current_time() - since


async def nobody(_: StoredMessage) -> None:
    raise AssertionError("nothing is begun any more")


async def test_what_a_pop_brings_that_was_just_made_is_given_back(
    autojump_clock: trio.testing.MockClock,
) -> None:
    calls = Calls((0.5, OFTEN))
    took = await closing(calls, nobody, after=0.25)
    assert calls.given_back == [(OFTEN, POP_DELAY_LEVEL[0])]
    assert took == pytest.approx(0.25)


async def test_what_waits_for_a_handler_is_given_back_and_who_has_begun_may_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    first = StoredMessage(topic="T", body=b"1", reconsume_times=1)
    ended: list[StoredMessage] = []

    async def fails(message: StoredMessage) -> bool:
        await trio.sleep(5)
        ended.append(message)
        return False

    calls = Calls((0, first), (0, OFTEN))
    took = await closing(calls, fails, after=2)
    assert ended == [first]
    assert calls.given_back == [(OFTEN, POP_DELAY_LEVEL[0]), (first, POP_DELAY_LEVEL[1])]
    assert took == pytest.approx(3)


async def test_a_handler_that_ends_as_the_consumer_is_closed_is_not_followed_by_another(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ended: list[StoredMessage] = []
    first = StoredMessage(topic="T", body=b"1")

    async def handle(message: StoredMessage) -> None:
        await trio.sleep(2)
        ended.append(message)

    calls = Calls((0, first), (0, OFTEN))
    await closing(calls, handle, after=2)
    assert ended == [first]
    assert calls.given_back == [(OFTEN, POP_DELAY_LEVEL[0])]


async def test_what_waits_behind_a_handler_that_never_ends_is_given_back_and_that_one_gets_its_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    begun, waiting = StoredMessage(topic="T", body=b"1"), StoredMessage(topic="T", body=b"2")
    given_back_at: list[float] = []

    class Noting(Calls):
        async def change_invisible_time(self, message: StoredMessage, seconds: float) -> None:
            await super().change_invisible_time(message, seconds)
            given_back_at.append(trio.current_time() - began)

    async def never(message: StoredMessage) -> None:
        assert message is begun
        await trio.sleep_forever()

    began = trio.current_time()
    calls = Noting((0, begun), (0, waiting), (0, OFTEN))
    took = await closing(calls, never, after=2)

    assert sorted(body.body or b"" for body, _ in calls.given_back) == [b"2", b"x"]
    assert given_back_at == [2, 2]
    assert took == PopConsumerConfig().await_termination


async def test_a_pop_that_the_broker_holds_is_not_waited_for(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert await closing(Calls(), nobody, after=2 * ANSWER_SOON) == 0
    assert await closing(Calls(), nobody, after=ANSWER_SOON / 4) == pytest.approx(
        ANSWER_SOON * 3 / 4
    )

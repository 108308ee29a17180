"""Calls that are cancelled at 200 random points leave nothing open, at the development broker.

The seed chooses calls and delays, so a failure comes back with the same seed, if not in each run:
what a delay hits depends on the machine.
"""

import asyncio
import gc
import itertools
import os
import random
import signal
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from types import ModuleType
from typing import Any

import pytest
import trio
import uvloop

from rocketwire import aio, client, sync
from rocketwire.client import (
    ClientConfig,
    LocalTransactionState,
    Message,
    ProducerConfig,
    PushConsumerConfig,
)
from rocketwire.errors import ChannelClosedError
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.portal.portal import Resource, current
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.peers.processes import wait_until
from tests.support.fakes.facade_clients import no_request_is_pending, own_connections, threads

POINTS = 200
SEED = int(os.environ.get("ROCKETWIRE_SEED", "20261126"))
PATIENCE = 60.0
AGAIN = 5.0
FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)

PATIENT = ProducerConfig(send_msg_timeout=PATIENCE)
"""A send that times out on a machine that stalls is stored twice, as producers try again."""

Operation = Callable[[], Awaitable[object]]


def patient(where: str) -> ClientConfig:
    # A client's settings with limits that a machine which stalls keeps.
    return ClientConfig(
        namesrv_addr=where, mq_client_api_timeout=PATIENCE, connect_timeout=PATIENCE
    )


def open_sockets() -> int:
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
        except OSError:  # that of the listing
            continue
    return count


@pytest.fixture(autouse=True)
def nothing_is_left(rocketmq: RocketMQ) -> Iterator[None]:
    rocketmq.topic()
    sockets, living = open_sockets(), threading.active_count()
    yield
    gc.collect()
    wait_until(lambda: threads() == ["rocketwire backstage"], "no thread of a client", PATIENCE)
    wait_until(lambda: open_sockets() <= sockets, "the sockets of before", PATIENCE)
    wait_until(lambda: threading.active_count() <= living, "the threads of before", PATIENCE)


async def no_more(message: Message, half: Any) -> LocalTransactionState:
    return LocalTransactionState.ROLLBACK_MESSAGE


def message_source(topic: str) -> tuple[Callable[[], int], Callable[..., Message]]:
    numbers = itertools.count()

    def message(size: int = 1) -> Message:
        return Message(topic, b"%d" % next(numbers) + bytes(size))

    return lambda: next(numbers), message


def producer_calls(
    producer: Any, message: Callable[..., Message], execute: Callable[..., Any]
) -> list[Callable[[], Any]]:
    return [
        lambda: producer.send(message()),
        lambda: producer.send(message(20_000)),
        lambda: producer.send_ordered(message(), "key"),
        lambda: producer.send_oneway(message()),
        lambda: producer.send_many([message() for _ in range(5)]),
        lambda: producer.send_batch([message() for _ in range(5)]),
        lambda: producer.request(message(), within=PATIENCE),
        lambda: producer.send_in_transaction(message(), execute),
    ]


def operations(
    package: ModuleType, where: str, instance: Any, producer: Any, topic: str
) -> list[Operation]:
    number, message = message_source(topic)
    sleep = trio.sleep if package is client else asyncio.sleep

    async def open_and_send() -> None:
        async with package.open_producer(
            patient(where), f"p{number()}", PATIENT
        ) as second_producer:
            await second_producer.send(message())

    async def iterate() -> None:
        group = f"g{number()}"
        async with package.open_push_consumer(
            instance, group, {topic: "*"}, config=FIRST
        ) as consumer:
            async for delivery in consumer:
                delivery.ack()

    async def pop() -> None:
        async def handle(message: Any) -> None:
            await sleep(0)

        async with package.open_pop_consumer(patient(where), f"g{number()}", {topic: "*"}, handle):
            await sleep(PATIENCE)

    async def poll() -> None:
        async with package.open_lite_pull_consumer(patient(where), f"g{number()}") as consumer:
            if (subscribed := consumer.subscribe(topic)) is not None:
                await subscribed
            while True:
                await consumer.poll(within=1.0)

    return [*producer_calls(producer, message, no_more), open_and_send, iterate, pop, poll]


def delay(chance: random.Random) -> float:
    # Seconds until a call is cancelled: most are short, some reach a running consumer.
    return chance.random() ** 3 * 0.05


async def run_trio(where: str, topic: str) -> None:
    chance = random.Random(SEED)
    living = trio.lowlevel.current_statistics().tasks_living
    async with (
        client.open_client(patient(where)) as instance,
        client.open_producer(instance, "g", PATIENT) as producer,
    ):
        await producer.send(Message(topic, b"first"))
        calls = operations(client, where, instance, producer, topic)
        for _ in range(POINTS):
            with trio.move_on_after(delay(chance)):
                await chance.choice(calls)()
        await no_request_is_pending(producer)
        assert (await producer.send(Message(topic, b"last"))).is_ok
    assert trio.lowlevel.current_statistics().tasks_living == living


def test_trio_calls_that_are_cancelled_leave_nothing_behind(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    trio.run(run_trio, rocketmq.address, topic)
    check_messages(rocketmq, topic)


def check_messages(rocketmq: RocketMQ, topic: str) -> None:
    bodies = [message.body for message in rocketmq.messages(topic)]
    assert len(bodies) == len(set(bodies))
    assert b"last" in bodies


@asynccontextmanager
async def cancel_after(seconds: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        pass


async def run_loop(where: str, topic: str) -> None:
    chance = random.Random(SEED)
    async with (
        aio.open_client(patient(where)) as instance,
        aio.open_producer(instance, "g", PATIENT) as producer,
    ):
        for number in range(20):  # enough for connections of its own
            await producer.send(Message(topic, b"first %d" % number))
        calls = operations(aio, where, instance, producer, topic)
        for number in range(POINTS):
            call, seconds = chance.choice(calls), delay(chance)
            if number % 2:
                async with cancel_after(seconds):
                    await call()
                continue
            task = asyncio.ensure_future(call())
            if number % 4:
                await asyncio.sleep(seconds)
            for _ in range(chance.randrange(10)):
                await asyncio.sleep(0)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            assert not isinstance(result, Exception), result
        await producer._call(no_request_is_pending)  # pyright: ignore[reportPrivateUsage] - the state that is tested
        (connection,) = own_connections(producer)
        assert not vars(connection)["_pending"]
        assert (await producer.send(Message(topic, b"last"))).is_ok
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("loop", [asyncio, uvloop], ids=["asyncio", "uvloop"])
def test_tasks_that_are_cancelled_leave_nothing_behind(rocketmq: RocketMQ, loop: Any) -> None:
    topic = rocketmq.topic()
    loop.run(run_loop(rocketmq.address, topic))
    check_messages(rocketmq, topic)


class Interrupts:
    """Raises ``KeyboardInterrupt`` in the main thread, after a delay; and again if it was lost.

    Python ignores it while it deletes an object.
    """

    def __init__(self) -> None:
        self._is_armed = False
        self.count = 0
        self._before = signal.signal(signal.SIGALRM, self._handle)

    def _handle(self, *_: object) -> None:
        if self._is_armed:
            self.count += 1
            raise KeyboardInterrupt

    def during(self, call: Callable[[], object], seconds: float) -> None:
        try:
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
            call()
            self._is_armed = False
        except KeyboardInterrupt:
            self._is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def end(self) -> None:
        signal.signal(signal.SIGALRM, self._before)


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    interrupts = Interrupts()
    yield interrupts
    interrupts.end()


def blocking_operations(
    where: str, instance: Any, producer: Any, topic: str
) -> list[Callable[[], object]]:
    number, message = message_source(topic)

    def rollback(message: Message, half: Any) -> LocalTransactionState:
        return LocalTransactionState.ROLLBACK_MESSAGE

    def open_and_send() -> None:
        with sync.open_producer(patient(where), f"p{number()}", PATIENT) as second_producer:
            second_producer.send(message())

    def iterate() -> None:
        group = f"g{number()}"
        with sync.open_push_consumer(instance, group, {topic: "*"}, config=FIRST) as consumer:
            for delivery in consumer:
                delivery.ack()

    def pop() -> None:
        with sync.open_pop_consumer(
            patient(where), f"g{number()}", {topic: "*"}, lambda message: None
        ):
            threading.Event().wait(PATIENCE)

    def poll() -> None:
        with sync.open_lite_pull_consumer(patient(where), f"g{number()}") as consumer:
            consumer.subscribe(topic)
            while True:
                consumer.poll(within=1.0)

    return [*producer_calls(producer, message, rollback), open_and_send, iterate, pop, poll]


def close_lost_consumers() -> None:
    """Close push consumers that an interrupt took from the program before their block began.

    They consume until they are closed: Python cannot delete them, as it does other clients.
    """
    portal = current.portal
    for user in portal.users.copy() if portal is not None else ():
        with suppress(ChannelClosedError):
            if isinstance(user, Resource) and isinstance(user.value, client.PushConsumer):
                user.close_soon()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # an interrupt just before a block begins
@pytest.mark.filterwarnings(  # an interrupt while Python deletes something
    "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
)
def test_blocked_calls_that_are_interrupted_leave_nothing_behind(
    rocketmq: RocketMQ, interrupts: Interrupts
) -> None:
    topic, chance = rocketmq.topic(), random.Random(SEED)
    for name in vars(sync)["__all__"]:  # an interrupted import can keep Python's import lock
        getattr(sync, name)
    with (
        sync.open_client(patient(rocketmq.address)) as instance,
        sync.open_producer(instance, "g", PATIENT) as producer,
    ):
        for number in range(20):
            producer.send(Message(topic, b"first %d" % number))
        calls = blocking_operations(rocketmq.address, instance, producer, topic)
        for _ in range(POINTS):
            interrupts.during(chance.choice(calls), 0.001 + delay(chance))
        close_lost_consumers()
        producer._call(no_request_is_pending)  # pyright: ignore[reportPrivateUsage] - the state that is tested
        assert producer.send(Message(topic, b"last")).is_ok
    check_messages(rocketmq, topic)
    assert interrupts.count > POINTS // 4

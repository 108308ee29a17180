"""Ends: consumers that are closed while others use them, or whose handlers cannot be called."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, cast

import pytest

from rocketwire import aio, sync
from rocketwire.errors import (
    ChannelClosedError,
    IllegalHandlerError,
    LocalProtocolError,
    RocketWireError,
)
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.peers.processes import wait_until

pytestmark = pytest.mark.process

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
PATIENCE = 30.0


@pytest.fixture
def topic(rocketmq: RocketMQ) -> str:
    name = rocketmq.topic(1)
    rocketmq.produce(name, *(b"%d" % number for number in range(5)))
    return name


def test_a_closed_consumer_for_threads_gives_out_nothing_more(
    rocketmq: RocketMQ, topic: str
) -> None:
    consumer = sync.open_push_consumer(
        rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST
    )
    iteration = iter(consumer)
    next(iteration)
    consumer.close()

    with pytest.raises(ChannelClosedError):
        next(iteration)
    with pytest.raises(ChannelClosedError):
        consumer.poll(within=PATIENCE)
    with pytest.raises(ChannelClosedError):
        next(iter(consumer))


def test_a_closed_consumer_for_tasks_gives_out_nothing_more(rocketmq: RocketMQ, topic: str) -> None:
    async def consume() -> None:
        consumer = await aio.open_push_consumer(
            rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST
        )
        iteration = aiter(consumer)
        await anext(iteration)
        await consumer.close()
        with pytest.raises(ChannelClosedError):
            await anext(iteration)
        with pytest.raises(ChannelClosedError):
            await consumer.poll(within=PATIENCE)

    asyncio.run(consume())


@pytest.mark.parametrize(
    "open_one",
    [
        lambda address: sync.open_producer(address, "g", check=lambda _message: None),
        lambda address: sync.open_lite_pull_consumer(address, "g"),
        lambda address: sync.open_pop_consumer(address, "g", {"T": "*"}, lambda _message: True),
        sync.open_client,
        sync.open_admin,
    ],
    ids=["producer", "lite", "pop", "client", "admin"],
)
def test_a_client_for_threads_that_the_program_loses_is_closed(
    rocketmq: RocketMQ, open_one: Callable[[str], object]
) -> None:
    rocketmq.topic(name="T")
    clients = [open_one(rocketmq.address)]
    resource = vars(clients[0])["_opening"]

    def lose_client() -> None:
        clients.clear()
        gc.collect()

    with pytest.warns(ResourceWarning, match="was not closed"):
        lose_client()

    wait_until(lambda: resource.is_closed, "it is closed", PATIENCE)


def test_threads_that_wait_for_messages_end_with_their_consumer(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    push = sync.open_push_consumer(rocketmq.address, "g", {topic: "*"})
    lite = sync.open_lite_pull_consumer(rocketmq.address, "l")
    lite.subscribe(topic)
    with ThreadPoolExecutor(4) as pool:
        waiting: list[Future[Any]] = [
            pool.submit(push.poll),
            pool.submit(lambda: list(push)),
            *(pool.submit(lite.poll, PATIENCE * 2) for _ in range(2)),
        ]
        push.close()
        lite.close()
        for future in waiting[:2]:
            error = future.exception(PATIENCE)
            assert error is None or isinstance(error, ChannelClosedError)
        for future in waiting[2:]:
            assert isinstance(future.exception(PATIENCE), ChannelClosedError)


def test_two_threads_poll_a_lite_pull_consumer_and_both_are_woken(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(2)
    with (
        sync.open_lite_pull_consumer(rocketmq.address, "l", consume_from_where=FIRST) as consumer,
        ThreadPoolExecutor(2) as pool,
    ):
        consumer.subscribe(topic)
        waiting = [pool.submit(consumer.poll, 2 * PATIENCE) for _ in range(2)]
        rocketmq.produce(topic, b"0", queue_id=0)
        rocketmq.produce(topic, b"1", queue_id=1)
        polled = [future.result(PATIENCE) for future in waiting]

    bodies = [m.body for batch in polled if batch for m in batch.messages]
    assert sorted(map(str, bodies)) == ["b'0'", "b'1'"]


def test_loops_share_a_consumer_and_each_is_woken(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    bodies: list[bytes] = []

    async def main() -> None:
        async with aio.open_push_consumer(
            rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST
        ) as consumer:
            is_waiting = threading.Event()

            async def poll() -> None:
                asyncio.get_running_loop().call_later(0.1, is_waiting.set)
                batch = await consumer.poll(1, within=PATIENCE)
                assert batch
                batch.ack()
                bodies.append(batch.messages[0].body or b"")

            polling = asyncio.to_thread(asyncio.run, poll())
            task = asyncio.create_task(polling)
            await asyncio.to_thread(is_waiting.wait)
            rocketmq.produce(topic, b"for the other loop")
            await task

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert bodies == [b"for the other loop"]


@pytest.mark.parametrize("opener", [sync.open_push_consumer, sync.open_pop_consumer])
def test_a_client_that_refuses_a_second_consumer_goes_on_with_the_first(
    rocketmq: RocketMQ, topic: str, opener: Callable[..., Any]
) -> None:
    handled: list[bytes] = []

    def handle(messages: Any, *_: object) -> None:
        batch = cast("list[Any]", messages if isinstance(messages, (list, tuple)) else [messages])
        handled.extend(message.body for message in batch)

    with sync.open_client(rocketmq.address) as client, opener(client, "g", {topic: "*"}, handle):
        with pytest.raises(LocalProtocolError):
            opener(client, "g", {topic: "*"}, handle)

        def is_member() -> bool:
            return rocketmq.do(lambda: rocketmq.broker.state.members.online("g")) is not None

        wait_until(is_member, "the first consumer is a member still", PATIENCE)
        rocketmq.produce(topic, b"more")
        wait_until(lambda: b"more" in handled, "the message that came later", PATIENCE)


def test_a_handler_that_cannot_be_awaited_ends_its_consumer_at_once(
    rocketmq: RocketMQ, topic: str
) -> None:
    async def consume() -> None:
        loop = asyncio.get_running_loop()

        def handler(messages: object, context: object) -> Any:
            """Returns nothing that can be awaited; types do not show it."""

        consumer = await aio.open_push_consumer(
            rocketmq.address,
            "g",
            {topic: "*"},
            handler,
            consume_from_where=FIRST,
            await_termination=2 * PATIENCE,
        )
        started = loop.time()
        while True:
            try:
                assert consumer.assigned is not None
            except IllegalHandlerError:
                break
            await asyncio.sleep(0.01)
        assert loop.time() - started < PATIENCE
        with pytest.raises(IllegalHandlerError):
            await consumer.close()

    asyncio.run(consume())


def test_what_is_acknowledged_before_the_client_ends_is_stored(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"one")

    with sync.open_client(rocketmq.address) as client:
        consumer = sync.open_push_consumer(client, "g", {topic: "*"}, consume_from_where=FIRST)
        batch = consumer.poll(within=PATIENCE)
        assert batch
        batch.ack()
        consumer.close()

    assert rocketmq.lag("g", topic) == 0


def test_settling_after_the_end_disturbs_no_other_client(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(1)
    rocketmq.produce(topic, b"one", b"two")

    with sync.open_producer(rocketmq.address, "p") as producer:
        with sync.open_push_consumer(
            rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST
        ) as consumer:
            batches = [consumer.poll(1, within=PATIENCE), consumer.poll(1, within=PATIENCE)]
        for batch in batches:
            assert batch
            batch.reconsume_later()

        assert producer.send(sync.Message(topic, b"more")).is_ok
        assert rocketmq.lag("g", topic) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("reopens", [False, True], ids=["error", "reopens"])
def test_a_forked_consumer_handles_no_messages_of_its_parent(
    rocketmq: RocketMQ, topic: str, reopens: bool
) -> None:
    with sync.open_push_consumer(
        rocketmq.address, "g", {topic: "*"}, consume_from_where=FIRST, reopen_after_fork=reopens
    ) as consumer:
        first = consumer.poll(1, within=PATIENCE)
        assert first
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with suppress(RocketWireError):
                    first.ack()
                # later the broker redelivers the first
                polled = consumer.poll(1, within=0) if reopens else next(iter(consumer))
                os.write(write, b"nothing" if polled is None else polled.messages[0].body or b"")
            except BaseException as error:  # noqa: BLE001 - sent to the parent
                os.write(write, type(error).__name__.encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 100) == (b"nothing" if reopens else b"ClientForkedError")
        os.close(read)
        os.close(write)
        second = consumer.poll(1, within=PATIENCE)
        assert second
        assert second.messages[0].body == b"1"

"""Clients for asyncio and for threads that are closed while something interrupts it."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from rocketwire.aio.opening import FacadeClient, LoopCall
from rocketwire.portal.portal import Portal
from rocketwire.sync import LitePullConsumer, lite_pull_consumer
from rocketwire.sync import opening as for_threads
from tests.support.fakes.facade_clients import threads


@asynccontextmanager
async def thing() -> AsyncGenerator[str]:
    yield "thing"


def test_close_that_is_cancelled_before_it_begins_closes() -> None:
    async def main() -> None:
        client = await FacadeClient(thing)
        resource = client._open_resource  # pyright: ignore[reportPrivateUsage] - the state that is tested
        blocked = threading.Event()
        resource.portal.post(lambda: blocked.wait(60) and None)
        closing = asyncio.ensure_future(client.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.sleep(0)
        blocked.set()
        with pytest.raises(asyncio.CancelledError):
            await closing

        await asyncio.to_thread(resource.wait_closed, 60)
        assert resource.is_closed
        resource.portal.join_if_unused()

    asyncio.run(main())
    assert threads() == []


def test_close_that_is_interrupted_before_it_begins_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    client = for_threads.FacadeClient(thing)
    resource = client._resource  # pyright: ignore[reportPrivateUsage] - the state that is tested

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Portal, "call", interrupt)
    with pytest.raises(KeyboardInterrupt):
        client.close()

    resource.wait_closed(60)
    assert resource.is_closed
    resource.portal.join_if_unused()
    assert threads() == []


def test_a_call_wakes_the_future_that_a_cancelled_task_awaits() -> None:
    async def main() -> None:
        call = LoopCall(asyncio.sleep, (), {})
        call.finish(None, None)
        call.future = asyncio.get_running_loop().create_future()
        await asyncio.wait_for(call.future, 60)

    asyncio.run(main())


class Interrupted(LitePullConsumer):
    """A consumer whose calls are interrupted when trio has executed them."""

    def __init__(self) -> None:
        self._kept = []

    def _call(self, method: Any, /, *arguments: Any, **_: Any) -> Any:
        trio.run(method, self, *arguments)
        raise KeyboardInterrupt


def test_messages_of_an_interrupted_poll_are_polled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    polled: Any = object()

    async def poll_into(_: object, results: list[Any], within: float) -> None:
        results.append(polled)

    monkeypatch.setattr(lite_pull_consumer, "poll_into", poll_into)
    consumer = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        consumer.poll()

    assert consumer.poll() is polled


def test_the_threads_of_handlers_end_with_their_client() -> None:
    pool = for_threads.Pool(None, 1)
    client = for_threads.FacadeClient(thing, pool=pool)
    executor = pool.executor
    client.close()
    with pytest.raises(RuntimeError, match="shutdown"):
        executor.submit(threads)

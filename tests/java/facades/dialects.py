"""One text for threads, asyncio, uvloop and trio: all clients as one face with coroutine methods."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest
import trio
import uvloop

from rocketwire import aio, client, sync
from rocketwire.client import admin as client_admin

DIALECTS = ("threads", "asyncio", pytest.param("uvloop", marks=pytest.mark.full))
"""The facades; uvloop is another loop of asyncio."""
ALL = ("trio", "asyncio", "threads")
"""A dialect of each kind."""


class InThread:
    def __init__(self, client: Any, pool: ThreadPoolExecutor) -> None:
        self.client = client
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.client, name)
        if not callable(member):
            return member

        async def call(*arguments: Any, **named: Any) -> Any:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, lambda: member(*arguments, **named))

        return call

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._pool, self.client.close)


class Face:
    """A dialect: ``await face.open_producer(...)`` returns a client with coroutine methods."""

    def __init__(self, dialect: str, pool: ThreadPoolExecutor) -> None:
        self.dialect = dialect
        self._pool = pool

    @property
    def is_blocking(self) -> bool:
        return self.dialect == "threads"

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self.is_blocking:
            return function

        async def call(*arguments: Any) -> Any:
            await asyncio.sleep(0)
            return function(*arguments)

        return call

    async def open(self, client_type: str, client: Any, *arguments: Any, **named: Any) -> Any:
        # Open a producer, consumer or client; ``client`` may be one of this face.
        if self.is_blocking:
            inner = client.client if isinstance(client, InThread) else client
            opener = getattr(sync, f"open_{client_type}")
            loop = asyncio.get_running_loop()
            opened = await loop.run_in_executor(
                self._pool, lambda: opener(inner, *arguments, **named)
            )
            return InThread(opened, self._pool)
        return _Opened(await getattr(aio, f"open_{client_type}")(client, *arguments, **named))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def take(self, consumer: Any, count: int) -> list[Any]:
        def take() -> list[Any]:
            result: list[Any] = []
            for delivery in consumer.client:
                result.append(delivery.message)
                if len(result) == count:
                    delivery.ack()
                    break
            return result

        if self.is_blocking:
            return await asyncio.get_running_loop().run_in_executor(self._pool, take)
        result: list[Any] = []
        async for delivery in consumer.client:
            result.append(delivery.message)
            if len(result) == count:
                delivery.ack()
                break
        return result


class _Opened:
    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()


CONFIGS: dict[str, type[Any]] = {
    "producer": client.ProducerConfig,
    "push_consumer": client.PushConsumerConfig,
    "pop_consumer": client.PopConsumerConfig,
    "lite_pull_consumer": client.LitePullConsumerConfig,
}


class TrioFace(Face):
    async def open(self, client_type: str, client: Any, *arguments: Any, **named: Any) -> Any:
        if client_type in CONFIGS:
            config_class = CONFIGS[client_type]
            settings = {name: named.pop(name) for name in [*named] if hasattr(config_class, name)}
            named["config"] = config_class(**settings)
        return self._open(client_type, client, *arguments, **named)

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)

    @asynccontextmanager
    async def _open(self, client_type: str, *arguments: Any, **named: Any) -> AsyncGenerator[Any]:
        home = client_admin if client_type == "admin" else client
        async with getattr(home, f"open_{client_type}")(*arguments, **named) as opened:
            yield _Opened(opened)

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*arguments: Any) -> Any:
            await trio.lowlevel.checkpoint()
            return function(*arguments)

        return call


def run(dialect: str, scenario: Callable[[Face], Coroutine[Any, Any, None]]) -> None:
    if dialect == "trio":
        with ThreadPoolExecutor(1) as pool:
            trio.run(scenario, TrioFace(dialect, pool))
        return
    with ThreadPoolExecutor(32, thread_name_prefix="tests") as pool:
        face = Face(dialect, pool)
        if dialect == "uvloop":
            uvloop.run(scenario(face))
        else:
            asyncio.run(scenario(face))


async def until(condition: Callable[[], Awaitable[bool] | bool], seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while True:
            result = condition()
            if await result if inspect.isawaitable(result) else result:
                return
            await asyncio.sleep(0.05)

"""Every public call of a client from asyncio or a thread raises ``NotInTrioError``."""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from rocketwire.client import (
    BrokerIdentity,
    ClientConfig,
    open_client,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_producer,
    open_push_consumer,
    open_registration,
)
from rocketwire.client.admin import open_admin
from rocketwire.client.trio_only import trio_only
from rocketwire.errors import NotInTrioError
from tests.support.fakes import producer_fakes
from tests.support.fakes.consumer_fakes import NS, ignore, world


def error_in_asyncio(call: Callable[[], Any]) -> BaseException | None:
    """The error of a call in an asyncio loop of another thread."""

    async def await_it() -> None:
        await call()

    return _error_in_thread(lambda: asyncio.run(await_it()))


def error_without_loop(call: Callable[[], Any]) -> BaseException | None:
    """The error of the first step of a call in another thread without a loop."""
    return _error_in_thread(lambda: call().send(None))


def _error_in_thread(call: Callable[[], object]) -> BaseException | None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - looked at by the caller
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def coroutine_methods(owner: object) -> list[str]:
    """Names of the public coroutine methods of an object."""
    return [
        name
        for name in dir(type(owner))
        if not name.startswith("_") and inspect.iscoroutinefunction(getattr(type(owner), name))
    ]


def call_of(owner: object, name: str) -> Callable[[], Awaitable[object]]:
    """A call with None for every argument that has to be given."""
    method = getattr(owner, name)
    positional: list[None] = []
    named: dict[str, None] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.default is not parameter.empty:
            continue
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positional.append(None)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = None
    return lambda: method(*positional, **named)


@asynccontextmanager
async def everything() -> AsyncGenerator[dict[str, object]]:
    """One of each public class of clients."""
    config = ClientConfig(namesrv_addr=[])
    identity = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr="10.0.0.9:1")
    async with (
        producer_fakes.world() as it,
        world() as (_, client),
        open_push_consumer(client, "push", {"orders": "*"}) as push,
        open_lite_pull_consumer(client, "lite") as lite,
        open_pop_consumer(client, "pop", {"orders": "*"}, ignore) as pop,
        open_admin(client) as admin,
        open_registration(identity, (), config) as registration,
    ):
        yield {
            "producer": it.producer,
            "client": client,
            "name servers": client.name_servers,
            "one name server": client.name_servers.each()[0],
            "brokers": client.brokers,
            "pool": client.pool,
            "push": push,
            "lite": lite,
            "pop": pop,
            "pops": pop.calls,
            "registration": registration,
            **{f"admin {name}": part for name, part in vars(admin).items() if name != "client"},
        }


@pytest.mark.parametrize("error_of", [error_in_asyncio, error_without_loop])
async def test_every_coroutine_method_is_refused(
    autojump_clock: object, error_of: Callable[[Callable[[], Any]], BaseException | None]
) -> None:
    async with everything() as clients:
        calls = {
            f"{label}: {name}": call_of(owner, name)
            for label, owner in clients.items()
            for name in [*coroutine_methods(owner), *(["__anext__"] if label == "push" else [])]
        }
        errors = {text: error_of(call) for text, call in calls.items()}

    assert len(calls) > 200
    wrong = {text: error for text, error in errors.items() if type(error) is not NotInTrioError}
    assert wrong == {}


async def test_synchronous_changes_of_consumers_are_refused() -> None:
    async with everything() as clients:
        push, lite, pop, pool = (clients[name] for name in ("push", "lite", "pop", "pool"))
        calls: list[tuple[object, str, tuple[object, ...]]] = [
            (push, "subscribe", ("T",)),
            (push, "unsubscribe", ("orders",)),
            (push, "suspend", ()),
            (push, "resume", ()),
            (lite, "subscribe", ("T",)),
            (lite, "assign", ([],)),
            (lite, "pause", ([],)),
            (lite, "resume", ([],)),
            (lite, "go_back", (None, 0)),
            (pop, "subscribe", ("T",)),
            (pool, "connect_soon", (NS,)),
        ]
        for owner, name, arguments in calls:
            error = _error_in_thread(partial(getattr(owner, name), *arguments))
            assert type(error) is NotInTrioError, name
        assert "T" not in (*push.topics(), *lite.topics(), *pop.topics())  # type: ignore[attr-defined]  # all three have it


@pytest.mark.parametrize("opener", [open_client, partial(open_producer, group="g")])
def test_a_loop_in_the_thread_of_trio_is_outside_of_trio(opener: Callable[[str], Any]) -> None:
    errors: list[BaseException] = []

    async def try_it() -> None:
        try:
            async with opener(NS):
                pass
        except NotInTrioError as error:
            errors.append(error)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        trio.lowlevel.start_guest_run(
            trio.sleep,
            0.05,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=lambda _: ended.set(),
        )
        await asyncio.sleep(0)
        await try_it()
        await ended.wait()

    asyncio.run(main())
    assert len(errors) == 1


def test_only_public_methods_that_do_not_check_themselves_are_checked() -> None:
    @trio_only("excluded")
    class Call:
        async def public(self) -> None:
            """Documented."""

        async def excluded(self) -> None: ...

        async def _private(self) -> None: ...

    assert [name for name, call in vars(Call).items() if hasattr(call, "__wrapped__")] == ["public"]
    assert Call.public.__doc__ == "Documented."

"""The thread of trio: calls from threads, their cancellation, its end."""

import os
import threading
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
import trio

from rocketwire.errors import ChannelClosedError, LocalProtocolError
from rocketwire.portal.admin import MAX_CHUNK, Walk
from rocketwire.portal.calls import ThreadCall, run_in_context, run_in_executor
from rocketwire.portal.portal import MAX_IDLE_WORKERS, Portal, PortalUser, leave_portal, use_portal


@pytest.fixture
def portal() -> Iterator[Portal]:
    user = PortalUser()
    portal = use_portal(user)
    yield portal
    leave_portal(user)
    portal.join_if_unused()
    assert portal.is_ended


async def double(number: int) -> int:
    await trio.lowlevel.checkpoint()
    return 2 * number


def test_an_error_is_raised_in_the_calling_thread(portal: Portal) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        portal.call(fail)


def test_calls_of_many_threads_run_at_the_same_time(portal: Portal) -> None:
    count = 2 * MAX_IDLE_WORKERS
    all_waiting = trio.Event()
    waiting: list[int] = []

    async def wait(number: int) -> None:
        waiting.append(number)
        if len(waiting) == count:
            all_waiting.set()
        await all_waiting.wait()

    threads = [threading.Thread(target=portal.call, args=(wait, n)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(waiting) == list(range(count))
    assert portal.call(double, 1) == 2
    assert len(portal.idle_workers) <= MAX_IDLE_WORKERS


def test_a_cancelled_call_ends_and_its_worker_executes_the_next(portal: Portal) -> None:
    started = threading.Event()

    async def wait() -> None:
        started.set()
        await trio.sleep_forever()

    call = ThreadCall(wait, (), {})
    portal.post(call)
    started.wait()
    portal.cancel(call)
    call.lock.acquire()

    assert call.is_done
    assert isinstance(call.visible_error(), ChannelClosedError)
    assert [portal.call(double, n) for n in range(5)] == [0, 2, 4, 6, 8]


def test_a_call_that_is_cancelled_before_it_starts_does_nothing(portal: Portal) -> None:
    called: list[int] = []

    async def note() -> None:
        called.append(1)

    call = ThreadCall(note, (), {})
    call.is_cancelled = True
    portal.post(call)
    call.lock.acquire()

    assert called == []


def test_a_function_in_trio_cannot_wait_for_trio(portal: Portal) -> None:
    async def wait() -> int:
        return portal.call(double, 1)

    with pytest.raises(LocalProtocolError, match="cannot wait"):
        portal.call(wait)


def test_two_users_share_a_portal_and_the_next_gets_a_new_one() -> None:
    users = [PortalUser() for _ in range(3)]
    first, second = use_portal(users[0]), use_portal(users[1])
    assert first is second
    leave_portal(users[0])
    assert first.call(double, 2) == 4
    leave_portal(users[1])
    leave_portal(users[1])
    first.join_if_unused()

    third = use_portal(users[2])
    assert third is not first
    assert third.call(double, 3) == 6
    leave_portal(users[2])
    third.join_if_unused()


def test_an_interrupted_call_is_abandoned(portal: Portal, monkeypatch: pytest.MonkeyPatch) -> None:
    post = portal.post

    def interrupt(item: object) -> None:
        monkeypatch.setattr(portal, "post", post)
        raise KeyboardInterrupt

    monkeypatch.setattr(portal, "post", interrupt)
    with pytest.raises(KeyboardInterrupt):
        portal.call(double, 1)

    assert portal.call(double, 2) == 4


def test_an_interrupted_wake_is_not_lost(portal: Portal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert portal.call(double, 1) == 2
    write = os.write

    def interrupt(*_: object) -> int:
        monkeypatch.setattr(os, "write", write)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        portal.call(double, 1)

    assert portal.call(double, 2) == 4


def test_an_interrupt_during_the_start_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    start, threads = threading.Thread.start, list[threading.Thread]()

    def interrupt(thread: threading.Thread) -> None:
        threads.append(thread)
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupt)
    user = PortalUser()
    with pytest.raises(KeyboardInterrupt):
        use_portal(user)
    monkeypatch.undo()

    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert use_portal(user).call(double, 1) == 2
    leave_portal(user)


async def test_a_walk_that_is_closed_ends_its_generator() -> None:
    ended: list[object] = []

    async def count(messages: object) -> AsyncGenerator[Any]:
        try:
            for number in range(2 * MAX_CHUNK):
                yield number
        finally:
            ended.append(messages)

    messages: Any = object()
    walk = Walk(count)
    chunk: list[Any] = await walk.next_chunk(messages)
    assert chunk == list(range(MAX_CHUNK))
    assert ended == []

    await walk.close(messages)
    await walk.close(messages)

    assert ended == [messages]
    assert await walk.next_chunk(messages) == []


NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


async def name() -> str:
    await trio.lowlevel.checkpoint()
    return NAME.get()


async def test_a_function_and_its_tasks_see_the_variables_after_each_wait() -> None:
    values: list[str] = []

    async def note() -> None:
        values.append(await name())

    async def look() -> str:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(note)
        return await name()

    context = copy_context()
    context.run(NAME.set, "caller")

    assert await run_in_context(context, look) == "caller"
    assert values == ["caller"]
    assert NAME.get() == "nobody"


async def test_errors_and_cancellation_reach_the_function() -> None:
    async def fail() -> None:
        await name()
        raise ZeroDivisionError

    cancelled: list[bool] = []

    async def sleep() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            cancelled.append(True)
            raise

    with pytest.raises(ZeroDivisionError):
        await run_in_context(copy_context(), fail)
    with trio.move_on_after(0):
        await run_in_context(copy_context(), sleep)
    assert cancelled == [True]


def test_a_call_sees_the_variables_of_its_caller_and_no_other_call_does(portal: Portal) -> None:
    def call_as(who: str, names: list[str]) -> None:
        NAME.set(who)
        names.append(portal.call(name))

    names: list[str] = []
    for who in ("a", "b"):
        thread = threading.Thread(target=call_as, args=(who, names))
        thread.start()
        thread.join()

    assert names == ["a", "b"]
    assert portal.call(name) == "nobody"


def test_a_handler_in_a_pool_sees_the_variables_of_its_task(portal: Portal) -> None:
    async def handle() -> tuple[str, str]:
        with ThreadPoolExecutor(1) as pool:
            first = await run_in_executor(portal.post, pool, NAME.get)
            NAME.set("span")
            return first, await run_in_executor(portal.post, pool, NAME.get)

    assert portal.call(handle) == ("nobody", "span")

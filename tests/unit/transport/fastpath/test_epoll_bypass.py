"""``EpollBypass`` over real sockets: when a task may wait for bytes without the loop."""

import queue
import socket
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from rocketwire.transport.fastpath.epoll_bypass import MAX_POLLS, MAX_WAIT, EpollBypass, bypass_for
from tests.support.tcp_pair import pair


@asynccontextmanager
async def open_bypass(
    *, bytes_there: bool = True
) -> AsyncGenerator[tuple[EpollBypass, socket.socket]]:
    """A bypass to a socket, and the other end of that, while no other task can run."""
    with pair() as (stream, there):
        async with stream:
            if bytes_there:
                there.sendall(b"bytes")
            bypass = bypass_for(stream.socket.fileno())
            assert bypass is not None
            await wait_all_tasks_blocked()
            yield bypass, there


async def test_a_sole_task_waits_until_bytes_come() -> None:
    async with open_bypass(bytes_there=False) as (bypass, there):
        later = threading.Timer(0.01, there.sendall, (b"bytes",))
        later.start()
        ready = bypass.is_ready()
        later.join()
        assert ready


async def test_it_is_left_at_a_deadline_and_not_taken_after_it() -> None:
    async with open_bypass(bytes_there=False) as (bypass, there):
        with trio.move_on_after(0.01) as scope:
            assert not bypass.is_ready()
            there.sendall(b"too late")
            assert not bypass.is_ready()
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught

        assert bypass.is_ready()


async def test_it_is_not_taken_while_a_task_wants_to_run() -> None:
    async with open_bypass() as (bypass, _), trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 0)
        assert not bypass.is_ready()
        await wait_all_tasks_blocked()
        assert bypass.is_ready()


async def test_it_is_not_taken_while_another_task_runs_in_the_same_turn() -> None:
    results = list[bool]()
    both = trio.Event()

    async with open_bypass() as (bypass, _):

        async def look() -> None:
            await both.wait()
            results.append(bypass.is_ready())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            nursery.start_soon(look)
            await wait_all_tasks_blocked()
            both.set()

    assert not results[0]


@asynccontextmanager
async def open_reader() -> AsyncGenerator[socket.socket]:
    """The other end of a socket from which a task reads."""
    with pair() as (stream, there):
        async with stream, trio.open_nursery() as nursery:
            nursery.start_soon(stream.receive_some)
            await wait_all_tasks_blocked()
            yield there


async def test_it_is_left_for_another_socket() -> None:
    async with open_bypass() as (bypass, _), open_reader() as there:
        assert bypass.is_ready()
        there.sendall(b"for the other task")
        assert is_left(bypass)
        await wait_all_tasks_blocked()
        assert not is_left(bypass)


async def test_it_is_left_at_once_for_another_socket_if_its_own_has_no_bytes() -> None:
    async with open_bypass(bytes_there=False) as (bypass, _), open_reader() as there:
        there.sendall(b"for the other task")
        started = trio.current_time()
        assert not bypass.is_ready()
        assert trio.current_time() - started < MAX_WAIT


async def test_it_is_left_for_a_thread_that_calls_back() -> None:
    called = list[str]()
    token = trio.lowlevel.current_trio_token()

    async with open_bypass() as (bypass, _):
        thread = threading.Thread(target=token.run_sync_soon, args=(called.append, "from a thread"))
        thread.start()
        thread.join()
        assert is_left(bypass)
        await wait_all_tasks_blocked()
        assert called == ["from a thread"]

        assert not is_left(bypass)


def is_left(bypass: EpollBypass) -> bool:
    """Whether the loop runs soon, although bytes are available all the time."""
    return not all(bypass.is_ready() for _ in range(MAX_POLLS))


async def test_it_is_not_taken_while_a_task_waits_for_all_others() -> None:
    async with open_bypass() as (bypass, _), trio.open_nursery() as nursery:
        nursery.start_soon(wait_all_tasks_blocked, 0.001)
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
        assert not bypass.is_ready()


async def test_it_is_not_taken_with_an_instrument() -> None:
    class Watch(trio.abc.Instrument):
        pass

    async with open_bypass() as (bypass, _):
        watch = Watch()
        trio.lowlevel.add_instrument(watch)
        assert not bypass.is_ready()
        trio.lowlevel.remove_instrument(watch)

        assert bypass.is_ready()


async def test_it_is_not_taken_with_a_clock_that_jumps(autojump_clock: MockClock) -> None:
    async with open_bypass() as (bypass, _):
        assert not bypass.is_ready()
        autojump_clock.autojump_threshold = float("inf")
        assert bypass.is_ready()


async def test_it_is_not_taken_among_very_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_bypass() as (bypass, _):
        monkeypatch.setattr("rocketwire.transport.fastpath.epoll_bypass.MAX_TASKS", 1)
        assert not bypass.is_ready()


@pytest.mark.parametrize("missing", ["clock", "deadlines", "io_manager", "ki_pending", "runq"])
async def test_there_is_none_without_an_internal_of_trio(
    missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runner = _runner()

    class Without:
        """A task and its runner, without an attribute."""

        def __getattr__(self, name: str) -> Any:
            if name == missing:
                raise AttributeError(f"no {name}")
            return self if name == "_runner" else getattr(runner, name, None)

    caplog.set_level("INFO", "rocketwire.channel")
    monkeypatch.setattr("trio.lowlevel.current_task", Without)
    with pair() as (stream, _):
        async with stream:
            assert bypass_for(stream.socket.fileno()) is None
    assert f"the fast path is off: trio {trio.__version__}: no {missing}" in caplog.text


async def test_there_is_none_for_another_structure_of_trio(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        """A task with other attributes than those of trio."""

        def __init__(self, **attributes: object) -> None:
            vars(self).update(attributes)

    runner = vars(trio.lowlevel.current_task)  # something without a loop
    tasks = (Other(), Other(_runner=runner), Other(_runner=_runner(), _next_send_fn=None))
    for current in tasks:
        with pair() as (stream, _):
            async with stream:
                assert bypass_for(stream.socket.fileno()) is not None
                with monkeypatch.context() as context:
                    context.setattr("trio.lowlevel.current_task", lambda task=current: task)
                    assert bypass_for(stream.socket.fileno()) is None


def _runner() -> Any:
    task: Any = trio.lowlevel.current_task()
    return task._runner


def test_there_is_none_where_trio_is_a_guest() -> None:
    bypasses: list[EpollBypass | None] = []
    calls = queue.SimpleQueue[Any]()

    async def look() -> None:
        with pair() as (stream, _):
            async with stream:
                bypasses.append(bypass_for(stream.socket.fileno()))

    trio.lowlevel.start_guest_run(
        look, run_sync_soon_threadsafe=calls.put, done_callback=lambda _: calls.put(None)
    )
    while (call := calls.get(timeout=10)) is not None:
        call()

    assert bypasses == [None]

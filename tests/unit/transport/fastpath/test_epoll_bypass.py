"""``EpollBypass`` over real sockets: when it is taken, and everything that keeps others from waiting for it."""

from __future__ import annotations

import queue
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trio
import trio.testing

from rocketwire.transport.fastpath.epoll_bypass import MAX_POLLS, MAX_WAIT, EpollBypass, bypass_for
from tests.support.tcp_pair import pair

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def bypass(*, bytes_there: bool = True) -> AsyncGenerator[tuple[EpollBypass, socket.socket]]:
    """A bypass to a socket, and the other end of that; nothing else is to be done."""
    with pair() as (stream, there):
        async with stream:
            if bytes_there:
                there.sendall(b"bytes")
            found = bypass_for(stream.socket.fileno())
            assert found is not None
            await trio.testing.wait_all_tasks_blocked()
            yield found, there


async def test_who_is_alone_waits_until_bytes_come() -> None:
    async with bypass(bytes_there=False) as (found, there):
        later = threading.Timer(0.01, there.sendall, (b"bytes",))
        later.start()
        ready = found.is_ready()
        later.join()

        assert ready


async def test_it_is_left_when_a_deadline_comes_and_not_taken_behind_one() -> None:
    async with bypass(bytes_there=False) as (found, there):
        with trio.move_on_after(0.01) as scope:
            assert not found.is_ready()
            there.sendall(b"too late")
            assert not found.is_ready()
            await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught

        assert found.is_ready()


async def test_it_is_not_taken_while_a_task_wants_to_run() -> None:
    async with bypass() as (found, _), trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 0)
        assert not found.is_ready()
        await trio.testing.wait_all_tasks_blocked()

        assert found.is_ready()


async def test_it_is_not_taken_while_another_task_runs_in_the_same_turn() -> None:
    seen = list[bool]()
    both = trio.Event()

    async with bypass() as (found, _):

        async def look() -> None:
            await both.wait()
            seen.append(found.is_ready())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            nursery.start_soon(look)
            await trio.testing.wait_all_tasks_blocked()
            both.set()

    assert not seen[0]


async def test_it_is_left_for_another_socket() -> None:
    async with bypass() as (found, _), trio.open_nursery() as nursery:
        with pair() as (stream, there):
            async with stream:
                nursery.start_soon(stream.receive_some)
                await trio.testing.wait_all_tasks_blocked()
                assert found.is_ready()
                there.sendall(b"for the other task")
                assert is_left(found)
                await trio.testing.wait_all_tasks_blocked()

                assert not is_left(found)


async def test_it_is_left_for_another_socket_at_once_while_its_own_has_no_bytes() -> None:
    async with bypass(bytes_there=False) as (found, _), trio.open_nursery() as nursery:
        with pair() as (stream, there):
            async with stream:
                nursery.start_soon(stream.receive_some)
                await trio.testing.wait_all_tasks_blocked()
                there.sendall(b"for the other task")
                started = trio.current_time()

                assert not found.is_ready()
                assert trio.current_time() - started < MAX_WAIT
                await trio.testing.wait_all_tasks_blocked()


async def test_it_is_left_for_a_thread_that_calls_back() -> None:
    called = list[str]()
    token = trio.lowlevel.current_trio_token()

    async with bypass() as (found, _):
        thread = threading.Thread(target=token.run_sync_soon, args=(called.append, "from a thread"))
        thread.start()
        thread.join()
        assert is_left(found)
        await trio.testing.wait_all_tasks_blocked()
        assert called == ["from a thread"]

        assert not is_left(found)


def is_left(found: EpollBypass) -> bool:
    """Whether the loop has its turn soon, although there are bytes all the time."""
    return not all(found.is_ready() for _ in range(MAX_POLLS))


async def test_it_is_not_taken_while_somebody_waits_for_all_others_to_be_blocked() -> None:
    async with bypass() as (found, _), trio.open_nursery() as nursery:
        nursery.start_soon(trio.testing.wait_all_tasks_blocked, 0.001)
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()

        assert not found.is_ready()


async def test_it_is_not_taken_while_somebody_watches_every_turn_of_the_loop() -> None:
    class Watch(trio.abc.Instrument):
        pass

    async with bypass() as (found, _):
        watch = Watch()
        trio.lowlevel.add_instrument(watch)
        assert not found.is_ready()
        trio.lowlevel.remove_instrument(watch)

        assert found.is_ready()


async def test_it_is_not_taken_with_a_clock_that_jumps(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with bypass() as (found, _):
        assert not found.is_ready()
        autojump_clock.autojump_threshold = float("inf")

        assert found.is_ready()


async def test_it_is_not_taken_among_very_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bypass() as (found, _):
        monkeypatch.setattr("rocketwire.transport.fastpath.epoll_bypass.MAX_TASKS", 1)

        assert not found.is_ready()


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


async def test_there_is_none_where_trio_is_not_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        """Nothing that trio has, or what it has elsewhere."""

        def __init__(self, **held: object) -> None:
            vars(self).update(held)

    runner = vars(trio.lowlevel.current_task)  # something without a loop
    for strange in (Other(), Other(_runner=runner), Other(_runner=_runner(), _next_send_fn=None)):
        with pair() as (stream, _):
            async with stream:
                assert bypass_for(stream.socket.fileno()) is not None
                with monkeypatch.context() as context:
                    context.setattr("trio.lowlevel.current_task", lambda one=strange: one)
                    assert bypass_for(stream.socket.fileno()) is None


def _runner() -> Any:
    task: Any = trio.lowlevel.current_task()
    return task._runner


def test_there_is_none_where_trio_is_a_guest() -> None:
    found = list[EpollBypass | None]()
    calls = queue.SimpleQueue[Any]()

    async def look() -> None:
        with pair() as (stream, _):
            async with stream:
                found.append(bypass_for(stream.socket.fileno()))

    trio.lowlevel.start_guest_run(
        look,
        run_sync_soon_threadsafe=calls.put,
        done_callback=lambda _: calls.put(None),
    )
    while (call := calls.get(timeout=10)) is not None:
        call()

    assert found == [None]

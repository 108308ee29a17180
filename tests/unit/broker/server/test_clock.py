"""The broker's time."""

from __future__ import annotations

import trio

from rocketwire_broker.server.clock import Clock


async def test_time_goes_on_with_trios_clock(autojump_clock: trio.testing.MockClock) -> None:
    clock = Clock()
    start = clock.now()
    await trio.sleep(2)

    assert clock.now() - start == 2000


async def test_something_due_is_due_when_trio_wakes(autojump_clock: trio.testing.MockClock) -> None:
    clock = Clock()
    due = clock.now() + 1234
    await trio.sleep_until(clock.trio_time(due))

    assert clock.now() == due


async def test_tests_move_the_time() -> None:
    clock = Clock()
    start = clock.now()
    clock.advance(7_200_000)

    assert 7_200_000 <= clock.now() - start < 7_210_000

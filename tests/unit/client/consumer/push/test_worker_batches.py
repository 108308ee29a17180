"""Who is told that a coroutine waits."""

from __future__ import annotations

import pytest
import trio

from rocketwire.client.consumer.push.worker_batches import notify_before_wait


async def test_waiting_is_told_each_time_and_errors_and_results_come_through(
    autojump_clock: trio.testing.MockClock,
) -> None:
    told: list[float] = []

    async def work() -> str:
        await trio.sleep(1)
        with trio.move_on_after(1):
            await trio.sleep_forever()
        return "done"

    assert await notify_before_wait(work(), lambda: told.append(trio.current_time())) == "done"
    assert len(told) == 2

    async def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await notify_before_wait(fails(), lambda: None)

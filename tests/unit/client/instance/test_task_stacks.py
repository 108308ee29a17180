"""Where tasks are, told to operators."""

from __future__ import annotations

import trio

from rocketwire.client.instance.task_stacks import task_stacks


async def waits_for_nothing() -> None:
    held = "nobody is told"
    await trio.sleep_forever()
    assert held


async def test_every_task_is_told_with_the_function_that_it_waits_in(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_for_nothing, name="a waiting one")
        await trio.testing.wait_all_tasks_blocked()
        told = task_stacks()
        nursery.cancel_scope.cancel()

    lines = told.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("a waiting one TID: "))
    stack = lines[at + 1 : lines.index("", at)]
    assert "trio" in stack[0]
    assert stack[-1].startswith(f"    {__name__}.waits_for_nothing:")
    assert "nobody is told" not in told

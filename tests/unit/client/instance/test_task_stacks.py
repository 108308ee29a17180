"""The stacks of tasks and threads, for operators."""

import asyncio
import threading

import trio

from rocketwire.client.instance.task_stacks import loops, task_stacks


async def waits_for_nothing() -> None:
    local = "nobody is told"
    await trio.sleep_forever()
    assert local


async def test_every_task_is_listed_with_its_current_function(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_for_nothing, name="a waiting one")
        await trio.testing.wait_all_tasks_blocked()
        text = task_stacks()
        nursery.cancel_scope.cancel()

    lines = text.splitlines()
    start = next(
        number for number, line in enumerate(lines) if line.startswith("a waiting one TID: ")
    )
    stack = lines[start + 1 : lines.index("", start)]
    assert "trio" in stack[0]
    assert stack[-1].startswith(f"    {__name__}.waits_for_nothing:")
    assert "nobody is told" not in text


def wait_in_a_handler(started: threading.Event, end: threading.Event) -> None:
    started.set()
    assert end.wait(60)


async def test_stacks_of_threads_and_asyncio_begin_in_the_application() -> None:
    started, waits, end = threading.Event(), threading.Event(), threading.Event()

    async def charge_the_card() -> None:
        waits.set()
        while not end.is_set():
            await asyncio.sleep(0.01)

    async def use_asyncio() -> None:
        loops.add(asyncio.get_running_loop())
        await charge_the_card()

    threads = [
        threading.Thread(target=wait_in_a_handler, args=(started, end), name="handler-1"),
        threading.Thread(target=asyncio.run, args=(use_asyncio(),)),
    ]
    for thread in threads:
        thread.start()
    try:
        await trio.to_thread.run_sync(lambda: started.wait(60) and waits.wait(60))
        stacks = task_stacks().split("\n\n")
    finally:
        end.set()
        for thread in threads:
            thread.join()

    of_handler = next(n for n, text in enumerate(stacks) if text.startswith("thread handler-1 TID"))
    of_task = next(n for n, text in enumerate(stacks) if "charge_the_card" in text)
    idle = [n for n, text in enumerate(stacks) if text.startswith("<init>")]
    assert f"{__name__}.wait_in_a_handler" in stacks[of_handler]
    assert stacks[of_task].startswith("task ")
    assert max(of_handler, of_task) < min(idle)

"""``background``: tasks end with the block, and the block's error keeps its type."""

import pytest
import trio
import trio.testing

from rocketwire.errors import IllegalHandlerError
from rocketwire.transport.nursery import background


async def test_tasks_end_with_the_block() -> None:
    ended: list[str] = []

    async def task() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("task")

    async with background() as nursery:
        nursery.start_soon(task)
        await trio.testing.wait_all_tasks_blocked()

    assert ended == ["task"]


async def test_an_error_of_the_block_comes_out_as_it_is() -> None:
    error = ValueError("mine")

    async def fail() -> None:
        async with background() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise error

    with pytest.raises(ValueError, match="mine") as caught:
        await fail()

    assert caught.value is error


async def test_an_error_of_a_task_comes_out_in_a_group() -> None:
    async def task() -> None:
        raise KeyError("task")

    async def wait_for_it() -> None:
        async with background() as nursery:
            nursery.start_soon(task)
            await trio.sleep_forever()

    with pytest.raises(BaseExceptionGroup) as caught:
        await wait_for_it()

    assert [type(error) for error in caught.value.exceptions] == [KeyError]


async def test_the_error_of_a_single_task_is_not_wrapped_in_a_group() -> None:
    error = IllegalHandlerError("not async")

    async def task() -> None:
        raise error

    async def wait_for_it(tasks: int) -> None:
        async with background() as nursery:
            for _ in range(tasks):
                nursery.start_soon(task)
            await trio.sleep_forever()

    with pytest.raises(IllegalHandlerError) as caught:
        await wait_for_it(1)
    assert caught.value is error
    with pytest.raises(BaseExceptionGroup):
        await wait_for_it(2)


async def test_a_cancelled_block_is_left_quietly() -> None:
    with trio.move_on_after(0) as scope:
        async with background():
            await trio.sleep_forever()
    assert scope.cancelled_caught

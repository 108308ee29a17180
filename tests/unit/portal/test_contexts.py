"""Context variables of a caller in trio, and of trio in handlers."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context

import pytest
import trio

from rocketwire.portal.calls import run_in_context, run_in_executor
from rocketwire.portal.portal import Portal, PortalUser, leave_portal, use_portal

NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


@pytest.fixture
def portal() -> Iterator[Portal]:
    user = PortalUser()
    portal = use_portal(user)
    yield portal
    leave_portal(user)
    portal.join_if_unused()


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

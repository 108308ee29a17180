"""Background tasks of a block whose own errors are not wrapped in a group."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import trio

from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

T = TypeVar("T")


@asynccontextmanager
async def background() -> AsyncGenerator[trio.Nursery]:
    """Open a nursery whose tasks are cancelled at the end of the block.

    An error that leaves the block is raised as it is, not in a group. So is a ``RocketWireError``
    of a single task, which also ends the block. Any other error of a task is a bug, raised in a
    group.
    """
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            try:
                yield nursery
            except BaseException as error:
                raised = error
                raise
            finally:
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if raised is None or group.exceptions != (raised,):
            raised = group.exceptions[0]
            if len(group.exceptions) > 1 or not isinstance(raised, RocketWireError):
                raise
    if raised is not None:
        raise raised


async def run_each(function: Callable[[T], Awaitable[object]], items: Iterable[T]) -> None:
    """Await a function for each item, all at once."""
    async with trio.open_nursery() as nursery:
        for item in items:
            nursery.start_soon(function, item)

"""Background tasks for the length of a block, without the block's own error changing its type."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@asynccontextmanager
async def background() -> AsyncGenerator[trio.Nursery]:
    """A nursery for tasks that end with the block.

    At the end of the block its tasks are cancelled.  An error that leaves the block comes out as it is, not in a group.  So
    does a ``RocketWireError`` with which one task ends, and the block with it.  Any other error of a task, which is a bug of
    that task, comes out in a group as of any nursery.
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

"""Requests of this side that wait for their responses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import trio

from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.request_template import PreparedRequest

if TYPE_CHECKING:
    from rocketwire.errors import RocketWireError

NextRequest: TypeAlias = Callable[[RemotingCommand], RemotingCommand | PreparedRequest | None]
"""Takes a response and returns the next request of a chain, or None."""


class PendingRequest:
    """A request that a task waits for."""

    __slots__ = ("error", "opaque", "response", "task")

    def __init__(self, opaque: int) -> None:
        self.opaque: int = opaque
        self.task: trio.lowlevel.Task | None = None  # the waiting task; None before it waits
        self.response: RemotingCommand | None = None
        self.error: RocketWireError | None = None

    def wake(self) -> None:
        """Resume the waiting task; called once, after the request has been removed."""
        if self.task is not None:
            trio.lowlevel.reschedule(self.task)


class RequestChain(PendingRequest):
    """A sequence of requests, each made from the previous response; the task waits for the last."""

    __slots__ = ("next_request", "timeout")

    def __init__(self, next_request: NextRequest, timeout: float) -> None:
        super().__init__(0)
        self.next_request: NextRequest = next_request
        self.timeout: float = timeout  # seconds for each response

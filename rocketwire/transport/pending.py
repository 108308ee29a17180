"""Who waits for an answer over a channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import trio

from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.request_template import PreparedRequest

if TYPE_CHECKING:
    from rocketwire.errors import RocketWireError

Follow: TypeAlias = Callable[[RemotingCommand], RemotingCommand | PreparedRequest | None]
"""Takes an answer; returns what is asked next, None for nothing.  It neither waits nor raises."""


class Waiter:
    """Somebody who waits for an answer.

    Attributes:
        opaque: the number of the request that waits for it.
        task: whose turn it is then; None for who has not begun to wait.
        response: the answer.
        error: what came in its place.
    """

    __slots__ = ("error", "opaque", "response", "task")

    def __init__(self, opaque: int) -> None:
        """Args: opaque: the number of the request."""
        self.opaque = opaque
        self.task: trio.lowlevel.Task | None = None
        self.response: RemotingCommand | None = None
        self.error: RocketWireError | None = None

    def wake(self) -> None:
        """Let the waiter go on; called once, by whoever took it out of those that wait."""
        if self.task is not None:
            trio.lowlevel.reschedule(self.task)


class Talk(Waiter):
    """Somebody who waits for the answer that nothing follows.

    Attributes:
        follow: makes the next request of an answer.
        patience: seconds that each answer may take.
    """

    __slots__ = ("follow", "patience")

    def __init__(self, follow: Follow, patience: float) -> None:
        """Nothing is asked yet; arguments as the attributes."""
        super().__init__(0)
        self.follow = follow
        self.patience = patience

"""Requests that a broker sends to other brokers, because a section of a logical queue is there.

``ask`` keeps what goes on with the answer, the driver brings it.

Java: ``RpcClientImpl``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand

Answered = Callable[["RemotingCommand | None", int], None]
"""Called with the answer of a broker, or None if there is none, and the time."""


class Forward(NamedTuple):
    """A request to another broker.

    Attributes:
        broker_name: the broker.
        code: request code.
        ext_fields: fields of the header.
        answered: what goes on.
    """

    broker_name: str
    code: int
    ext_fields: Mapping[str, str]
    answered: Answered


class Forwards:
    """Requests that the driver has not sent yet.

    Attributes:
        on_asked: called when there is one; None while there is no name server that knows brokers.
    """

    def __init__(self) -> None:
        self.on_asked: Callable[[], None] | None = None
        self._waiting: list[Forward] = []

    def ask(self, forward: Forward, now: int) -> None:
        """Send a request to another broker."""
        if self.on_asked is None:
            forward.answered(None, now)
            return
        self._waiting.append(forward)
        self.on_asked()

    def take(self) -> list[Forward]:
        """Take the requests that are to be sent."""
        taken, self._waiting = self._waiting, []
        return taken

"""``AtOnce``: requests over one channel whose answer is waited for where they are made.

Where one task asks one thing after the other and nothing else is to be done, a request needs neither a waiter nor a deadline nor
a turn of trio's loop; and what a task does not touch need not be fetched anew whenever it wakes.

Rules of this file: nothing is sent unless the answer can be waited for; whatever happens afterwards but that answer, alone and
whole, is left to ``Channel.go_on``, which waits for the answer to what was ``Begun``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.connection import Connection
    from rocketwire.inlet import Inlet
    from rocketwire.outbox import Outbox
    from rocketwire.wire.prepared import PreparedRequest

LONGEST: Final = 0.05
"""Seconds that an answer is waited for at once: later ones are not worth it, and tell when they came."""

T = TypeVar("T")


class Begun(NamedTuple):
    """A request that was sent and not answered.

    Attributes:
        opaque: its number.
        sent_at: time of trio's clock.
        came: what came meanwhile, and is still to be read.
    """

    opaque: int
    sent_at: float
    came: bytes | None


class AtOnce:
    """Requests over one channel, each the only one that waits.

    Attributes:
        heard_at: when something last came over the channel, time of trio's clock, less ``LONGEST`` at most.
    """

    __slots__ = ("_connection", "_inlet", "_now", "_outbox", "heard_at")

    def __init__(
        self, connection: Connection, outbox: Outbox, inlet: Inlet, clock: Callable[[], float]
    ) -> None:
        """Of what the channel consists.

        Args:
            connection: the protocol's state.
            outbox: where to write.
            inlet: where to read.
            clock: trio's.
        """
        self.heard_at = clock()
        self._connection = connection
        self._outbox = outbox
        self._inlet = inlet
        self._now = clock

    @property
    def is_likely(self) -> bool:
        """Whether ``ask`` is worth a try: nobody else reads, or is about to."""
        return self._inlet.is_free

    def ask(
        self, request: PreparedRequest, read: Callable[[bytes, int], T | None], within: float
    ) -> T | Begun | None:
        """Send a request and wait for its answer if nothing else can happen meanwhile.

        Args:
            request: what to ask.
            read: makes of bytes that are the answer, whole and alone, to the request of a number what is returned; None of others.
            within: seconds for all of it.

        Returns:
            What was made of the answer; or how to go on with ``Channel.go_on``, before anything is awaited; or None where nothing
            was sent.

        Raises:
            EncodeError: as of ``Channel.request``.

        Cancellation: nothing is sent by who is cancelled.
        """
        inlet, outbox = self._inlet, self._outbox
        deadline = inlet.deadline()
        if deadline is None or outbox.unsent:
            return None
        now = self._now()
        seconds = min(deadline - now, within, LONGEST)
        if seconds <= 0:
            return None
        sent = self._connection.send_alone(request, now=now)
        if sent is None:
            return None
        opaque, data = sent
        came = inlet.receive_within(seconds) if outbox.put(data, at_once=True) else None
        answer = None if came is None else read(came, opaque)
        if answer is None:
            return Begun(opaque, now, came)
        self.heard_at = now
        return answer

"""``AtOnce``: requests over one channel whose answer is waited for where they are made.

Where one task asks one thing after the other and nothing else is to be done, a request needs neither a waiter nor a deadline nor
a turn of trio's loop; and what a task does not touch need not be fetched anew whenever it wakes.

Rules of this file: nothing is sent unless the answer can be waited for; whatever happens afterwards but that answer, alone and
whole, is left to ``Channel.go_on``, which waits for the answer to what was ``Begun``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.values.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.connection import Connection
    from rocketwire.transport.reader import Inlet
    from rocketwire.transport.writer import Outbox
    from rocketwire.wire.request_template import RequestTemplate

LONGEST: Final = 0.05
"""Seconds that an answer is waited for at once: later ones are not worth it, and tell when they came."""

_READ: Final = 479
"""Bytes that are read at most: it is one short answer that is waited for, and Python keeps room for objects of up to 512 bytes."""


class Begun(NamedTuple):
    """A request that was sent.

    Attributes:
        opaque: its number.
        sent_at: time of trio's clock.
        came: what came meanwhile, and is still to be read.
    """

    opaque: int
    sent_at: float
    came: bytes | None


_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""


class AtOnce:
    """Requests over one channel, each the only one that waits.

    Attributes:
        heard_at: when something last came over the channel, time of trio's clock, less ``LONGEST`` at most.
        inlet: where the channel reads; only while it ``is_free`` is ``ask`` worth a try.
    """

    __slots__ = ("_connection", "_now", "_outbox", "heard_at", "inlet")

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
        self.inlet = inlet
        self._connection = connection
        self._outbox = outbox
        self._now = clock

    def ask(
        self,
        form: RequestTemplate,
        values: tuple[object, ...],
        body: bytes,
        within: float,
    ) -> Begun | None:
        """Send a request and wait for what comes if nothing else can happen meanwhile.

        Args:
            form: of the request.
            values: what it is filled with.
            body: of the request.
            within: seconds for all of it.

        Returns:
            What came.  Unless that is the answer, whole and alone, ``Channel.go_on`` has to follow before anything is awaited.
            None where nothing was sent.

        Raises:
            EncodeError: as of ``Channel.request``.

        Cancellation: nothing is sent by who is cancelled.
        """
        inlet, outbox = self.inlet, self._outbox
        shortcut, descriptor = inlet.shortcut, inlet.descriptor
        if not inlet.is_free or outbox.unsent or shortcut is None or descriptor is None:
            return None
        deadline = shortcut.deadline()
        if deadline is None:
            return None
        now = self._now()
        left = deadline - now
        most = within if within < LONGEST else LONGEST
        seconds = left if left < most else most
        if seconds <= 0:
            return None
        sent = self._connection.send_alone(form, values, body, now)
        if sent is None:
            return None
        opaque, data = sent
        came = None
        try:  # as ``Outbox.put`` and ``Inlet.receive_soon``, each of which is something more to touch
            written = os.write(descriptor, data)
        except OSError:
            written = 0
        if written != len(data):
            outbox.put(data[written:], at_once=False)
        elif (ready := shortcut.poll(1000 * seconds)) and ready[0][0] == descriptor:
            try:
                came = os.read(descriptor, _READ) or None
                self.heard_at = now
            except OSError:
                came = None
        begun: Begun = _new(Begun, (opaque, now, came))
        return begun

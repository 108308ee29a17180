"""``DirectRequests``: sends a request and reads its response in the same task, without trio's loop.

If a task sends one request after the other and no other task can run, a request needs neither a
pending entry nor a deadline nor a turn of trio's loop.

Nothing is sent unless the response can be awaited here.  If anything but the complete response
comes, ``Channel.finish_request`` waits for the response to the ``StartedRequest``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import IllegalValueError
from rocketwire.transport.fastpath.epoll_bypass import bypass_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.connection import Connection
    from rocketwire.transport.fastpath.epoll_bypass import EpollBypass
    from rocketwire.transport.reader import StreamReader
    from rocketwire.transport.writer import StreamWriter
    from rocketwire.wire.request_template import RequestTemplate

# Maximum seconds to wait for a response here; for slower responses the gain is negligible
MAX_WAIT: Final = 0.05
# Maximum bytes of a read: a short response.  CPython pools objects of up to 512 bytes.
_READ_SIZE: Final = 479


# Creates a named tuple from its items, in a third of the time of its constructor
new_tuple: Final[Callable[..., Any]] = vars(tuple)["__new__"]


class StartedRequest(NamedTuple):
    opaque: int  # its number
    sent_at: float  # time of trio's clock
    data: bytes | None  # received bytes that have not been decoded, or None


class DirectRequests:
    __slots__ = ("_bypass", "_connection", "_descriptor", "_now", "_writer", "reader")

    def __init__(
        self,
        connection: Connection,
        reader: StreamReader,
        writer: StreamWriter,
        clock: Callable[[], float],
        bypass: EpollBypass,
        descriptor: int,
    ) -> None:
        # reader of the channel; requests are possible only while it ``allows_bypass``
        self.reader: StreamReader = reader
        self._connection = connection
        self._writer = writer
        self._now = clock
        self._bypass = bypass
        self._descriptor = descriptor

    def request(
        self, template: RequestTemplate, values: tuple[object, ...], body: bytes, timeout: float
    ) -> StartedRequest | None:
        """Send a request and wait for bytes, if nothing else can happen meanwhile.

        Unless the bytes are exactly the response, the caller has to call ``Channel.finish_request``
        before it awaits anything. None if nothing was sent, as by a cancelled caller.
        """
        reader, writer = self.reader, self._writer
        if not reader.allows_bypass or writer.unsent:
            return None
        bypass, descriptor = self._bypass, self._descriptor
        deadline = bypass.deadline()
        if deadline is None:
            return None
        now = self._now()
        remaining = deadline - now
        limit = timeout if timeout < MAX_WAIT else MAX_WAIT
        seconds = remaining if remaining < limit else limit
        if seconds <= 0:
            return None
        sent = self._connection.send_alone(template, values, body, now)
        if sent is None:
            return None
        opaque, request = sent
        data = None
        try:  # the steps of ``put`` and ``receive_directly``, without their calls
            written = os.write(descriptor, request)
        except OSError:
            written = 0
        if written != len(request):
            writer.put(request[written:], immediately=False)
        elif (ready := bypass.poll(1000 * seconds)) and ready[0][0] == descriptor:
            try:
                data = os.read(descriptor, _READ_SIZE) or None
                reader.received_at = now
            except OSError:
                data = None
        started: StartedRequest = new_tuple(StartedRequest, (opaque, now, data))
        return started


SWITCH: Final = "ROCKETWIRE_FASTPATH"


def is_switched_on() -> bool:
    value = os.environ.get(SWITCH)
    if value not in (None, "", "on", "off"):
        raise IllegalValueError(f"{SWITCH} must be on or off, not {value!r}")
    return value != "off"


is_on: bool = is_switched_on()  # whether ``attach`` uses the fast path, and producers send directly


def attach(
    connection: Connection, reader: StreamReader, writer: StreamWriter, clock: Callable[[], float]
) -> DirectRequests | None:
    """Attach the fast path to a channel, and its bypass to the reader, in this run of trio.

    None if the fast path is off, the stream is not plain TCP, or trio's run does not allow it.
    """
    descriptor = reader.descriptor
    if not is_on or descriptor is None:
        return None
    bypass = reader.bypass = bypass_for(descriptor)
    if bypass is None:
        return None
    return DirectRequests(connection, reader, writer, clock, bypass, descriptor)

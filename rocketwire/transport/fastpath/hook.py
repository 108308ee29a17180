"""The only entrance to the fast path, with its switch.

The fast path is off if the environment variable ``ROCKETWIRE_FASTPATH`` is ``off``. It reads
internals of trio: without them, ``bypass_for`` returns None.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from rocketwire.errors import IllegalValueError
from rocketwire.transport.fastpath.direct_requests import DirectRequests
from rocketwire.transport.fastpath.epoll_bypass import bypass_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.connection import Connection
    from rocketwire.transport.reader import StreamReader
    from rocketwire.transport.writer import StreamWriter

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

    Returns None if the fast path is off, if the stream is not plain TCP, or if this run of trio
    does not allow it.
    """
    descriptor = reader.descriptor
    if not is_on or descriptor is None:
        return None
    bypass = reader.bypass = bypass_for(descriptor)
    if bypass is None:
        return None
    return DirectRequests(connection, reader, writer, clock, bypass, descriptor)

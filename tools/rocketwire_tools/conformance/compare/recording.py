"""Recordings: JSON lines of all data between clients and a server, in order.

``{"connection": 1, "seconds": 0.012, "from": "client", "what": "frame", "hex": "..."}``; ``what``
is ``open``, ``frame``, ``bytes`` (not a frame, or an incomplete one) or ``end``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TextIO

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.frame import FrameDecoder
from rocketwire_tools.conformance.run.raw_connection import frame_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.conformance.run.target import Address

CLIENT: Final = "client"
SERVER: Final = "server"
OPEN: Final = "open"
FRAME: Final = "frame"
BYTES: Final = "bytes"
END: Final = "end"

_READ: Final = 65_536
_BREAKS: Final = (trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a recording.

    Attributes:
        connection: number of the connection, from 1.
        seconds: time since the start of the recording.
        side: ``client`` or ``server``.
        what: ``open``, ``frame``, ``bytes`` or ``end``.
        data: data of a frame or of bytes.
    """

    connection: int
    seconds: float
    side: str
    what: str
    data: bytes = b""


def write(event: Event) -> str:
    """Format an event as a line without line end."""
    line: dict[str, object] = {
        "connection": event.connection,
        "seconds": round(event.seconds, 6),
        "from": event.side,
        "what": event.what,
    }
    if event.data:
        line["hex"] = event.data.hex()
    return json.dumps(line)


def read(text: str) -> list[Event]:
    """Parse a recording.

    Raises:
        ValueError: a line is invalid; the text contains its number.
    """
    events: list[Event] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            members: dict[str, Any] = json.loads(line)
            side, what = members["from"], members["what"]
            data = bytes.fromhex(members.get("hex", ""))
            event = Event(int(members["connection"]), float(members["seconds"]), side, what, data)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"line {number} is not part of a recording: {error}") from error
        if side not in {CLIENT, SERVER} or what not in {OPEN, FRAME, BYTES, END}:
            raise ValueError(f"line {number} is not part of a recording: {side!r}, {what!r}")
        events.append(event)
    return events


class FrameSplitter:
    """Splits the data of one side into frames; after the first invalid frame, all data is bytes."""

    def __init__(self) -> None:
        self._frames: FrameDecoder | None = FrameDecoder()
        self._pending = bytearray()

    def split(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield ``what`` and ``data`` of the events that these bytes complete."""
        if self._frames is None:
            yield BYTES, data
            return
        self._pending += data
        self._frames.feed(data)
        try:
            while (raw := self._frames.next_frame()) is not None:
                frame = frame_bytes(raw)
                del self._pending[: len(frame)]
                yield FRAME, frame
        except DecodeError:
            self._frames = None
            yield from self.remainder()

    def remainder(self) -> Iterator[tuple[str, bytes]]:
        """Yield the remaining bytes at the end."""
        if self._pending:
            yield BYTES, bytes(self._pending)
        self._pending.clear()


class RecordingProxy:
    """Forwards bytes between clients and a server, and records them.

    Attributes:
        unreached: number of clients for which the server was unreachable.
    """

    def __init__(self, target: Address, sink: TextIO) -> None:
        """``sink`` is flushed after each line."""
        self.unreached = 0
        self._target = target
        self._sink = sink
        self._numbers = count(1)
        self._began = trio.current_time()

    async def serve(self, client: trio.SocketStream) -> None:
        """Forward one connection."""
        try:
            server = await trio.open_tcp_stream(self._target.host, self._target.port)
        except OSError:
            self.unreached += 1
            await client.aclose()
            return
        number = next(self._numbers)
        self._note(number, CLIENT, OPEN)
        async with client, server, trio.open_nursery() as nursery:
            nursery.start_soon(self._forward, number, CLIENT, client, server, nursery.cancel_scope)
            nursery.start_soon(self._forward, number, SERVER, server, client, nursery.cancel_scope)

    def _note(self, number: int, side: str, what: str, data: bytes = b"") -> None:
        seconds = trio.current_time() - self._began
        self._sink.write(f"{write(Event(number, seconds, side, what, data))}\n")
        self._sink.flush()

    async def _forward(
        self,
        number: int,
        side: str,
        source: trio.SocketStream,
        destination: trio.SocketStream,
        both: trio.CancelScope,
    ) -> None:
        """Forward one direction until its end; a broken connection ends both directions."""
        splitter = FrameSplitter()
        broken = False
        try:
            while data := bytes(await source.receive_some(_READ)):
                for what, chunk in splitter.split(data):
                    self._note(number, side, what, chunk)
                await destination.send_all(data)
        except _BREAKS:
            broken = True
        for what, chunk in splitter.remainder():
            self._note(number, side, what, chunk)
        self._note(number, side, END)
        with suppress(*_BREAKS):
            await destination.send_eof()
        if broken:
            both.cancel()

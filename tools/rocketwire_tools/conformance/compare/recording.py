"""What ``record`` writes and ``replay`` reads: JSON lines of everything that two sides said, in the order in which it went by.

``{"connection": 1, "seconds": 0.012, "from": "client", "what": "frame", "hex": "..."}``; ``what`` is ``open``, ``frame``, ``bytes``
(no frame, or the beginning of one) or ``end``.
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
    """One thing that went by.

    Attributes:
        connection: its number, from 1 on.
        seconds: since the recording began.
        side: who did it.
        what: ``open``, ``frame``, ``bytes`` or ``end``.
        data: of a frame or of bytes.
    """

    connection: int
    seconds: float
    side: str
    what: str
    data: bytes = b""


def write(event: Event) -> str:
    """One line, without its end."""
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
    """All events of a recording.

    Raises:
        ValueError: a line is none; the text says which.
    """
    events: list[Event] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            members: dict[str, Any] = json.loads(line)
            side, what = members["from"], members["what"]
            data = bytes.fromhex(members.get("hex", ""))
            event = Event(int(members["connection"]), float(members["seconds"]), side, what, data)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"line {number} is not of a recording: {error}") from error
        if side not in {CLIENT, SERVER} or what not in {OPEN, FRAME, BYTES, END}:
            raise ValueError(f"line {number} is not of a recording: {side!r}, {what!r}")
        events.append(event)
    return events


class Cutter:
    """Cuts what one side says into frames; after the first thing that is none, everything is bytes."""

    def __init__(self) -> None:
        self._frames: FrameDecoder | None = FrameDecoder()
        self._pending = bytearray()

    def cut(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """What is complete with these bytes, as ``what`` and ``data`` of events."""
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
            yield from self.rest()

    def rest(self) -> Iterator[tuple[str, bytes]]:
        """What is left at the end."""
        if self._pending:
            yield BYTES, bytes(self._pending)
        self._pending.clear()


class Tap:
    """Passes bytes on between clients and a server, and writes down what goes by.

    Attributes:
        unreached: how many clients found no server.
    """

    def __init__(self, target: Address, sink: TextIO) -> None:
        """A tap that nobody has connected to.

        Args:
            target: the server.
            sink: where the lines go; flushed after each.
        """
        self.unreached = 0
        self._target = target
        self._sink = sink
        self._numbers = count(1)
        self._began = trio.current_time()

    async def serve(self, near: trio.SocketStream) -> None:
        """Look after one connection."""
        try:
            far = await trio.open_tcp_stream(self._target.host, self._target.port)
        except OSError:
            self.unreached += 1
            await near.aclose()
            return
        number = next(self._numbers)
        self._note(number, CLIENT, OPEN)
        async with near, far, trio.open_nursery() as nursery:
            nursery.start_soon(self._pass_on, number, CLIENT, near, far, nursery.cancel_scope)
            nursery.start_soon(self._pass_on, number, SERVER, far, near, nursery.cancel_scope)

    def _note(self, number: int, side: str, what: str, data: bytes = b"") -> None:
        seconds = trio.current_time() - self._began
        self._sink.write(f"{write(Event(number, seconds, side, what, data))}\n")
        self._sink.flush()

    async def _pass_on(
        self,
        number: int,
        side: str,
        source: trio.SocketStream,
        goal: trio.SocketStream,
        both: trio.CancelScope,
    ) -> None:
        """One direction, until its end; a connection that breaks ends the other one too."""
        cutter = Cutter()
        broken = False
        try:
            while data := bytes(await source.receive_some(_READ)):
                for what, piece in cutter.cut(data):
                    self._note(number, side, what, piece)
                await goal.send_all(data)
        except _BREAKS:
            broken = True
        for what, piece in cutter.rest():
            self._note(number, side, what, piece)
        self._note(number, side, END)
        with suppress(*_BREAKS):
            await goal.send_eof()
        if broken:
            both.cancel()

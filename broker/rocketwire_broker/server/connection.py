"""One accepted connection: its session, and bytes that its peer has not read yet.

Rules of this file: all bytes to a peer go through one queue, so that a task that reads over TLS and
the frames of others never mix their bytes.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.serving.tls.stream import TlsStream

if TYPE_CHECKING:
    from rocketwire.serving.sockets import SocketStream
    from rocketwire_broker.protocol.session import Session
    from rocketwire_broker.tables.peer import Peer


HANDSHAKE_SECONDS: Final = 30.0
"""Longest time from the first byte of a PROXY header or a TLS handshake to its end."""


class _Transport(trio.abc.Stream):
    """The socket of a connection as TLS uses it: it reads directly, and sends through the queue."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Wait for bytes; none of them means that the peer sends no more."""
        return await self._connection.socket.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Let bytes be sent after those that wait."""
        self._connection.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        """Wait until the socket has taken everything."""
        await self._connection.drained()

    async def aclose(self) -> None:
        """Do nothing; the server closes the socket."""


class Connection:
    """A connection.

    Args:
        socket: the socket; the connection owns it.
        peer: the other side.
        session: handles what it sends.
        tasks: runs the task that sends what the socket did not take at once.
        max_unsent: bytes that may wait for the peer; it is closed beyond.

    Attributes:
        socket, peer, session: see above.
        stream: where it is read from: the socket, or TLS over it.
        scope: of the task that reads.
        incomplete: bytes of it that are not a complete frame yet.
        reading: whether that task waits for bytes.
        handshake: scope of its PROXY header and its TLS handshake, which may take so long.
    """

    def __init__(
        self,
        socket: SocketStream,
        peer: Peer,
        session: Session,
        tasks: trio.Nursery,
        max_unsent: int,
    ) -> None:
        self.socket = socket
        self.stream: trio.abc.Stream = _Transport(self)
        self.incomplete = 0
        self.reading = False
        self.handshake = trio.CancelScope()
        self.peer = peer
        self.session = session
        self.scope = trio.CancelScope()
        self._tasks = tasks
        self._max_unsent = max_unsent
        self._unsent: deque[bytes | memoryview] = deque()
        self._unsent_size = 0
        self._drained: trio.Event | None = None

    @property
    def frame_since(self) -> float:
        """Start of an incomplete header or handshake, in seconds; else infinite."""
        return self.handshake.deadline - HANDSHAKE_SECONDS

    @frame_since.setter
    def frame_since(self, start: float) -> None:
        self.handshake.deadline = start + HANDSHAKE_SECONDS

    def finish(self, why: str) -> None:
        """Do nothing: when its peer has closed it, the task that reads ends."""

    def write(self, frames: list[bytes]) -> None:
        """Send frames."""
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        if type(self.stream) is TlsStream:
            try:
                data = self.stream.encrypt(data)
            except trio.BrokenResourceError:
                self.close()
                return
        self.send(data)

    def send(self, data: bytes | memoryview) -> None:
        """Send as much as the socket takes, and the rest as soon as it takes more."""
        if self._drained is None:
            try:
                sent = self.socket.socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self.close()
                return
            if sent == len(data):
                return
            data = memoryview(data)[sent:]
            self._drained = trio.Event()
            self._tasks.start_soon(self._flush, self._drained)
        self._unsent.append(data)
        self._unsent_size += len(data)
        if self._unsent_size > self._max_unsent:
            self.close()

    async def drained(self) -> None:
        """Wait until the socket has taken everything; a slow reader is not read from."""
        if self._drained is not None:
            await self._drained.wait()

    def close(self) -> None:
        """End the connection at once."""
        self._unsent.clear()
        self._unsent_size = 0
        self.scope.cancel()

    async def _flush(self, drained: trio.Event) -> None:
        try:
            while self._unsent:
                data = self._unsent[0]
                await self.socket.send_all(data)
                if self._unsent:
                    self._unsent.popleft()
                    self._unsent_size -= len(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.close()
        finally:
            self._drained = None
            drained.set()

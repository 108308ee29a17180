"""One accepted connection: its session, and bytes that its peer has not read yet.

Rules of this file: all bytes to a peer go through one queue, so that a task that reads over TLS and
the frames of others never mix their bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

from rocketwire.connection.guards import Activity
from rocketwire.serving.tls.stream import TlsStream
from rocketwire_broker.state.broker import LARGE

if TYPE_CHECKING:
    from rocketwire.serving.sockets import SocketStream
    from rocketwire_broker.protocol.session import Session
    from rocketwire_broker.tables.members import Peer


class _Transport(trio.abc.Stream):
    # TLS reads from the socket directly, and sends through the queue of the connection.

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        return await self._connection.socket.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._connection.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        await self._connection.drain()

    async def aclose(self) -> None:
        """Do nothing; the server closes the socket."""


class Connection(Activity):
    def __init__(
        self,
        socket: SocketStream,
        peer: Peer,
        session: Session,
        tasks: trio.Nursery,
        note_unsent: Callable[[Peer], None],
    ) -> None:
        super().__init__(trio.current_time())
        self.socket = socket
        # where it is read from: the socket, or TLS over it
        self.stream: trio.abc.Stream = _Transport(self)
        self.reading = False  # whether the task of ``scope`` waits for bytes
        self.peer = peer
        self.session = session
        self.scope = trio.CancelScope()  # of the task that reads
        self._tasks = tasks
        self._note_unsent = note_unsent
        self._unsent: deque[bytes | memoryview] = deque()
        self._drained: trio.Event | None = None

    def finish(self, why: str) -> None:
        """Do nothing: when its peer has closed it, the task that reads ends."""

    def write(self, frames: list[bytes]) -> None:
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        size = len(data)
        if type(self.stream) is TlsStream:
            try:
                data = self.stream.encrypt(data)
            except trio.BrokenResourceError:
                self.close()
                return
        self.peer.unsent -= size
        self.send(data)
        if size >= LARGE:
            self._note_unsent(self.peer)

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
                self.is_active = True
                return
            data = memoryview(data)[sent:]
            self._drained = trio.Event()
            self.heard, self.sending = trio.current_time(), True
            self._tasks.start_soon(self._flush, self._drained)
        self._unsent.append(data)
        self.peer.unsent += len(data)
        self._note_unsent(self.peer)

    async def drain(self) -> None:
        """Wait until the socket has taken everything; a slow reader is not read from."""
        if self._drained is not None:
            await self._drained.wait()

    def close(self) -> None:
        self._unsent.clear()
        self.peer.unsent = 0
        self.scope.cancel()

    async def _flush(self, drained: trio.Event) -> None:
        try:
            while self._unsent:
                data = self._unsent[0]
                await self.socket.send_all(data)
                if self._unsent:
                    self._unsent.popleft()
                    self.peer.unsent -= len(data)
            self._note_unsent(self.peer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.close()
        finally:
            self.heard, self.sending = trio.current_time(), False
            self._drained = None
            drained.set()

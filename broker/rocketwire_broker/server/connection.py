"""One accepted connection: its session, and bytes that its peer has not read yet."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from rocketwire_broker.protocol.session import Session
    from rocketwire_broker.tables.peer import Peer
    from rocketwire_namesrv.runtime.sockets import SocketStream


class Connection:
    """A connection.

    Args:
        stream: the socket; the connection owns it.
        peer: the other side.
        session: handles what it sends.
        tasks: runs the task that sends what the socket did not take at once.
        max_unsent: bytes that may wait for the peer; it is closed beyond.

    Attributes:
        stream, peer, session: see above.
        scope: of the task that reads.
    """

    def __init__(
        self,
        stream: SocketStream,
        peer: Peer,
        session: Session,
        tasks: trio.Nursery,
        max_unsent: int,
    ) -> None:
        self.stream = stream
        self.peer = peer
        self.session = session
        self.scope = trio.CancelScope()
        self._tasks = tasks
        self._max_unsent = max_unsent
        self._unsent: deque[bytes | memoryview] = deque()
        self._unsent_size = 0
        self._drained: trio.Event | None = None

    def write(self, frames: list[bytes]) -> None:
        """Send as much as the socket takes, and the rest as soon as it takes more."""
        data: bytes | memoryview = frames[0] if len(frames) == 1 else b"".join(frames)
        if self._drained is None:
            try:
                sent = self.stream.socket.send(data)
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
                await self.stream.send_all(data)
                if self._unsent:
                    self._unsent.popleft()
                    self._unsent_size -= len(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.close()
        finally:
            self._drained = None
            drained.set()

"""A TCP proxy whose faults the test turns on and off while it runs.

Rules of this file: faults depend on numbers of bytes, not on chance, so that a test is repeatable.
"""

from __future__ import annotations

import math
import socket
import struct
from typing import Final, Self

import trio

from rocketwire_tools.pytest_plugin.trio_thread import Backstage, host_and_port

__all__ = ["Direction", "FaultProxy"]

_READ: Final = 65_536
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)  # linger option: closing sends a reset


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number, not {value!r}")


def _check_count(name: str, value: object, minimum: int, maximum: float = math.inf) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is an integer, not {value!r}")
    if not minimum <= value <= maximum:
        bounds = f"at least {minimum}" if maximum == math.inf else f"{minimum} to {maximum}"
        raise ValueError(f"{name} is {bounds}, not {value}")


class Direction:
    """The faults of one direction, for all connections."""

    __slots__ = (
        *("passed", "_backstage", "_delay", "_masks", "_reset_at", "_resumed", "_slice_size"),
        "_stalled",
    )  # so that a misspelt fault is an AttributeError

    def __init__(self, backstage: Backstage) -> None:
        self._delay = 0.0
        self._slice_size: int | None = None
        self.passed = 0  #: bytes forwarded so far
        self._backstage = backstage
        self._stalled = False
        self._resumed: trio.Event | None = None
        self._masks: dict[int, int] = {}
        self._reset_at: int | None = None

    @property
    def delay(self) -> float:
        """Delay of each piece in seconds."""
        return self._delay

    @delay.setter
    def delay(self, seconds: float) -> None:
        _check_number("delay", seconds)
        if not 0 <= seconds < math.inf:
            raise ValueError(f"delay is at least 0 seconds and finite, not {seconds!r}")
        self._delay = seconds

    @property
    def slice_size(self) -> int | None:
        """Maximum bytes of a piece; None to forward bytes as they come."""
        return self._slice_size

    @slice_size.setter
    def slice_size(self, size: int | None) -> None:
        if size is not None:
            _check_count("slice_size", size, 1)
        self._slice_size = size

    def stall(self) -> None:
        """Forward nothing until ``resume``; connections stay open."""
        self._backstage.do(self._set_stalled, True)

    def resume(self) -> None:
        """Forward the held bytes, and continue."""
        self._backstage.do(self._set_stalled, False)

    def corrupt(self, ahead: int, mask: int = 0xFF) -> None:
        """Change one byte.

        Args:
            ahead: its position; 0 is the next byte.
            mask: bits to flip, 1 to 255.

        Raises:
            TypeError: an argument is not an integer.
            ValueError: an argument is out of range.
        """
        _check_count("ahead", ahead, 0)
        _check_count("mask", mask, 1, 255)
        self._backstage.do(self._set_mask, ahead, mask)

    def reset_after(self, count: int) -> None:
        """Reset the connection once, after ``count`` more bytes.

        Raises:
            TypeError: ``count`` is not an integer.
            ValueError: it is less than 1.
        """
        _check_count("count", count, 1)
        self._backstage.do(self._set_reset, count)

    def heal(self) -> None:
        """Turn off all faults of this direction."""
        self.delay = 0.0
        self.slice_size = None
        self._backstage.do(self._forget)

    async def carry(
        self, source: trio.abc.ReceiveStream, sink: trio.abc.HalfCloseableStream
    ) -> bool:
        # Forwards bytes until the source ends; returns whether to reset the connection
        try:
            while data := bytes(await source.receive_some(_READ)):
                while data:
                    piece, data = self._cut(data)
                    await trio.sleep(self.delay)
                    while self._stalled and self._resumed is not None:
                        await self._resumed.wait()
                    await sink.send_all(self._corrupt(piece))
                    self.passed += len(piece)
                    if self._reset_at is not None and self.passed >= self._reset_at:
                        self._reset_at = None
                        return True
            await sink.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return True
        return False

    def _cut(self, data: bytes) -> tuple[bytes, bytes]:
        size = max(1, self.slice_size or len(data))
        if self._reset_at is not None:
            size = max(1, min(size, self._reset_at - self.passed))
        return data[:size], data[size:]

    def _corrupt(self, piece: bytes) -> bytes:
        changed = bytearray(piece)
        for position in [p for p in self._masks if 0 <= p - self.passed < len(piece)]:
            changed[position - self.passed] ^= self._masks.pop(position)
        return bytes(changed)

    def _set_stalled(self, stalled: bool) -> None:
        self._stalled = stalled
        if self._resumed is not None:
            self._resumed.set()
        self._resumed = trio.Event() if stalled else None

    def _set_mask(self, ahead: int, mask: int) -> None:
        self._masks[self.passed + ahead] = mask

    def _set_reset(self, count: int) -> None:
        self._reset_at = self.passed + count

    def _forget(self) -> None:
        self._masks.clear()
        self._reset_at = None
        self._set_stalled(False)


class _Connection:
    def __init__(self, client: trio.SocketStream) -> None:
        self.streams = [client]
        self.scope = trio.CancelScope()
        self.reset = False

    def end(self) -> None:
        for stream in self.streams:
            if self.reset:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            stream.socket.close()


class FaultProxy:
    """A proxy between clients and a server; a context manager, created by the fixture
    ``fault_proxy``.
    """

    __slots__ = (
        *("accepted", "address", "refusing", "to_client", "to_server"),
        *("_backstage", "_connections", "_scope", "_target"),
    )
    address: str  #: address for clients, ``host:port``

    def __init__(self, backstage: Backstage, target: str) -> None:
        """Create a proxy to ``target``, ``host:port``, which need not exist yet.

        Raises:
            ValueError: ``target`` is invalid.
        """
        self._backstage = backstage
        self._target = host_and_port(target)
        self.to_server = Direction(backstage)  #: faults of bytes from clients
        self.to_client = Direction(backstage)  #: faults of bytes from the server
        self.refusing = False  #: whether new connections are reset at once
        self.accepted = 0  #: number of connections so far
        self._connections: set[_Connection] = set()
        self._scope = trio.CancelScope()

    def __enter__(self) -> Self:
        self.address = self._backstage.call(self._backstage.nursery.start, self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._backstage.do(self._scope.cancel)

    @property
    def open_connections(self) -> int:
        return len(self._connections)

    def reset(self) -> None:
        """Reset all open connections."""
        self._backstage.do(self._reset_all)

    def heal(self) -> None:
        """Turn off all faults; open connections stay open."""
        self.refusing = False
        self.to_server.heal()
        self.to_client.heal()

    async def _run(self, *, task_status: trio.TaskStatus[str]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port: int = listeners[0].socket.getsockname()[1]
        with self._scope:
            task_status.started(f"127.0.0.1:{port}")
            await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, client: trio.SocketStream) -> None:
        self.accepted += 1
        connection = _Connection(client)
        self._connections.add(connection)
        try:
            with connection.scope:
                await self._join(connection)
        finally:
            self._connections.discard(connection)
            connection.end()

    async def _join(self, connection: _Connection) -> None:
        client = connection.streams[0]
        try:
            if self.refusing:
                raise ConnectionRefusedError
            server = await trio.open_tcp_stream(*self._target)
        except OSError:
            connection.reset = True
            return
        connection.streams.append(server)

        async def carry(
            direction: Direction, source: trio.SocketStream, sink: trio.SocketStream
        ) -> None:
            if await direction.carry(source, sink):
                self._reset_one(connection)

        async with trio.open_nursery() as both:
            both.start_soon(carry, self.to_server, client, server)
            both.start_soon(carry, self.to_client, server, client)

    def _reset_one(self, connection: _Connection) -> None:
        connection.reset = True
        connection.scope.cancel()

    def _reset_all(self) -> None:
        for connection in self._connections:
            self._reset_one(connection)

"""A TCP proxy whose faults the test turns on and off while it runs.

Rules of this file: faults are told by numbers of bytes, not by chance, so that a test sees the same twice.
"""

from __future__ import annotations

import math
import socket
import struct
from typing import TYPE_CHECKING, Final, Self

import trio

from rocketwire_tools.pytest_plugin.trio_thread import host_and_port

if TYPE_CHECKING:
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage

__all__ = ["Direction", "FaultProxy"]

_READ: Final = 65_536
_LINGER_NOT: Final = struct.pack("ii", 1, 0)
"""A socket that is closed so tells its peer by a reset."""


def _check_number(name: str, value: object) -> None:
    """Raise unless it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number, not {value!r}")


def _check_count(name: str, value: object, least: int, most: float = math.inf) -> None:
    """Raise unless a number is an integer within bounds."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is an integer, not {value!r}")
    if not least <= value <= most:
        bounds = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise ValueError(f"{name} is {bounds}, not {value}")


class Direction:
    """What is done to the bytes of one direction, over all connections.

    Attributes:
        passed: bytes passed on so far.
    """

    __slots__ = (
        *("passed", "_backstage", "_delay", "_masks", "_reset_at", "_resumed", "_slice_size"),
        "_stalled",
    )  # so that a misspelt fault is an AttributeError

    def __init__(self, backstage: Backstage) -> None:
        self._delay = 0.0
        self._slice_size: int | None = None
        self.passed = 0
        self._backstage = backstage
        self._stalled = False
        self._resumed: trio.Event | None = None
        self._masks: dict[int, int] = {}
        self._reset_at: int | None = None

    @property
    def delay(self) -> float:
        """Seconds that each piece is held back."""
        return self._delay

    @delay.setter
    def delay(self, seconds: float) -> None:
        _check_number("delay", seconds)
        if not 0 <= seconds < math.inf:
            raise ValueError(f"delay is at least 0 seconds and finite, not {seconds!r}")
        self._delay = seconds

    @property
    def slice_size(self) -> int | None:
        """Most bytes of a piece that is passed on at once; None for as they come."""
        return self._slice_size

    @slice_size.setter
    def slice_size(self, size: int | None) -> None:
        if size is not None:
            _check_count("slice_size", size, 1)
        self._slice_size = size

    def stall(self) -> None:
        """Pass nothing on until ``resume``; connections stay open."""
        self._backstage.do(self._set_stalled, True)

    def resume(self) -> None:
        """Pass on what has been held back, and go on."""
        self._backstage.do(self._set_stalled, False)

    def corrupt(self, ahead: int, mask: int = 0xFF) -> None:
        """Change one byte.

        Args:
            ahead: which one; 0 is the next that is passed on.
            mask: bits of it to be turned over, 1 to 255.

        Raises:
            TypeError: one of them is not an integer.
            ValueError: one of them is out of range.
        """
        _check_count("ahead", ahead, 0)
        _check_count("mask", mask, 1, 255)
        self._backstage.do(self._set_mask, ahead, mask)

    def reset_after(self, count: int) -> None:
        """Reset the connection when so many more bytes have been passed on; once.

        Raises:
            TypeError: ``count`` is not an integer.
            ValueError: it is less than 1.
        """
        _check_count("count", count, 1)
        self._backstage.do(self._set_reset, count)

    def heal(self) -> None:
        """Turn all faults of this direction off."""
        self.delay = 0.0
        self.slice_size = None
        self._backstage.do(self._forget)

    async def carry(
        self, source: trio.abc.ReceiveStream, sink: trio.abc.HalfCloseableStream
    ) -> bool:
        """Pass bytes on until the source ends; returns whether the connection is to be reset."""
        try:
            while data := bytes(await source.receive_some(_READ)):
                while data:
                    piece, data = self._cut(data)
                    await trio.sleep(self.delay)
                    while self._stalled and self._resumed is not None:
                        await self._resumed.wait()
                    await sink.send_all(self._corrupted(piece))
                    self.passed += len(piece)
                    if self._reset_at is not None and self.passed >= self._reset_at:
                        self._reset_at = None
                        return True
            await sink.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return True
        return False

    def _cut(self, data: bytes) -> tuple[bytes, bytes]:
        """The next piece, and the rest."""
        size = max(1, self.slice_size or len(data))
        if self._reset_at is not None:
            size = max(1, min(size, self._reset_at - self.passed))
        return data[:size], data[size:]

    def _corrupted(self, piece: bytes) -> bytes:
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


class _Link:
    """One client, and its connection to the server."""

    def __init__(self, client: trio.SocketStream) -> None:
        self.streams = [client]
        self.scope = trio.CancelScope()
        self.reset = False

    def end(self) -> None:
        for stream in self.streams:
            if self.reset:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
            stream.socket.close()


class FaultProxy:
    """Stands between clients and a server; a context manager, made by the fixture ``fault_proxy``.

    Attributes:
        address: where clients connect, ``host:port``.
        to_server: faults of what clients send.
        to_client: faults of what the server sends.
        refusing: whether new connections are reset at once.
        accepted: connections so far.
    """

    __slots__ = (
        *("accepted", "address", "refusing", "to_client", "to_server"),
        *("_backstage", "_links", "_scope", "_target"),
    )
    address: str

    def __init__(self, backstage: Backstage, target: str) -> None:
        """A proxy to ``target``, ``host:port``, which need not be there yet.

        Raises:
            ValueError: ``target`` is not of that form.
        """
        self._backstage = backstage
        self._target = host_and_port(target)
        self.to_server = Direction(backstage)
        self.to_client = Direction(backstage)
        self.refusing = False
        self.accepted = 0
        self._links: set[_Link] = set()
        self._scope = trio.CancelScope()

    def __enter__(self) -> Self:
        self.address = self._backstage.call(self._backstage.nursery.start, self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._backstage.do(self._scope.cancel)

    @property
    def open_connections(self) -> int:
        """Clients that are connected now."""
        return len(self._links)

    def reset(self) -> None:
        """Reset all connections that are open now."""
        self._backstage.do(self._reset_all)

    def heal(self) -> None:
        """Turn all faults off; connections that are open stay so."""
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
        link = _Link(client)
        self._links.add(link)
        try:
            with link.scope:
                await self._join(link)
        finally:
            self._links.discard(link)
            link.end()

    async def _join(self, link: _Link) -> None:
        """Connect to the server and pass bytes both ways; where there is no server, reset."""
        client = link.streams[0]
        try:
            if self.refusing:
                raise ConnectionRefusedError
            server = await trio.open_tcp_stream(*self._target)
        except OSError:
            link.reset = True
            return
        link.streams.append(server)

        async def carry(
            direction: Direction, source: trio.SocketStream, sink: trio.SocketStream
        ) -> None:
            if await direction.carry(source, sink):
                self._reset_one(link)

        async with trio.open_nursery() as both:
            both.start_soon(carry, self.to_server, client, server)
            both.start_soon(carry, self.to_client, server, client)

    def _reset_one(self, link: _Link) -> None:
        link.reset = True
        link.scope.cancel()

    def _reset_all(self) -> None:
        for link in self._links:
            self._reset_one(link)

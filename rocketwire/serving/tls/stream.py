"""TLS over any stream of bytes, for one task that sends and receives in turn.

``trio.SSLStream`` has two disadvantages: it never sends the alert about a failed handshake, and
every call pays for locking against a second task.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable
from typing import Final, TypeVar

import trio

T = TypeVar("T")

READ_SIZE: Final = 65_536
FLUSH_SIZE: Final = 262_144  # encrypted bytes held at most before they are sent


class TlsStream(trio.abc.Stream):
    """One side of a TLS connection; ``do_handshake`` comes first."""

    def __init__(
        self,
        transport: trio.abc.Stream,
        context: ssl.SSLContext,
        *,
        received: bytes = b"",
        server_side: bool = True,
    ) -> None:
        self._transport = transport
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._incoming.write(received)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=server_side)

    async def do_handshake(self) -> None:
        """Agree on keys."""
        await self._run(self._tls.do_handshake)
        await self._flush()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        size = max_bytes or READ_SIZE
        try:
            data = await self._run(lambda: self._tls.read(size))
        except trio.BrokenResourceError as error:
            # an end without the proper goodbye is an end too: frames know their length
            if isinstance(error.__cause__, (ssl.SSLZeroReturnError, ssl.SSLEOFError)):
                return b""
            raise
        pieces = [data]
        size -= len(data)
        with contextlib.suppress(ssl.SSLError):  # what is wrong comes again with the next call
            while size and (data := self._tls.read(size)):
                pieces.append(data)
                size -= len(data)
        return b"".join(pieces)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        unsent = memoryview(data)
        while unsent:
            try:
                unsent = unsent[self._tls.write(unsent) :]
            except ssl.SSLError as error:
                raise trio.BrokenResourceError from error
            if self._outgoing.pending >= FLUSH_SIZE:
                await self._flush()
        await self._flush()

    def encrypt(self, data: bytes) -> bytes:
        """Return the bytes that carry these over the transport; the caller sends them."""
        unsent = memoryview(data)
        try:
            while unsent:
                unsent = unsent[self._tls.write(unsent) :]
        except ssl.SSLError as error:
            raise trio.BrokenResourceError from error
        return self._outgoing.read()

    async def wait_send_all_might_not_block(self) -> None:
        await self._transport.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        """Send the close alert if that does not block, and close."""
        try:
            with contextlib.suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                with contextlib.suppress(
                    ssl.SSLWantReadError
                ):  # the peer's close alert is not awaited
                    self._tls.unwrap()
                await self._flush()
        finally:
            await self._transport.aclose()

    async def _run(self, step: Callable[[], T]) -> T:
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                await self._flush()
            except ssl.SSLError as error:
                with contextlib.suppress(trio.BrokenResourceError):
                    await self._flush()
                raise trio.BrokenResourceError from error
            if data := await self._transport.receive_some(READ_SIZE):
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._transport.send_all(self._outgoing.read())

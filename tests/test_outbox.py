"""``Outbox`` over real sockets: what is written at once, what waits, and what a broken one says."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.outbox import Inlet, Outbox

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def pair() -> Generator[tuple[trio.SocketStream, socket.socket]]:
    """A TCP connection within this process: our stream, and the other end."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = socket.create_connection(listening.getsockname())
        here, _ = listening.accept()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with there:
        yield trio.SocketStream(trio.socket.from_stdlib_socket(here)), there


async def test_what_the_system_does_not_take_at_once_waits_for_the_writer() -> None:
    data = bytes(range(256)) * 40_000
    with pair() as (stream, there):
        async with stream:
            outbox = Outbox(stream)
            assert outbox.put(b"first", at_once=True)
            assert not outbox.put(data, at_once=True)
            assert not outbox.put(b"last", at_once=True)
            assert 0 < outbox.unsent <= len(data) + 4

            received = bytearray()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(outbox.run)
                while len(received) < len(data) + 9:
                    received += await trio.to_thread.run_sync(there.recv, 1 << 20)
                nursery.cancel_scope.cancel()

    assert bytes(received) == b"first" + data + b"last"


async def test_a_socket_that_takes_nothing_now_leaves_all_to_the_writer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise BlockingIOError(descriptor, len(data))

    with pair() as (stream, _):
        async with stream:
            monkeypatch.setattr("rocketwire.outbox.os.write", full)
            outbox = Outbox(stream)
            assert not outbox.put(b"late", at_once=True)

            assert outbox.unsent == 4


async def test_a_socket_that_is_readable_without_bytes_is_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = list[int]()
    read = os.read

    def read_late(descriptor: int, size: int) -> bytes:
        calls.append(size)
        if len(calls) == 1:
            raise BlockingIOError
        return read(descriptor, size)

    with pair() as (stream, there):
        async with stream:
            monkeypatch.setattr("rocketwire.outbox.os.read", read_late)
            there.sendall(b"bytes")

            assert await Inlet(stream).receive() == b"bytes"


async def test_a_connection_that_is_reset_is_broken() -> None:
    with pair() as (stream, there):
        async with stream:
            there.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, (1).to_bytes(4, "little") + bytes(4)
            )
            there.close()
            with pytest.raises(trio.BrokenResourceError):
                await Inlet(stream).receive()


async def test_the_writer_says_that_a_connection_is_broken_and_writes_nothing_after_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = list[bytes]()

    def broken(descriptor: int, data: bytes) -> int:
        written.append(bytes(data))
        raise ConnectionResetError(descriptor)

    with pair() as (stream, _):
        async with stream:
            monkeypatch.setattr("rocketwire.outbox.os.write", broken)
            outbox = Outbox(stream)
            outbox.put(b"lost", at_once=False)
            with pytest.raises(trio.BrokenResourceError):
                await outbox.run()

            ended = Outbox(stream)
            ended.put(b"late", at_once=False)
            ended.over()
            with trio.move_on_after(0.01):
                await ended.run()

    assert written == [b"lost"]


async def test_what_is_missing_comes_in_one_piece_and_an_end_before_it_is_seen() -> None:
    async def late() -> None:
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(4):
            there.sendall(bytes(2000))
            await trio.testing.wait_all_tasks_blocked(0.01)

    with pair() as (stream, there):
        async with stream, trio.open_nursery() as nursery:
            inlet = Inlet(stream)
            nursery.start_soon(late)
            assert len(await inlet.receive(8000)) == 8000
            there.sendall(b"a")
            assert await inlet.receive(4) == b"a"
            there.sendall(b"b")
            there.shutdown(socket.SHUT_WR)
            assert await inlet.receive(8000) == b"b"
            assert await inlet.receive(7999) == b""

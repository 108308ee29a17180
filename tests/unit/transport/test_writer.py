"""``StreamWriter`` over real sockets: immediate writes, waiting, and broken streams."""

import pytest
import trio
import trio.testing

from rocketwire.transport.writer import StreamWriter
from tests.support.tcp_pair import pair


async def test_bytes_beyond_the_buffer_of_the_socket_wait_for_the_writer() -> None:
    data = bytes(range(256)) * 2_000  # more than both sockets hold
    with pair() as (stream, there):
        async with stream:
            outbox = StreamWriter(stream)
            assert outbox.put(b"first", immediately=True)
            assert not outbox.put(data, immediately=True)
            assert not outbox.put(b"last", immediately=True)
            assert 0 < outbox.unsent <= len(data) + 4

            received = bytearray()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(outbox.run)
                while len(received) < len(data) + 9:
                    received += await trio.to_thread.run_sync(there.recv, 1 << 20)
                nursery.cancel_scope.cancel()

    assert bytes(received) == b"first" + data + b"last"


async def test_bytes_wait_while_the_socket_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, data: bytes) -> int:
        raise BlockingIOError(descriptor, len(data))

    with pair() as (stream, _):
        async with stream:
            monkeypatch.setattr("rocketwire.transport.writer.os.write", refuse)
            outbox = StreamWriter(stream)
            assert not outbox.put(b"late", immediately=True)

            assert outbox.unsent == 4


async def test_the_writer_reports_a_broken_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[bytes]()

    def fail(descriptor: int, data: bytes) -> int:
        written.append(bytes(data))
        raise ConnectionResetError(descriptor)

    with pair() as (stream, _):
        async with stream:
            monkeypatch.setattr("rocketwire.transport.writer.os.write", fail)
            outbox = StreamWriter(stream)
            outbox.put(b"lost", immediately=False)
            with pytest.raises(trio.BrokenResourceError):
                await outbox.run()

            ended = StreamWriter(stream)
            ended.put(b"late", immediately=False)
            ended.close()
            with trio.move_on_after(0.01):
                await ended.run()

    assert written == [b"lost"]


async def test_the_end_of_the_connection_fails_a_waiting_writer() -> None:
    with pair() as (stream, _):
        async with stream, trio.open_nursery() as nursery:
            outbox = StreamWriter(stream)
            outbox.put(bytes(10_000_000), immediately=False)

            async def end() -> None:
                await trio.testing.wait_all_tasks_blocked()
                outbox.close()
                trio.lowlevel.notify_closing(stream.socket)

            nursery.start_soon(end)
            with pytest.raises(trio.ClosedResourceError):
                await outbox.run()

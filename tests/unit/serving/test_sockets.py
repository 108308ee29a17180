"""Listening and accepted sockets, with the kernel's own."""

import errno
import socket

import pytest
import trio

from rocketwire.serving.sockets import BindError, SocketStream, accept, address_text, listen


async def connect() -> tuple[socket.socket, trio.SocketStream]:
    with await listen("127.0.0.1", 0) as listener:
        client = await trio.open_tcp_stream("127.0.0.1", listener.getsockname()[1])
        return await accept(listener), client


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", ""])
async def test_a_listener_takes_connections(address: str) -> None:
    with trio.fail_after(60), await listen(address, 0) as listener:
        host, port = listener.getsockname()[:2]
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        client = await trio.open_tcp_stream(host, port)
        async with client:
            with await accept(listener) as accepted:
                peer = client.socket.getsockname()
                assert accepted.getpeername() == peer
                assert address_text(accepted).endswith(f":{peer[1]}")


async def test_the_wildcard_of_ip_version_6_takes_both_families() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with trio.fail_after(60), await listen("::", 0) as listener:
        for host, shown in [("127.0.0.1", "127.0.0.1:"), ("::1", "[::1]:")]:
            async with await trio.open_tcp_stream(host, listener.getsockname()[1]):
                with await accept(listener) as accepted:
                    assert address_text(accepted).startswith(shown)


async def test_a_port_in_use_and_a_foreign_address_cannot_be_bound() -> None:
    with await listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(BindError, match=rf"Failed to bind to 127\.0\.0\.1:{port}"):
            await listen("127.0.0.1", port)
    with pytest.raises(BindError, match=r"Failed to bind to 192\.0\.2\.1:0"):
        await listen("192.0.2.1", 0)


@pytest.mark.parametrize("port", [65_536, -1])
async def test_a_port_that_cannot_be_is_a_bind_error(port: int) -> None:
    with pytest.raises(BindError, match="Failed to bind to"):
        await listen("127.0.0.1", port)


class Moody(socket.socket):
    number = errno.ECONNABORTED
    failed = False

    def accept(self) -> tuple[socket.socket, object]:
        if not self.failed:
            self.failed = True
            raise OSError(self.number, "mood")
        return super().accept()


async def open_moody(number: int) -> tuple[Moody, trio.SocketStream]:
    listener = Moody()
    listener.number = number
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)
    return listener, await trio.open_tcp_stream(*listener.getsockname())


async def test_a_connection_that_has_gone_already_is_passed_over() -> None:
    with trio.fail_after(60):
        listener, client = await open_moody(errno.ECONNABORTED)
        with listener:
            async with client:
                (await accept(listener)).close()


async def test_the_lack_of_file_descriptors_is_reported() -> None:
    with trio.fail_after(60):
        listener, client = await open_moody(errno.EMFILE)
        with listener:
            async with client:
                with pytest.raises(OSError, match="mood"):
                    await accept(listener)


async def test_a_stream_sends_and_receives_without_delay() -> None:
    with trio.fail_after(60):
        accepted, client = await connect()
        stream = SocketStream(accepted, send_buffer=8192, receive_buffer=8192)
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        async with client, stream:
            await client.send_all(b"ping")
            assert await stream.receive_some() == b"ping"
            await stream.wait_send_all_might_not_block()
            await stream.send_all(b"pong")
            assert await client.receive_some() == b"pong"
            await client.send_eof()
            assert await stream.receive_some(100) == b""


async def test_a_stream_waits_for_a_peer_that_reads_slowly() -> None:
    data = bytes(range(256)) * 16_384
    with trio.fail_after(60):
        accepted, client = await connect()
        async with client, SocketStream(accepted) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(stream.send_all, data)
            received = bytearray()
            while len(received) < len(data):
                received += await client.receive_some(65_536)
            assert received == data


async def test_false_alarm_is_ignored() -> None:
    class Nervous(socket.socket):
        alarmed = False

        def recv(self, *_: int) -> bytes:
            if not self.alarmed:
                self.alarmed = True
                raise BlockingIOError
            return super().recv(4)

    with trio.fail_after(60):
        accepted, client = await connect()
        async with client, SocketStream(Nervous(fileno=accepted.detach())) as stream:
            await client.send_all(b"ping")
            assert await stream.receive_some() == b"ping"


async def test_a_peer_that_resets_breaks_the_stream() -> None:
    with trio.fail_after(60):
        accepted, client = await connect()
        async with SocketStream(accepted) as stream:
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await client.aclose()
            with pytest.raises(trio.BrokenResourceError):
                await stream.receive_some()
            with pytest.raises(trio.BrokenResourceError):
                await stream.send_all(b"x")


async def test_a_peer_that_has_gone_is_unknown() -> None:
    accepted, client = await connect()
    await client.aclose()
    accepted.close()

    assert address_text(accepted) == "unknown"


async def test_close_wakes_a_reader() -> None:
    async def receive(stream: SocketStream) -> None:
        with pytest.raises((trio.ClosedResourceError, trio.BrokenResourceError)):
            await stream.receive_some()

    with trio.fail_after(60):
        accepted, client = await connect()
        stream = SocketStream(accepted)
        async with client, trio.open_nursery() as nursery:
            nursery.start_soon(receive, stream)
            await trio.testing.wait_all_tasks_blocked()
            await stream.aclose()

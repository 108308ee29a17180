"""TLS over streams in memory: bytes come through, alerts leave, ends are ends."""

import ssl
from pathlib import Path
from typing import NamedTuple

import pytest
import trio
from trio.testing import MemoryReceiveStream, MemorySendStream, memory_stream_pair

from rocketwire.serving.tls.certificates import make_client_context, make_server_context
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.serving.tls.stream import TlsStream
from tests.support.builders.certificates import authority, with_pair

Memory = trio.StapledStream[MemorySendStream, MemoryReceiveStream]


class Streams(NamedTuple):
    server: TlsStream
    client: TlsStream
    carrier: Memory


@pytest.fixture(params=["TLSv1.2", "TLSv1.3"])
async def streams(request: pytest.FixtureRequest, tmp_path: Path) -> Streams:
    settings = with_pair(tmp_path, authority().issue("server"), protocols=request.param)
    ours, theirs = memory_stream_pair()
    client = TlsStream(ours, make_client_context(settings), server_side=False)
    server = TlsStream(theirs, make_server_context(settings))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.do_handshake)
        nursery.start_soon(client.do_handshake)
    return Streams(server, client, ours)


async def test_bytes_come_through_both_ways(streams: Streams) -> None:
    server, client, _ = streams
    await client.send_all(b"ping")
    assert await server.receive_some() == b"ping"
    await server.wait_send_all_might_not_block()
    await server.send_all(b"pong")
    assert await client.receive_some(2) == b"po"
    assert await client.receive_some(2) == b"ng"


async def test_a_million_bytes_come_through_in_large_pieces(streams: Streams) -> None:
    data = bytes(range(256)) * 4096
    async with trio.open_nursery() as nursery:
        nursery.start_soon(streams.server.send_all, data)
        pieces: list[bytes] = []
        while sum(map(len, pieces)) < len(data):
            pieces.append(await streams.client.receive_some(65_536))

    assert b"".join(pieces) == data
    assert len(pieces) < 64


async def test_bytes_that_came_before_are_taken(tmp_path: Path) -> None:
    settings = with_pair(tmp_path, authority().issue("server"))
    ours, theirs = memory_stream_pair()
    client = TlsStream(ours, make_client_context(settings), server_side=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.do_handshake)
        first = bytes(await theirs.receive_some(7))
        server = TlsStream(theirs, make_server_context(settings), received=first)
        await server.do_handshake()

    await client.send_all(b"ping")
    assert await server.receive_some() == b"ping"


async def test_a_goodbye_is_an_end(streams: Streams) -> None:
    server, client, _ = streams
    await client.send_all(b"last words")
    await client.aclose()

    assert await server.receive_some() == b"last words"
    assert await server.receive_some() == b""
    await server.aclose()


async def test_an_end_without_goodbye_is_an_end_too(streams: Streams) -> None:
    server, _, carrier = streams
    await carrier.aclose()

    assert await server.receive_some() == b""
    with pytest.raises(trio.BrokenResourceError):
        await server.send_all(b"too late")
    await server.aclose()


async def test_a_failed_handshake_has_its_reason_at_both_ends(tmp_path: Path) -> None:
    server_side = with_pair(tmp_path, authority().issue("server"), protocols="TLSv1.3")
    client_side = TlsSettings(protocols="TLSv1.2")
    ours, theirs = memory_stream_pair()
    server = TlsStream(theirs, make_server_context(server_side))
    client = TlsStream(ours, make_client_context(client_side), server_side=False)

    async with trio.open_nursery() as nursery:
        for stream in (server, client):
            nursery.start_soon(assert_refused, stream)


async def assert_refused(stream: TlsStream) -> None:
    with pytest.raises(trio.BrokenResourceError) as caught:
        await stream.do_handshake()
    assert isinstance(caught.value.__cause__, ssl.SSLError)
    assert "UNSUPPORTED_PROTOCOL" in str(caught.value.__cause__) or "ALERT" in str(
        caught.value.__cause__
    )


async def test_an_end_within_the_handshake_breaks_it() -> None:
    ours, theirs = memory_stream_pair()
    client = TlsStream(theirs, make_client_context(TlsSettings()), server_side=False)
    await ours.send_stream.aclose()

    with pytest.raises(trio.BrokenResourceError):
        await client.do_handshake()
    await client.aclose()


async def test_garbage_after_the_handshake_breaks_the_stream(streams: Streams) -> None:
    server, _, carrier = streams
    await carrier.send_all(b"\x17\x03\x03\x00\x20" + bytes(32))

    with pytest.raises(trio.BrokenResourceError):
        await server.receive_some()
    with pytest.raises(trio.BrokenResourceError):
        await server.send_all(b"to nobody")
    await server.aclose()

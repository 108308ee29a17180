"""Asking an address server: URLs as Java makes them, and answers over a real socket."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest
import trio

from rocketwire.client.net.address_server import (
    address_server_url,
    fetch_name_servers,
    fetch_text,
    parse_response,
)
from rocketwire.errors import ClientError
from tests.unit.transport.loopback import closed_port, serve_tcp


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("d", "nsaddr"), "http://d:8080/rocketmq/nsaddr"),
        (("d:80", "nsaddr"), "http://d:80/rocketmq/nsaddr"),
        (("d", "nsaddr", "u"), "http://d:8080/rocketmq/nsaddr-u?nofix=1"),
        (("d", "nsaddr", " "), "http://d:8080/rocketmq/nsaddr"),
    ],
)
def test_urls_are_javas(arguments: tuple[str, str], expected: str) -> None:
    assert address_server_url(*arguments) == expected


def test_only_the_first_line_of_an_answer_counts() -> None:
    assert parse_response(" a:1;b:2\r\nc:3\n") == ("a:1", "b:2")
    assert parse_response("\n") == ()


@asynccontextmanager
async def serve_answer(answer: bytes, requests: list[bytes]) -> AsyncGenerator[str]:
    async def handle(stream: trio.SocketStream) -> None:
        requests.append(bytes(await stream.receive_some()))
        await stream.send_all(answer)
        await stream.aclose()

    async with serve_tcp(handle) as port:
        yield f"http://127.0.0.1:{port}/rocketmq/nsaddr-u?nofix=1"


async def test_name_servers_are_fetched() -> None:
    requests: list[bytes] = []
    body = b"127.0.0.1:1;127.0.0.1:2\n"
    head = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with serve_answer(head + body, requests) as url:
        assert await fetch_name_servers(url) == ("127.0.0.1:1", "127.0.0.1:2")
    assert requests[0].startswith(b"GET /rocketmq/nsaddr-u?nofix=1 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "status 404"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnope", "not host:port"),
        (b"nonsense\r\n\r\n", "nonsense"),
        (b"", "closed connection"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 70_000, "larger than 65536 bytes"),
    ],
)
async def test_anything_else_is_an_error(answer: bytes, text: str) -> None:
    async with serve_answer(answer, []) as url:
        with pytest.raises(ClientError, match=text):
            await fetch_name_servers(url)


async def test_a_closed_port_is_an_error() -> None:
    port = await closed_port()
    with pytest.raises(ClientError, match=r"127\.0\.0\.1"):
        await fetch_name_servers(f"http://127.0.0.1:{port}/x")


async def test_the_connection_to_an_endless_answer_is_ended() -> None:
    ended = trio.Event()

    async def drip(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            while True:
                await stream.send_all(b"H")
                await trio.sleep(0.01)
        ended.set()

    async with serve_tcp(drip) as port:
        with pytest.raises(ClientError, match="no response"):
            await fetch_text(f"http://127.0.0.1:{port}/x", within=0.1)
        with trio.fail_after(5):
            await ended.wait()

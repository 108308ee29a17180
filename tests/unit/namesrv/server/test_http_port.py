"""A port for HTTP: its address, its requests, and a fault in a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire_namesrv.admin_http.http import Document, Exchange, plain
from rocketwire_namesrv.runtime.sockets import BindError, Listening
from rocketwire_namesrv.server.http_port import HttpPort

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.slow


def respond(path: str, query: Mapping[str, str]) -> Document:
    if path == "/fault":
        raise RuntimeError("a fault")
    return plain(200, path)


async def open_exchange(address: str) -> Exchange:
    assert address == "127.0.0.1"
    return Exchange(respond)


async def get(port: HttpPort, path: str) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port.listening.port) as stream:
        head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        await stream.send_all(head.encode())
        return b"".join([part async for part in stream])


async def test_a_fault_in_a_document_ends_its_connection_only(
    nursery: trio.Nursery, caplog: pytest.LogCaptureFixture
) -> None:
    port = HttpPort(open_exchange)
    await port.start("127.0.0.1", 0)
    nursery.start_soon(port.serve)

    assert await get(port, "/fault") == b""
    assert "a request for metrics or status failed" in caplog.text
    assert (await get(port, "/one")).endswith(b"\r\n\r\n/one\n")


async def test_a_port_that_does_not_listen_has_no_address() -> None:
    port = HttpPort(open_exchange)
    await port.serve()

    assert (port.url, port.listening.port) == ("", 0)


def test_the_address_of_the_first_page_can_be_opened() -> None:
    port = HttpPort(open_exchange)
    port.listening = Listening("::1", 80)

    assert port.url == "http://[::1]:80/"


async def test_a_missing_library_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketwire_namesrv.server.http_port.LIBRARIES", ("no_such_library",))

    with pytest.raises(BindError, match="no_such_library not installed"):
        await HttpPort(open_exchange).start("127.0.0.1", 0)

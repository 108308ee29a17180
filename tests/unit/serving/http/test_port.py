"""A port for HTTP: its address, its requests, and a fault in a document."""

from collections.abc import Mapping

import pytest
import trio
import trio.testing

from rocketwire.serving.http import port as http_port
from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire.serving.http.port import EXCHANGE_SECONDS, HttpPort
from rocketwire.serving.sockets import BindError, Listening


def respond(path: str, query: Mapping[str, str]) -> Document:
    if path == "/fault":
        raise RuntimeError("a fault")
    return plain(200, path)


async def open_exchange(address: str) -> Exchange:
    assert address == "127.0.0.1"
    return Exchange(respond)


async def start_port(nursery: trio.Nursery, seconds: float = EXCHANGE_SECONDS) -> HttpPort:
    port = HttpPort(open_exchange, exchange_seconds=seconds)
    await port.start("127.0.0.1", 0)
    nursery.start_soon(port.serve)
    return port


async def get(port: HttpPort, path: str) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port.listening.port) as stream:
        head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        await stream.send_all(head.encode())
        return b"".join([part async for part in stream])


async def test_a_fault_ends_one_connection(
    nursery: trio.Nursery, caplog: pytest.LogCaptureFixture
) -> None:
    port = await start_port(nursery)

    assert await get(port, "/fault") == b""
    assert "a request for metrics or status failed" in caplog.text
    assert (await get(port, "/one")).endswith(b"\r\n\r\n/one\n")


async def test_many_clients(nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_port, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(http_port, "OWN_SECONDS", 1e6)
    port = await start_port(nursery)
    answers: list[bytes] = []

    async def ask(number: int) -> None:
        answers.append((await get(port, f"/{number}")).rpartition(b"\r\n")[2])

    async with trio.open_nursery() as clients:
        for number in range(50):
            clients.start_soon(ask, number)

    assert sorted(answers) == sorted(b"/%d\n" % number for number in range(50))


async def test_oldest_idle_connection_makes_room(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr(http_port, "MAX_CONNECTIONS", 2)
    port = await start_port(nursery)
    async with (
        await trio.open_tcp_stream("127.0.0.1", port.listening.port) as answered,
        await trio.open_tcp_stream("127.0.0.1", port.listening.port) as silent,
    ):
        for _ in range(2):  # its second request needs its place, too
            await answered.send_all(b"GET /one HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert (await answered.receive_some()).endswith(b"/one\n")

        assert (await get(port, "/two")).endswith(b"/two\n")
        assert await answered.receive_some() == b""  # the one that has its answer goes first
        mock_clock.jump(http_port.OWN_SECONDS)
        async with await trio.open_tcp_stream("127.0.0.1", port.listening.port):
            assert (await get(port, "/three")).endswith(b"/three\n")
            assert await silent.receive_some() == b""


async def test_slow_client_is_closed(nursery: trio.Nursery) -> None:
    port = await start_port(nursery, seconds=0.05)

    async with await trio.open_tcp_stream("127.0.0.1", port.listening.port) as stream:
        await stream.send_all(b"GET / HT")
        assert await stream.receive_some() == b""


async def test_end_of_a_port_closes_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_port, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(http_port, "OWN_SECONDS", 1e6)
    async with trio.open_nursery() as nursery:
        port = await start_port(nursery)
        served = await trio.open_tcp_stream("127.0.0.1", port.listening.port)
        waiting = await trio.open_tcp_stream("127.0.0.1", port.listening.port)
        await trio.testing.wait_all_tasks_blocked(0.05)
        nursery.cancel_scope.cancel()

    async with served, waiting:
        assert (await served.receive_some(), await waiting.receive_some()) == (b"", b"")


async def test_a_port_that_does_not_listen_has_no_address() -> None:
    port = HttpPort(open_exchange)
    await port.serve()

    assert (port.url, port.listening.port) == ("", 0)


def test_the_address_of_the_first_page_can_be_opened() -> None:
    port = HttpPort(open_exchange)
    port.listening = Listening("::1", 80)

    assert port.url == "http://[::1]:80/"


async def test_a_missing_library_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketwire.serving.http.port.LIBRARIES", ("no_such_library",))

    with pytest.raises(BindError, match="no_such_library not installed"):
        await HttpPort(open_exchange).start("127.0.0.1", 0)

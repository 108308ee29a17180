"""Bytes before the first frame: PROXY headers, TLS in every mode, and one clear line for a refusal."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.server.server import NameServer
from tests.support import running_server
from tests.support.builders.certificates import Pair, authority, with_pair
from tests.support.running_server import CLUSTER_INFO, LOOPBACK, Client, request

V1 = b"PROXY TCP4 1.2.3.4 5.6.7.8 4660 80\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes([1, 2, 3, 4, 5, 6, 7, 8, 0x12, 0x34, 0, 80])
LOCAL = b"\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"
CLIENT = "1.2.3.4:4660"
PUT = request(RequestCode.PUT_KV_CONFIG, namespace="n", key="k", value="v")
OURS = authority("ours")


def tls_settings(folder: Path, **options: Any) -> TlsSettings:
    return with_pair(folder, OURS.issue("server"), **options)


@asynccontextmanager
async def running(tls: TlsSettings | None = None, **changes: Any) -> AsyncGenerator[NameServer]:
    config = Config(bind_address=LOOPBACK, listen_port=0, tls=tls or TlsSettings(), **changes)
    async with running_server.running(config) as site:
        yield site.server


def trusting(
    folder: Path, *, version: ssl.TLSVersion | None = None, pair: Pair | None = None
) -> ssl.SSLContext:
    trust, _ = OURS.write(folder, "authority")
    context = ssl.create_default_context(cafile=trust)
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if pair is not None:
        context.load_cert_chain(*pair.write(folder, "client"))
    return context


@asynccontextmanager
async def connect(server: NameServer, opening: bytes = b"") -> AsyncGenerator[trio.SocketStream]:
    async with await trio.open_tcp_stream(*server.listening) as stream:
        await stream.send_all(opening)
        yield stream


async def start_tls(stream: trio.abc.Stream, context: ssl.SSLContext) -> trio.abc.Stream:
    tls = trio.SSLStream(stream, context, server_hostname=LOOPBACK)
    await tls.do_handshake()
    return tls


async def ask(stream: trio.abc.Stream, data: bytes = CLUSTER_INFO) -> RemotingCommand:
    return await Client(stream).ask(data)


def open_stream(
    server: NameServer, nursery: trio.Nursery, address: str = "proxy:1", received: bytes = b""
) -> trio.StapledStream[Any, Any]:
    ours, theirs = memory_stream_pair()
    nursery.start_soon(server.serve_stream, theirs, address, received)
    return ours


async def is_closed(stream: trio.abc.Stream) -> bool:
    # Whether the server closes without a byte, but for those of a TLS alert.
    try:
        received = bytes(await stream.receive_some())
        return received == b"" or (received[:1] == b"\x15" and await is_closed(stream))
    except trio.BrokenResourceError:
        return True


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


# ---- TLS


@pytest.mark.parametrize("mode", ["permissive", "enforcing"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("header", [b"", V1, V2, LOCAL], ids=["bare", "v1", "v2", "local"])
async def test_tls_is_spoken_through_a_proxy_too(
    tmp_path: Path, mode: str, version: ssl.TLSVersion, header: bytes
) -> None:
    async with (
        running(tls_settings(tmp_path, server_mode=mode)) as server,
        connect(server, header) as stream,
    ):
        tls = await start_tls(stream, trusting(tmp_path, version=version))
        for _ in range(3):
            assert (await ask(tls)).code == 0
        assert (await ask(tls, CLUSTER_INFO * 2)).code == 0
        await tls.aclose()


class Holding(trio.abc.Stream):
    """Sends a handshake in single bytes, and holds the records after it back."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.held: bytes = b""

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self.stream.receive_some(max_bytes)

    async def wait_send_all_might_not_block(self) -> None:
        await self.stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if data[0] == 0x16:
            for byte in bytes(data):
                await self.stream.send_all(bytes([byte]))
        else:
            self.held += bytes(data)


async def test_a_handshake_in_single_bytes_and_a_request_with_its_end_are_taken(
    tmp_path: Path,
) -> None:
    async with running(tls_settings(tmp_path)) as server, connect(server) as stream:
        holding = Holding(stream)
        tls = await start_tls(holding, trusting(tmp_path, version=ssl.TLSVersion.TLSv1_3))
        await tls.send_all(CLUSTER_INFO)
        await stream.send_all(holding.held)
        assert (await ask(tls, b"")).code == 0


async def test_the_server_ends_tls_with_a_goodbye(tmp_path: Path) -> None:
    async with running(tls_settings(tmp_path)) as server, connect(server) as stream:
        tls = await start_tls(stream, trusting(tmp_path))
        await tls.send_all(b"\xff\xff\xff\xff")
        assert await tls.receive_some() == b""  # an end without goodbye would raise


def listening_to(server: NameServer) -> Observer:
    observer = Observer(lambda: 0.0)
    server.journal.listeners.append(observer)
    return observer


async def test_where_tls_is_enforced_plain_frames_are_refused_and_not_executed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tls_settings(tmp_path, server_mode="enforcing")) as server:
        observer = listening_to(server)
        for header in (b"", V1, V2):
            async with connect(server, header + PUT) as stream:
                assert await is_closed(stream)
        assert server.state.kv.document() == {}

    assert len(warnings(caplog)) == 3
    end = (
        "closed: it does not begin with TLS, and tls.server.mode is enforcing; it looks like a"
        " RocketMQ client that does not use TLS: PUT_KV_CONFIG (100)"
    )
    assert all(line.endswith(end) for line in warnings(caplog))
    assert warnings(caplog)[1].count(CLIENT) == 1
    assert observer.events == {"PlainRefused": 3}
    assert observer.endings == {"refused": 3}
    assert len(observer.troubles) == 3


async def test_without_a_certificate_tls_is_refused_and_plain_frames_are_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = TlsSettings(test_mode=False, cert_path="no.pem", key_path="no.key")
    async with running(settings) as server:
        observer = listening_to(server)
        async with connect(server) as stream:
            with pytest.raises(trio.BrokenResourceError):
                await start_tls(stream, trusting(tmp_path))
        async with connect(server) as stream:
            assert (await ask(stream)).code == 0

    (line,) = warnings(caplog)
    assert "it begins with TLS, and there is no certificate: certificate no.pem" in line
    assert line.endswith("with key no.key: no such file or directory")
    assert observer.events == {"TlsUnavailable": 1}


async def test_a_connection_survives_a_change_of_the_certificate(tmp_path: Path) -> None:
    async with running(tls_settings(tmp_path)) as server, connect(server) as first:
        early = await start_tls(first, trusting(tmp_path))
        OURS.issue("server").write(tmp_path, "server")
        await server.tls.reload()

        assert (await ask(early)).code == 0
        async with connect(server) as second:
            assert (await ask(await start_tls(second, trusting(tmp_path)))).code == 0


@asynccontextmanager
async def accept_notification() -> AsyncGenerator[tuple[str, trio.SocketStream]]:
    listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
    async with listeners[0] as listener, running(use_tls=True) as server:
        address = f"{LOOPBACK}:{listener.socket.getsockname()[1]}"
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(server.notifier.notify, address, CLUSTER_INFO)
                async with await listener.accept() as stream:
                    yield address, stream


async def test_a_broker_is_notified_over_tls_if_configured(tmp_path: Path) -> None:
    cert, key = OURS.issue("broker").write(tmp_path, "broker")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    received = b""
    async with accept_notification() as (_, accepted):
        stream = trio.SSLStream(accepted, context, server_side=True)
        while len(received) < len(CLUSTER_INFO):
            received += await stream.receive_some()
        await stream.aclose()

    assert received == CLUSTER_INFO


async def test_a_broker_that_speaks_no_tls_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with accept_notification() as (address, stream):
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    (line,) = warnings(caplog)
    assert f"broker {address} is not notified" in line
    assert "the TLS handshake failed: " in line


# ---- PROXY


@pytest.mark.parametrize(
    ("header", "expected"), [(V1, CLIENT), (V2, CLIENT), (LOCAL, "proxy:1"), (b"", "proxy:1")]
)
async def test_the_client_goes_by_the_address_of_the_header(
    header: bytes, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as server, trio.open_nursery() as nursery:
        ours = open_stream(server, nursery)
        await ask(ours, header + CLUSTER_INFO)
        (connection,) = server.connections.values()
        assert connection.peer.address == expected
        caplog.set_level("INFO")
        await ask(ours, PUT)
        assert f"[{expected}]" in caplog.text
        await ours.send_all(b"\xff\xff\xff\xff")
        assert await is_closed(ours)

    assert warnings(caplog)[0].startswith(f"connection of {expected} closed: ")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n", "family 'TCP5'"),
        (b"PROXY UNKNOWN " + b"a" * 200, "no end within 108 bytes"),
        (V2[:12] + b"\x31" + V2[13:], "version and command 0x31"),
        (V1 + V1, "a connection may begin with one only"),
        (V2 + V2, "a connection may begin with one only"),
        (b"PROXY\r\n", "exceeds the limit"),
    ],
)
async def test_a_malformed_or_second_header_ends_the_connection_with_one_line(
    header: bytes, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as server, trio.open_nursery() as nursery:
        observer = listening_to(server)
        ours = open_stream(server, nursery)
        await ours.send_all(header + PUT)

        assert await is_closed(ours)
        assert server.state.kv.document() == {}
        await wait_all_tasks_blocked()

    (line,) = warnings(caplog)
    assert message in line
    assert len(observer.troubles) == 1


@pytest.mark.parametrize("end", [1, 11, 12, 17])
@pytest.mark.parametrize("header", [V1, V2])
async def test_half_a_header_has_to_be_whole_in_time(
    autojump_clock: MockClock, header: bytes, end: int
) -> None:
    async with running(server_channel_max_idle_time_seconds=0) as server, trio.open_nursery() as n:
        ours = open_stream(server, n)
        start = trio.current_time()
        await ours.send_all(header[:end])

        assert await is_closed(ours)
        assert trio.current_time() - start == pytest.approx(60, abs=1.5)


async def test_behind_a_whole_header_the_client_may_take_its_idle_time(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running() as server, trio.open_nursery() as nursery:
        ours = open_stream(server, nursery)
        start = trio.current_time()
        await ours.send_all(V1[:10])
        await trio.sleep(30)
        await ours.send_all(V1[10:])

        assert await is_closed(ours)
        assert trio.current_time() - start == pytest.approx(120, abs=1.5)
    assert caplog.messages[-1] == f"connection of {CLIENT} closed: idle for 120 s"


async def test_a_client_that_ends_before_its_first_frame_is_just_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running() as server, trio.open_nursery() as nursery:
        for beginning in (b"", b"P", V1, V2[:13]):
            ours = open_stream(server, nursery)
            await ours.send_all(beginning)
            await ours.send_stream.aclose()
            assert await is_closed(ours)
        await wait_all_tasks_blocked()

        assert server.connections == {}
    assert warnings(caplog) == []


async def test_a_handshake_that_never_ends_is_ended(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running(server_channel_max_idle_time_seconds=0) as server, trio.open_nursery() as n:
        ours = open_stream(server, n, "client:1")
        await ours.send_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")

        assert await is_closed(ours)
    assert "connection of client:1 closed: a frame took longer than 60 s" in caplog.messages


async def test_bytes_that_were_read_before_are_not_lost() -> None:
    async with running() as server, trio.open_nursery() as nursery:
        for received in (CLUSTER_INFO, V1 + CLUSTER_INFO[:3], V2[:5]):
            ours = open_stream(server, nursery, "client:1", received)
            opening = next(h for h in (b"", V1, V2) if (h + CLUSTER_INFO).startswith(received))
            assert (await ask(ours, (opening + CLUSTER_INFO)[len(received) :])).code == 0
            await ours.aclose()

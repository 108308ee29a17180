"""How connections begin: plainly, with TLS, with the header of a load balancer, or with both."""

from __future__ import annotations

import os
import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.serving.tls.self_signed import make_self_signed
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.serving.tls.stream import TlsStream
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_broker.config import Config
from rocketwire_broker.server.programs import open_broker, open_name_server
from tests.support.broker_wire import encode_send

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rocketwire_broker.server.server import BrokerServer

GET_CONFIG = encode(RemotingCommand(code=26, opaque=1))
LARGE = 3 << 20
V1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 4660 10911\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(
    [192, 0, 2, 3, 192, 0, 2, 4, 0x12, 0x34, 38, 148]
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    write_certificate(folder)
    return folder


def write_certificate(folder: Path) -> bytes:
    pair = make_self_signed(datetime.now(UTC))
    (folder / "server.pem").write_bytes(pair.certificate)
    (folder / "server.key").write_bytes(pair.key)
    return pair.certificate


def tls(folder: Path, mode: str = "permissive") -> TlsSettings:
    return TlsSettings(
        server_mode=mode,
        test_mode=False,
        cert_path=str(folder / "server.pem"),
        key_path=str(folder / "server.key"),
    )


@asynccontextmanager
async def running(folder: Path, mode: str = "permissive") -> AsyncGenerator[BrokerServer]:
    async with open_broker(Config(listen_port=0, tls=tls(folder, mode))) as server:
        yield server


def context() -> ssl.SSLContext:
    """The TLS of a client that trusts everybody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Clients:
    """Connections of a test, which are closed at its end."""

    def __init__(self) -> None:
        self.streams: list[trio.abc.Stream] = []

    async def plain(self, server: BrokerServer, before: bytes = b"") -> trio.abc.Stream:
        """Connect, and send these bytes first."""
        stream = await trio.open_tcp_stream("127.0.0.1", server.broker.config.listen_port)
        self.streams.append(stream)
        if before:
            await stream.send_all(before)
        return stream

    async def connect_with_tls(self, server: BrokerServer, before: bytes = b"") -> TlsStream:
        """Connect, send these bytes, and begin TLS."""
        stream = TlsStream(await self.plain(server, before), context(), server_side=False)
        await stream.do_handshake()
        return stream


@pytest.fixture
async def clients() -> AsyncGenerator[Clients]:
    opened = Clients()
    yield opened
    for stream in opened.streams:
        await trio.aclose_forcefully(stream)


async def exchange(stream: trio.abc.Stream, request: bytes = GET_CONFIG) -> RemotingCommand | None:
    """Send a request and return its answer; None if the connection is closed instead."""
    decoder = CommandDecoder()
    with trio.fail_after(60):
        try:
            await stream.send_all(request)
            while data := await stream.receive_some():
                decoder.feed(bytes(data))
                if (command := decoder.next_command()) is not None:
                    return command
        except trio.BrokenResourceError:
            pass
    return None


A_PULL = {
    "consumerGroup": "readers",
    "topic": "orders",
    "queueId": "0",
    "queueOffset": "0",
    "maxMsgNums": "1",
    "sysFlag": "6",
    "subscription": "*",
    "suspendTimeoutMillis": "60000",
}


async def test_connection_may_be_encrypted(certificate: Path, clients: Clients) -> None:
    async with running(certificate) as server:
        for stream in (await clients.plain(server), await clients.connect_with_tls(server)):
            answer = await exchange(stream)
            assert answer is not None
            assert answer.code == 0


async def test_large_frames_pass_in_both_directions(certificate: Path, clients: Clients) -> None:
    async with running(certificate) as server:
        stream = await clients.connect_with_tls(server)
        body = os.urandom(LARGE)
        sent = await exchange(stream, encode_send(body))
        pull = encode(RemotingCommand(code=11, opaque=2, ext_fields=A_PULL))
        pulled = await exchange(stream, pull)

    assert sent is not None
    assert sent.code == 0
    assert pulled is not None
    assert body in (pulled.body or b"")


async def test_a_pull_that_waits_is_answered_over_tls(certificate: Path, clients: Clients) -> None:
    async with running(certificate) as server:
        reader = await clients.connect_with_tls(server)
        writer = await clients.connect_with_tls(server)
        await exchange(writer, encode_send())
        arrived: list[RemotingCommand | None] = []

        async def pull() -> None:
            fields = {**A_PULL, "queueOffset": "1"}
            request = encode(RemotingCommand(code=11, opaque=2, ext_fields=fields))
            arrived.append(await exchange(reader, request))

        async with trio.open_nursery() as tasks:
            tasks.start_soon(pull)
            with trio.fail_after(60):
                while not len(server.broker.waits):
                    await trio.sleep(0.001)
            await exchange(writer, encode_send(b"later"))

    (answer,) = arrived
    assert answer is not None
    assert answer.code == 0


async def test_if_tls_is_enforced_plain_frames_are_refused(
    certificate: Path, clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(certificate, "enforcing") as server:
        assert await exchange(await clients.plain(server)) is None
        assert await exchange(await clients.connect_with_tls(server)) is not None

    assert "does not begin with TLS" in caplog.text


async def test_a_changed_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    async with running(tmp_path) as server:
        certificate = ssl.PEM_cert_to_DER_cert(write_certificate(tmp_path).decode())
        with trio.fail_after(60):
            while (await peer_certificate(server)) != certificate:
                await trio.sleep(0.05)


async def peer_certificate(server: BrokerServer) -> bytes | None:
    port = server.broker.config.listen_port
    stream = await trio.open_ssl_over_tcp_stream("127.0.0.1", port, ssl_context=context())
    await stream.do_handshake()
    result: bytes | None = stream.getpeercert(binary_form=True)
    await trio.aclose_forcefully(stream)
    return result


@pytest.mark.parametrize(("header", "address"), [(V1, "192.0.2.1:4660"), (V2, "192.0.2.3:4660")])
@pytest.mark.parametrize("over_tls", [False, True])
async def test_behind_a_load_balancer_a_client_has_its_own_address(
    certificate: Path, clients: Clients, header: bytes, address: str, *, over_tls: bool
) -> None:
    async with running(certificate) as server:
        stream = await (clients.connect_with_tls if over_tls else clients.plain)(server, header)
        await exchange(stream, encode_send())
        (peer,) = server.broker.peers.values()
        record = server.broker.store.queue("orders", 0)
        assert record is not None

    assert (peer.address, str(peer.host)) == (address, address)
    assert peer.host.address in (record.record(0) or b"")


async def test_a_malformed_header_ends_its_connection_only(
    certificate: Path, clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(certificate) as server:
        assert await exchange(await clients.plain(server, b"PROXY TCP9 x\r\n")) is None
        assert await exchange(await clients.plain(server)) is not None

    assert "PROXY" in caplog.text


async def test_broker_registers_over_tls(certificate: Path, clients: Clients) -> None:
    settings = tls(certificate, "enforcing")
    async with open_name_server(0, "127.0.0.1", settings) as address:
        config = Config(listen_port=0, namesrv_addr=address, tls=settings, use_tls=True)
        async with open_broker(config) as server:
            assert await exchange(await clients.connect_with_tls(server)) is not None

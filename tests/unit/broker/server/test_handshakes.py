"""How connections begin: plainly, with TLS, with the header of a load balancer, or with both."""

import os
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from rocketwire.serving.tls.certificates import make_self_signed
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.serving.tls.stream import TlsStream
from rocketwire_broker.config import Config
from rocketwire_broker.server.programs import open_broker, open_name_server
from rocketwire_broker.server.server import BrokerServer
from tests.support.broker_wire import encode_pull, encode_send
from tests.support.values import require
from tests.unit.broker.stream_client import GET_CONFIG, StreamClient, connect, wait_for

LARGE = 3 << 20
V1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 4660 10911\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(
    [192, 0, 2, 3, 192, 0, 2, 4, 0x12, 0x34, 38, 148]
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Clients:
    def __init__(self) -> None:
        self.streams: list[trio.abc.Stream] = []

    async def connect(self, server: BrokerServer, header: bytes = b"") -> StreamClient:
        client = await connect(server)
        self.streams.append(client.stream)
        await client.send(header)
        return client

    async def connect_with_tls(self, server: BrokerServer, header: bytes = b"") -> StreamClient:
        client = await self.connect(server, header)
        stream = TlsStream(client.stream, context(), server_side=False)
        await stream.do_handshake()
        return StreamClient(stream)


@pytest.fixture
async def clients() -> AsyncGenerator[Clients]:
    clients = Clients()
    yield clients
    for stream in clients.streams:
        await trio.aclose_forcefully(stream)


async def test_connection_may_be_encrypted(certificate: Path, clients: Clients) -> None:
    async with running(certificate) as server:
        for client in (await clients.connect(server), await clients.connect_with_tls(server)):
            assert (await client.call()).code == 0


async def test_large_frames_pass_in_both_directions(certificate: Path, clients: Clients) -> None:
    body = os.urandom(LARGE)
    async with running(certificate) as server:
        client = await clients.connect_with_tls(server)

        assert (await client.call(encode_send(body))).code == 0
        assert body in ((await client.call(encode_pull())).body or b"")


async def test_a_pull_that_waits_is_answered_over_tls(certificate: Path, clients: Clients) -> None:
    async with running(certificate) as server:
        reader = await clients.connect_with_tls(server)
        writer = await clients.connect_with_tls(server)
        await writer.call(encode_send())
        await reader.send(encode_pull(1, hold=60_000))
        await wait_for(lambda: len(server.broker.waits) == 1)
        await writer.call(encode_send(b"later"))

        assert (await reader.read_answer()).code == 0


@pytest.mark.parametrize(
    ("data", "mode", "reason"),
    [
        (GET_CONFIG, "enforcing", "does not begin with TLS"),
        (b"PROXY TCP9 x\r\n", "permissive", "PROXY"),
    ],
    ids=["enforced TLS", "malformed header"],
)
async def test_a_connection_with_other_first_bytes_ends(
    certificate: Path,
    clients: Clients,
    caplog: pytest.LogCaptureFixture,
    data: bytes,
    mode: str,
    reason: str,
) -> None:
    async with running(certificate, mode) as server:
        await (await clients.connect(server, data)).wait_until_closed()
        assert (await (await clients.connect_with_tls(server)).call()).code == 0

    assert reason in caplog.text


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
        client = await (clients.connect_with_tls if over_tls else clients.connect)(server, header)
        await client.call(encode_send())
        (peer,) = server.broker.peers.values()
        record = require(server.broker.store.queue("orders", 0)).record(0)

    assert (peer.address, str(peer.host)) == (address, address)
    assert peer.host.address in (record or b"")


async def test_broker_registers_over_tls(certificate: Path, clients: Clients) -> None:
    settings = tls(certificate, "enforcing")
    async with open_name_server(0, "127.0.0.1", settings) as address:
        config = Config(listen_port=0, namesrv_addr=address, tls=settings, use_tls=True)
        async with open_broker(config) as server:
            assert (await (await clients.connect_with_tls(server)).call()).code == 0

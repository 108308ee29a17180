"""Java peers that reach the name server over TLS, or through a load balancer that speaks the PROXY protocol."""

from __future__ import annotations

import contextlib
import functools
import socket
import ssl
from typing import TYPE_CHECKING

import pytest

from rocketwire.codes import RequestCode
from rocketwire.wire.command import RemotingCommand, encode
from tests.peers.peers import CURRENT, MIDDLE, OLD, JavaBroker, JavaPeer
from tests.peers.processes import LOOPBACK, wait_until
from tests.support.name_servers import DEFAULT_KIND, name_server, start_all
from tests.support.tap import tapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


TLS = ("-Dtls.enable=true", "-Dtls.test.mode.enable=true")
V1 = b"PROXY TCP4 192.0.2.1 192.0.2.2 4660 9876\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(
    [192, 0, 2, 3, 192, 0, 2, 4, 0x12, 0x34, 38, 148]
)
CLUSTER_INFO = encode(RemotingCommand(code=RequestCode.GET_BROKER_CLUSTER_INFO, opaque=1))


@pytest.fixture(scope="module")
def secret(
    java: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], JavaPeer]]:
    """Release -> clients and mqadmin that use TLS for all connections; a JVM is started when it is first needed."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def of(release: str) -> JavaPeer:
            folder = tmp_path_factory.mktemp("secret")
            return stack.enter_context(JavaPeer(folder, version=release, jvm=TLS))

        yield of


def plain_answer(port: int) -> bytes:
    """The response to a peer that sends a frame without TLS."""
    with socket.create_connection((LOOPBACK, port), 60) as connection:
        connection.sendall(CLUSTER_INFO)
        try:
            return connection.recv(65_536)
        except ConnectionResetError:
            return b""


def test_java_finds_the_one_cipher_suite_that_is_left(
    secret: Callable[[str], JavaPeer], tmp_path_factory: pytest.TempPathFactory
) -> None:
    jvm = ["-Dtls.server.mode=enforcing", "-Dtls.ciphers=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
    with name_server(DEFAULT_KIND, tmp_path_factory.mktemp("cipher"), jvm=jvm) as server:
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection((LOOPBACK, server.port), 60) as plain,
            client.wrap_socket(plain) as connection,
        ):
            suite = connection.cipher()
        listed = secret(CURRENT).admin(server.address, "topicList")

    assert suite is not None
    assert suite[0] == "ECDHE-RSA-AES128-GCM-SHA256"
    assert "Exception" not in listed.out + listed.err


@pytest.mark.full
@pytest.mark.parametrize(
    ("release", "mode"),
    [
        (CURRENT, "permissive"),
        (CURRENT, "enforcing"),
        (MIDDLE, "enforcing"),
        (OLD, "enforcing"),
    ],
)
def test_a_broker_and_its_clients_live_on_tls_alone(
    release: str,
    mode: str,
    secret: Callable[[str], JavaPeer],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp(mode)
    server = name_server(DEFAULT_KIND, folder / "namesrv", jvm=[f"-Dtls.server.mode={mode}"])
    broker = JavaBroker(folder / "broker", [server.address], version=release, jvm=TLS)
    clients = secret(release)
    with server, start_all(broker):
        table = clients.cluster_table(server.address, release.replace(".", "_"))
        clients.admin(server.address, "updateTopic -c DefaultCluster -t Secret -r 4 -w 4")
        clients.send(server.address, "Secret", f"{mode}-producers", range(100))
        clients.consume(server.address, "Secret", f"{mode}-consumers")
        keys = clients.received(f"{mode}-consumers", 100)
        clients.close(f"{mode}-producers")
        clients.close(f"{mode}-consumers")
        plain = plain_answer(server.port)

    assert broker.address in table
    assert sorted(map(str, range(100))) == sorted(set(keys))
    assert bool(plain) == (mode == "permissive")
    if DEFAULT_KIND == "ours":
        assert ("does not begin with TLS" in server.log) == (mode == "enforcing")


@pytest.mark.full
def test_peers_behind_a_load_balancer_go_by_their_own_addresses(
    peer: JavaPeer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("proxied")
    server = name_server(DEFAULT_KIND, folder / "namesrv")
    with server, tapped(server.port, preface=V1) as text, tapped(server.port, preface=V2) as binary:
        broker = JavaBroker(folder / "broker", [binary.address])
        with start_all(broker):
            broker.wait_registered(server.port)
            peer.admin(text.address, "updateTopic -c DefaultCluster -t Balanced -r 4 -w 4")
            peer.send(text.address, "Balanced", "balanced-producers", range(100))
            peer.consume(text.address, "Balanced", "balanced-consumers")
            keys = peer.received("balanced-consumers", 100)
            peer.close("balanced-producers")
            peer.close("balanced-consumers")
            peer.admin(text.address, "updateKvConfig -s ORDER_TOPIC_CONFIG -k Balanced -v x:1")

    assert sorted(map(str, range(100))) == sorted(set(keys))
    if DEFAULT_KIND == "ours":
        wait_until(lambda: "[192.0.2.1:4660]" in server.log, "the client's address is logged")
        assert "[192.0.2.3:4660]" in server.log

"""Java clients of three releases at the broker's port: over TLS, and through a load balancer."""

from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import BINARY_HEADERS, CURRENT, OLD, RELEASES, JavaPeer, number_keys
from tests.peers.processes import LOOPBACK, free_ports
from tests.peers.server_certificate import with_certificate
from tests.peers.shared_peers import have_here
from tests.support.tap import tapped

TLS = ("-Dtls.enable=true", "-Dtls.test.mode.enable=true")
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(
    [192, 0, 2, 3, 192, 0, 2, 4, 0x12, 0x34, 38, 148]
)

A_PULL = {
    "consumerGroup": "probe",
    "queueId": "0",
    "queueOffset": "0",
    "maxMsgNums": "8",
    "sysFlag": "4",
    "subscription": "*",
}


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Generator[DevBroker]:
    folder = tmp_path_factory.mktemp("secret")
    jvm = ["-Dtls.server.mode=enforcing", *with_certificate()]
    with DevBroker(folder, jvm=jvm) as running:
        yield running


@pytest.mark.parametrize("version", RELEASES)
def test_a_release_lives_on_tls_alone(version: str, secret: DevBroker, tmp_path: Path) -> None:
    have_here(partial(java_cache.classes, version, "Peer.java"))
    address = f"{LOOPBACK}:{secret.name_server_port}"
    with JavaPeer(tmp_path, version=version, jvm=TLS) as java:
        keys = java.exchange(address, f"orders-{version.replace('.', '-')}", 20)
        table = java.cluster_table(address, "V5_5_0")

    assert keys == number_keys(20)
    assert secret.address in table


@pytest.mark.parametrize(("version", "form"), [(CURRENT, "JSON"), (OLD, "ROCKETMQ")])
def test_binary_requests_get_answers_in_the_form_of_the_broker(
    version: str, form: str, tmp_path: Path
) -> None:
    have_here(partial(java_cache.classes, version, "Peer.java"))
    port = free_ports()
    with tapped(port) as tap:
        options = {
            "listenPort": port,
            "rocketwire.advertisedPort": tap.port,
            "rocketmq.serialize.type": form,
        }
        with (
            DevBroker(tmp_path / "broker", options=options) as broker,
            JavaPeer(tmp_path / "peer", version=version, jvm=[BINARY_HEADERS]) as java,
        ):
            address = f"{LOOPBACK}:{broker.name_server_port}"
            keys = java.exchange(address, "binary", 20)

    assert keys == number_keys(20)
    forms = {frame.data[4] for frame in tap.frames}  # 0 is JSON, 1 binary
    assert forms == ({1} if form == "ROCKETMQ" else {0, 1})


def test_java_clients_of_a_load_balancer_have_their_own_addresses(tmp_path: Path) -> None:
    have_here(partial(java_cache.classes, RELEASES[0], "Peer.java"))
    port = free_ports()
    with tapped(port, preface=V2) as balancer:
        options = {"listenPort": port, "rocketwire.advertisedPort": balancer.port}
        with (
            DevBroker(tmp_path / "broker", options=options) as broker,
            JavaPeer(tmp_path / "peer") as java,
        ):
            address = f"{LOOPBACK}:{broker.name_server_port}"
            keys = java.exchange(address, "balanced", 8)
            stored = raw_call.ask(port, 11, {**A_PULL, "topic": "balanced"}).body

    assert keys == number_keys(8)
    assert bytes([192, 0, 2, 3, 0, 0, 0x12, 0x34]) in stored  # the address of the sender
    assert bytes([127, 0, 0, 1]) + balancer.port.to_bytes(4) in stored  # that of the broker

"""A Java broker and Java's clients that reach the name server over TLS alone."""

from pathlib import Path

import pytest

from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaPeer, number_keys
from tests.support.name_servers import DEFAULT_KIND, name_server, start_all

TLS = ("-Dtls.enable=true", "-Dtls.test.mode.enable=true")


@pytest.mark.full
@pytest.mark.parametrize(("release", "mode"), [(CURRENT, "permissive"), (OLD, "enforcing")])
def test_a_broker_and_its_clients_live_on_tls_alone(
    release: str, mode: str, java: None, tmp_path: Path
) -> None:
    server = name_server(DEFAULT_KIND, tmp_path / "namesrv", jvm=[f"-Dtls.server.mode={mode}"])
    broker = JavaBroker(tmp_path / "broker", [server.address], version=release, jvm=TLS)

    with (
        server,
        start_all(broker),
        JavaPeer(tmp_path / "peer", version=release, jvm=TLS) as clients,
    ):
        table = clients.cluster_table(server.address, release.replace(".", "_"))
        clients.admin(server.address, "updateTopic -c DefaultCluster -t Secret -r 4 -w 4")
        keys = clients.exchange(server.address, "Secret", 100)

    assert broker.address in table
    assert keys == number_keys(100)

"""RocketMQ's proxy in cluster mode finds its brokers through us, for clients of both its protocols."""

from collections.abc import Iterator

import pytest

from tests.java.namesrv.conftest import Cluster
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.peers import CURRENT, JavaPeer, number_keys, sort_keys
from tests.peers.processes import wait_until
from tests.peers.proxy import GRPC_CLIENT, GrpcPeer, JavaProxy
from tests.peers.shared_peers import have_here

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def proxy(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaProxy]:
    have_here(
        lambda: java_cache.jars(CURRENT, "proxy.xml"),
        lambda: java_cache.classes(GRPC_CLIENT, "GrpcPeer.java", "grpc.xml"),
    )
    folder = tmp_path_factory.mktemp("proxy")
    with JavaProxy(folder, [cluster.server.address]) as running:
        yield running


def create_topic(topic: str, cluster: Cluster, peer: JavaPeer) -> None:
    server, broker = cluster.server, cluster.broker
    peer.admin(server.address, f"updateTopic -c DefaultCluster -t {topic} -r 2 -w 2")
    wait_until(lambda: raw_call.routes_to(server.port, topic, broker.address), "its route")


def test_grpc_clients_send_and_receive_through_a_proxy(
    cluster: Cluster, peer: JavaPeer, proxy: JavaProxy, tmp_path_factory: pytest.TempPathFactory
) -> None:
    create_topic("ByGrpc", cluster, peer)

    with GrpcPeer(tmp_path_factory.mktemp("grpc")) as client:
        client.call("send", proxy.grpc_address, "ByGrpc", 0, 20, seconds=300)
        words = (proxy.grpc_address, "ByGrpc", "grpc-consumers", 20, 180_000)
        keys = client.call("receive", *words, seconds=300)

    assert sort_keys(keys) == number_keys(20)


def test_remoting_clients_use_a_proxy_as_their_name_server(
    cluster: Cluster, peer: JavaPeer, proxy: JavaProxy
) -> None:
    create_topic("ByRemoting", cluster, peer)

    assert peer.exchange(proxy.remoting_address, "ByRemoting", 20) == number_keys(20)


def test_the_topic_of_heartbeats_between_proxies_is_created(
    cluster: Cluster, proxy: JavaProxy
) -> None:
    port, broker = cluster.server.port, cluster.broker.address

    assert raw_call.routes_to(port, "DefaultHeartBeatSyncerTopic", broker)

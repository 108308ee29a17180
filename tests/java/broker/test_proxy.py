"""RocketMQ's proxy of 5.5.0 in cluster mode before our broker: clients of the gRPC protocol do everything through it."""

import json
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from rocketwire.client.admin import open_admin
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire_broker.tables.topics import new_topic
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, SHORT_LIVED, JavaPeer, java, number_keys, prepare
from tests.peers.processes import LOOPBACK, Server, free_ports
from tests.peers.shared_peers import have_here

GRPC_CLIENT = "5.1.0"
"""Clients of the gRPC protocol have release numbers of their own."""


class JavaProxy(Server):
    """A proxy before the brokers of DefaultCluster, one of which must have registered when it starts.

    Clients of the remoting protocol take ``remoting_address`` for a name server.
    """

    def __init__(self, folder: Path, name_servers: Sequence[str]) -> None:
        grpc, remoting = free_ports(), free_ports()
        self.grpc_address = f"{LOOPBACK}:{grpc}"
        self.remoting_address = f"{LOOPBACK}:{remoting}"
        prepare(folder)
        settings = {
            "rocketMQClusterName": "DefaultCluster",
            "proxyMode": "CLUSTER",
            "namesrvAddr": ";".join(name_servers),
            "localServeAddr": LOOPBACK,
            "remotingAccessAddr": LOOPBACK,
            "grpcServerPort": grpc,
            "remotingListenPort": remoting,
            "transactionHeartbeatPeriodSecond": 1,  # a broker cannot ask a producer before; Java: 20
        }
        (folder / "conf" / "rmq-proxy.json").write_text(json.dumps(settings))
        command = java(
            CURRENT,
            "org.apache.rocketmq.proxy.ProxyStartup",
            *("-pc", "conf/rmq-proxy.json"),
            jvm=SHORT_LIVED,
            pom="proxy.xml",
        )
        super().__init__(
            "proxy",
            command,
            folder,
            ready="startup successfully",
            environment={"RMQ_PROXY_HOME": "."},
        )


class GrpcPeer(JavaPeer):
    """One JVM that runs ``tests/peers/sources/GrpcPeer.java``; of the parent's methods only ``call`` makes sense."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, version=GRPC_CLIENT, program="GrpcPeer.java", pom="grpc.xml")


pytestmark = pytest.mark.full

MILLIS = 180_000
A_PULL = {
    "consumerGroup": "probe",
    "topic": "Later",
    "queueOffset": "0",
    "maxMsgNums": "8",
    "sysFlag": "4",
    "subscription": "*",
}
TYPES = {
    "Normal": "NORMAL",
    "Pushed": "NORMAL",
    "Remote": "NORMAL",
    "Later": "DELAY",
    "Ordered": "FIFO",
    "HalfMessages": "TRANSACTION",
    "Rooms": "LITE",
}
"""Type of the messages of each topic."""


class Place(NamedTuple):
    proxy: JavaProxy
    client: GrpcPeer
    broker_port: int

    def call(self, verb: str, topic: str, *words: object) -> list[str]:
        return self.client.call(verb, self.proxy.grpc_address, topic, *words, seconds=300)

    def receive_keys(self, topic: str, count: int) -> list[int]:
        return list(map(int, self.call("receive", topic, f"{topic}-readers", count, MILLIS)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    have_here(
        lambda: java_cache.jars(CURRENT, "proxy.xml"),
        lambda: java_cache.classes(GRPC_CLIENT, "GrpcPeer.java", "grpc.xml"),
        lambda: java_cache.classes(CURRENT, "Peer.java"),
    )
    folder = tmp_path_factory.mktemp("proxy")
    options = {
        "transactionTimeOut": 1000,
        "transactionCheckInterval": 1000,
        # checks count from the first second on, also before the proxy has announced its producer
        "transactionCheckMax": 1000,
    }
    with DevBroker(folder / "broker", options=options) as broker:
        address = f"{LOOPBACK}:{broker.name_server_port}"
        trio.run(create_topics, address, broker.address)
        with JavaProxy(folder / "proxy", [address]) as proxy, GrpcPeer(folder / "client") as client:
            yield Place(proxy, client, int(broker.address.rpartition(":")[2]))


async def create_topics(name_server: str, broker: str) -> None:
    async with open_admin(name_server) as admin:
        for topic, message_type in TYPES.items():
            attributes = {"+message.type": message_type}
            config = new_topic(topic, 2)
            await admin.topics.create_or_update(
                replace(config, attributes=attributes), broker=broker
            )
        group = SubscriptionGroupConfig(group_name="Ordered-readers", consume_message_orderly=True)
        await admin.groups.create_or_update(group, broker=broker)
        group = SubscriptionGroupConfig(
            group_name="Rooms-readers", attributes={"+lite.bind.topic": "Rooms"}
        )
        await admin.groups.create_or_update(group, broker=broker)


def test_messages_are_sent_and_received(place: Place) -> None:
    place.call("send", "Normal", 0, 20)

    assert sorted(set(place.receive_keys("Normal", 20))) == list(range(20))


def test_a_push_consumer_gets_refused_messages_again(place: Place) -> None:
    place.call("send", "Pushed", 0, 20)
    words = place.call("push", "Pushed", "Pushed-readers", 20, MILLIS)
    attempts: dict[int, list[int]] = {}
    for key, attempt in zip(words[::2], words[1::2], strict=True):
        attempts.setdefault(int(key), []).append(int(attempt))

    assert sorted(attempts) == list(range(20))
    for number in (7, 17):
        first, second = attempts[number][:2]
        assert 1 <= first < second


def test_messages_with_a_time_of_delivery_come_then(place: Place) -> None:
    place.call("delay", "Later", 0, 4, 4_000)

    assert sorted(set(place.receive_keys("Later", 4))) == list(range(4))
    stored = b"".join(
        raw_call.ask(place.broker_port, 11, {**A_PULL, "queueId": queue}).body for queue in "01"
    )
    assert stored.count(b"TIMER_DEQUEUE_MS") == 4  # they left the timer at their time


def test_messages_of_a_group_come_in_their_order(place: Place) -> None:
    place.call("fifo", "Ordered", 0, 20)
    keys = place.receive_keys("Ordered", 20)

    for remainder in (0, 1):
        of_group = [key for key in dict.fromkeys(keys) if key % 2 == remainder]
        assert of_group == list(range(remainder, 20, 2))


def test_transactions_end_by_the_application_or_a_check(place: Place) -> None:
    place.call("transactions", "HalfMessages", 0)

    assert sorted(set(place.receive_keys("HalfMessages", 2))) == [0, 2]


def test_a_consumer_of_lite_topics_gets_their_messages_and_no_others(place: Place) -> None:
    place.call("sendLite", "Rooms", "blue", 0, 7)
    place.call("sendLite", "Rooms", "red", 10, 7)
    place.call("sendLite", "Rooms", "green", 20, 1)

    words = place.call("pushLite", "Rooms", "Rooms-readers", "blue,red", 14, MILLIS)

    assert set(zip(words[::3], map(int, words[1::3]), strict=True)) == {
        *(("blue", key) for key in range(7)),
        *(("red", key) for key in range(10, 17)),
    }


def test_remoting_clients_use_the_proxy_as_name_server(place: Place, tmp_path: Path) -> None:
    with JavaPeer(tmp_path) as java:
        keys = java.exchange(place.proxy.remoting_address, "Remote", 20)

    assert keys == number_keys(20)

"""A random walk at Java's name server and ours: after every step both respond with the same bytes."""

import json
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.peers import raw_call
from tests.peers.processes import LOOPBACK, PeerFailedError, wait_until
from tests.support.name_servers import name_server, start_all

TOPICS = (*(f"T{number}" for number in range(6)), "rmq_sys_SYNC_BROKER_MEMBER_b1")
TIMESTAMP = 1700000000000
ADMIN = "admin"
"""The connection of requests that no broker sends."""


class Broker(NamedTuple):
    cluster: str
    name: str
    number: int
    address: str

    @property
    def fields(self) -> dict[str, str]:
        return {
            "brokerName": self.name,
            "brokerAddr": self.address,
            "clusterName": self.cluster,
            "brokerId": str(self.number),
        }


BROKERS = tuple(
    Broker(cluster, f"{cluster}-{name}", number, f"10.{place}.{number}.1:10911")
    for place, (cluster, name) in enumerate((c, n) for c in ("C1", "C2") for n in ("b1", "b2"))
    for number in range(3)
)
NAMES = tuple(dict.fromkeys(broker.name for broker in BROKERS))


class Step(NamedTuple):
    what: str
    connection: str
    frame: bytes | None


class Walk:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        choices: list[tuple[int, Callable[[Broker], Step]]] = [
            (40, self._register),
            (8, self._unregister),
            (4, self._close),
            (8, self._permit),
            (6, self._delete),
            (6, self._route),
            (6, self._ask_version),
            (3, self._beat),
            (8, self._configure),
        ]
        self._weights = [weight for weight, _ in choices]
        self._draws = [draw for _, draw in choices]

    def step(self) -> Step:
        (draw,) = self._chance.choices(self._draws, self._weights)
        return draw(self._chance.choice(BROKERS))

    def _topic(self, name: str) -> dict[str, object]:
        pick = self._chance.choice
        return {
            "topicName": name,
            "readQueueNums": pick([1, 4, 8]),
            "writeQueueNums": pick([1, 4, 8]),
            "perm": pick([2, 4, 6, 6, 7]),
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": pick([0, 0, 1, 2, 3]),
        }

    def _version(self) -> dict[str, int]:
        pick = self._chance.choice
        version = {"counter": pick([0, 1, 2]), "stateVersion": pick([0, 0, 0, 1])}
        return {**version, "timestamp": TIMESTAMP}

    def _register(self, broker: Broker) -> Step:
        chance = self._chance
        names = chance.sample(TOPICS, chance.choice([0, 1, 2, 3, 5, 7]))
        wrapper: dict[str, Any] = {
            "dataVersion": self._version(),
            "topicConfigTable": {name: self._topic(name) for name in names},
        }
        if chance.random() < 0.2:
            info = {"bname": broker.name, "totalQueues": 8, "epoch": chance.choice([1, 2])}
            wrapper["topicQueueMappingInfoMap"] = {
                name: {**info, "topic": name, "currIdMap": {"0": 1}} for name in names[:1]
            }
        body: dict[str, Any] = {"topicConfigSerializeWrapper": wrapper}
        if chance.random() < 0.3:
            body["filterServerList"] = chance.choice([[], ["f:1"], ["f:1", "f:2"], None])
        fields = {**broker.fields, "haServerAddr": f"ha-{broker.address}"}
        if chance.random() < 0.8:
            fields["enableActingMaster"] = chance.choice(["true", "false"])
        if chance.random() < 0.3:
            fields["__ZONE_NAME"] = chance.choice(["z1", "Z1", "z2"])
        version = chance.choice([513, 513, 479, 413, 401])
        frame = raw_call.frame(103, fields, json.dumps(body).encode(), version=version)
        return Step("register", broker.address, frame)

    def _unregister(self, broker: Broker) -> Step:
        return Step("unregister", broker.address, raw_call.frame(104, broker.fields))

    def _close(self, broker: Broker) -> Step:
        return Step("close", broker.address, None)

    def _permit(self, broker: Broker) -> Step:
        code = self._chance.choice([205, 327])
        return Step("permit", ADMIN, raw_call.frame(code, {"brokerName": broker.name}))

    def _delete(self, broker: Broker) -> Step:
        where = self._chance.choice([{}, {"clusterName": broker.cluster}, {"clusterName": ""}])
        topic = {"topic": self._chance.choice([*TOPICS, "nope"])}
        return Step("delete", ADMIN, raw_call.frame(216, {**topic, **where}))

    def _route(self, broker: Broker) -> Step:
        pick = self._chance.choice
        names = [*NAMES, *NAMES, "unknown"]
        queues = [
            {"brokerName": pick(names), "perm": pick([2, 4, 6]), "writeQueueNums": pick([2, 3])}
            for _ in range(pick([0, 1, 2, 3]))
        ]
        body = json.dumps({"queueDatas": queues, "brokerDatas": []}).encode()
        return Step("route", ADMIN, raw_call.frame(217, {"topic": pick(TOPICS)}, body))

    def _ask_version(self, broker: Broker) -> Step:
        body = json.dumps(self._version()).encode()
        return Step("version", broker.address, raw_call.frame(322, broker.fields, body))

    def _beat(self, broker: Broker) -> Step:
        return Step("beat", broker.address, raw_call.frame(904, broker.fields))

    def _configure(self, broker: Broker) -> Step:
        pick = self._chance.choice
        item = {"namespace": pick(["ORDER_TOPIC_CONFIG", "ns"]), "key": pick(TOPICS)}
        frame = pick(
            [
                raw_call.frame(100, {**item, "value": pick(["v", "b:4;c:5"])}),
                raw_call.frame(102, item),
                raw_call.frame(101, item),
            ]
        )
        return Step("configure", ADMIN, frame)


def reads() -> Iterator[bytes]:
    for topic in (*TOPICS, "nope"):
        yield raw_call.frame(105, {"topic": topic}, version=513)
        yield raw_call.frame(105, {"topic": topic}, version=399)
        zone = {"topic": topic, "__ZONE_MODE": "true", "__ZONE_NAME": "z1"}
        yield raw_call.frame(105, zone, version=513)
    for code in (106, 206, 304, 311, 312, 313):
        yield raw_call.frame(code)
    for cluster in ("C1", "C2", "C3"):
        yield raw_call.frame(224, {"cluster": cluster})
    for name in NAMES:
        yield raw_call.frame(901, {"clusterName": "C1", "brokerName": name})
    for namespace in ("ORDER_TOPIC_CONFIG", "ns", "none"):
        yield raw_call.frame(219, {"namespace": namespace})


class Walker:
    def __init__(self, port: int) -> None:
        self._port = port
        self._connections: dict[str, socket.socket] = {}

    def ask(self, connection: str, frame: bytes) -> raw_call.Answer:
        # Send a request over a connection, which is opened if need be.
        if connection not in self._connections:
            self._connections[connection] = socket.create_connection((LOOPBACK, self._port), 20)
        stream = self._connections[connection]
        stream.sendall(frame)
        return raw_call.read_answer(stream)

    def walk(self, step: Step) -> raw_call.Answer | None:
        if step.frame is not None:
            return self.ask(step.connection, step.frame)
        if (stream := self._connections.pop(step.connection, None)) is not None:
            stream.close()
        return None

    def read_all(self) -> list[raw_call.Answer]:
        return [self.ask("reader", frame) for frame in reads()]

    def close(self) -> None:
        for stream in self._connections.values():
            stream.close()


STEPS = 150
LATE_SECONDS = 60.0
"""Within which Java has done what it does after it has answered: unregister brokers."""


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (2, {"supportActingMaster": "true"}),
        pytest.param(
            3,
            {"orderMessageEnable": "true", "deleteTopicWithBrokerRegistration": "true"},
            marks=pytest.mark.full,
        ),
    ],
)
def test_both_answer_the_same_after_every_step(
    seed: int, options: Mapping[str, object], java: None, tmp_path: Path
) -> None:
    settings = {**options, "kvConfigPath": "kvConfig.json", "rocketwire.splitRegistrationSize": 0}
    servers = {
        product: name_server(product, tmp_path / product, settings) for product in ("java", "ours")
    }
    walk = Walk(random.Random(seed))
    with (
        start_all(*servers.values()),
        closing(Walker(servers["java"].port)) as java_walker,
        closing(Walker(servers["ours"].port)) as our_walker,
    ):
        for number in range(STEPS):
            step = walk.step()
            assert our_walker.walk(step) == java_walker.walk(step), (number, step)
            try:
                wait_until(
                    lambda: our_walker.read_all() == java_walker.read_all(), "same", LATE_SECONDS
                )
            except PeerFailedError:
                pairs = zip(our_walker.read_all(), java_walker.read_all(), strict=True)
                different = [pair for pair in pairs if pair[0] != pair[1]]
                assert different == [], (number, step)

    files = [(tmp_path / product / "kvConfig.json").read_bytes() for product in servers]
    assert files[0] == files[1]

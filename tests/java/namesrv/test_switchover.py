"""Ours takes the place of Java's name server while brokers and clients run, and gives it back: the page docs/guide/migrating.md.

One run for all tests: Java's name server is stopped and ours started in the same folder, on the same port, with the same
configuration file and the same KV file; later the same the other way round.  Producers and consumers of the newest and the
oldest release work without a pause all the while.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.peers import raw_call
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaPeer, Load, number_keys
from tests.peers.processes import PeerFailedError, wait_until
from tests.support.name_servers import DEFAULT_KIND, NameServer, name_server, start_all

pytestmark = pytest.mark.full


RUNNING = (CURRENT, OLD)
"""Releases that have a broker, a producer and a consumer in this story."""
MORE = 100
"""Messages that each producer gets stored before the next thing happens."""
ODD_KEY = 'gr\u00fcn \u4e2d \U0001f600 "\\/'
ODD_VALUE = "a\u0001\t\u2028 \u00e9"


@dataclass
class Account:
    """Observations during the run; its phases are ``java``, ``ours`` and ``java again``."""

    #: phase -> the KV namespace SPACE, as the name server of that phase lists it at first
    values: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    #: phase -> order configuration in the route of Ordered
    order: dict[str, object] = field(default_factory=dict[str, object])
    #: phase and release -> keys that went through clients and a topic that are new in that phase
    arrived: dict[tuple[str, str], list[str]] = field(
        default_factory=dict[tuple[str, str], list[str]]
    )
    #: release -> what became of the messages of its producer, which never paused
    loads: dict[str, Load] = field(default_factory=dict[str, Load])
    #: release -> keys of all deliveries to its consumer, which never paused either
    received: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: phase -> the KV file at its end
    kv_files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    #: the configuration file, as it was at each change
    configurations: set[bytes] = field(default_factory=set[bytes])


def values(port: int) -> dict[str, str]:
    table: dict[str, str] = json.loads(raw_call.ask(port, 219, {"namespace": "SPACE"}).body)[
        "table"
    ]
    return table


def order_configuration(port: int) -> object:
    route = raw_call.ask(port, raw_call.GET_ROUTEINFO_BY_TOPIC, {"topic": "Ordered"}).body
    return json.loads(route).get("orderTopicConf")


def put(port: int, key: str, value: str) -> None:
    fields = {"namespace": "SPACE", "key": key, "value": value}
    assert raw_call.ask(port, 100, fields).header["code"] == 0


def delete(port: int, key: str) -> None:
    assert raw_call.ask(port, 102, {"namespace": "SPACE", "key": key}).header["code"] == 0


def producers(release: str) -> str:
    return f"load-producers-{release.replace('.', '')}"


def consumers(release: str) -> str:
    return f"load-consumers-{release.replace('.', '')}"


def has_all(peer: JavaPeer, group: str, keys: frozenset[str]) -> bool:
    return keys <= set(peer.received(group, 0))


class Story:
    def __init__(self, folder: Path, server: NameServer, peers: Mapping[str, JavaPeer]) -> None:
        self.account = Account()
        self.peers = {release: peers[release] for release in RUNNING}
        self.home, self.server = folder, server
        self.brokers = [
            JavaBroker(
                folder.parent / f"broker-{release}",
                [server.address],
                {"registerNameServerPeriod": 10_000},
                name=f"broker-{release}",
                version=release,
            )
            for release in RUNNING
        ]

    def wait_routed(self, topic: str) -> None:
        for broker in self.brokers:
            broker.wait_registered(self.server.port)
            routed = partial(raw_call.routes_to, self.server.port, topic, broker.address)
            wait_until(routed, f"{topic} is routed to {broker.name}")

    def begin(self) -> None:
        port, address = self.server.port, self.server.address
        put(port, "key", "value")
        put(port, ODD_KEY, ODD_VALUE)
        for topic in ("Load", "Ordered"):
            for broker in self.brokers:
                broker.wait_registered(port)
                line = f"updateTopic -b {broker.address} -t {topic} -r 2 -w 2"
                self.peers[CURRENT].admin(address, line)
            self.wait_routed(topic)
        line = "updateOrderConf -t Ordered -m put -v broker-5.5.0:2;broker-4.9.4:2"
        self.peers[CURRENT].admin(address, line)
        for release, peer in self.peers.items():
            peer.consume(address, "Load", consumers(release))
            peer.load(address, "Load", producers(release))

    def go_on(self, phase: str) -> None:
        port, address = self.server.port, self.server.address
        self.wait_routed("Load")
        self.account.values[phase] = values(port)
        self.account.order[phase] = order_configuration(port)
        topic = f"New-{phase.replace(' ', '-')}"
        for release, peer in self.peers.items():
            (broker,) = (broker for broker in self.brokers if broker.name.endswith(release))
            new = f"{topic}-{release.replace('.', '')}"
            peer.admin(address, f"updateTopic -b {broker.address} -t {new} -r 2 -w 2")
            routed = partial(raw_call.routes_to, port, new, broker.address)
            wait_until(routed, f"{new} is routed")
            self.account.arrived[phase, release] = peer.exchange(address, new, 20)
            peer.wait_loaded(producers(release), MORE)

    def hand_over(self, to: NameServer) -> None:
        self.server.stop()
        for release, peer in self.peers.items():  # no server answers now
            peer.wait_loaded(producers(release), MORE // 3)
        self.account.configurations.add((self.home / "conf" / "namesrv.properties").read_bytes())
        to.start()
        self.server = to

    def keep_kv_file(self, phase: str) -> None:
        path = self.home / "namesrv" / "kvConfig.json"
        self.account.kv_files[phase] = path.read_bytes()

    def end(self) -> None:
        for release, peer in self.peers.items():
            self.account.loads[release] = peer.unload(producers(release))
        stored = frozenset[str]().union(*(load.stored for load in self.account.loads.values()))
        for release, peer in self.peers.items():
            group = consumers(release)
            with contextlib.suppress(PeerFailedError):  # the test reports the missing ones
                wait_until(partial(has_all, peer, group, stored), "all messages")
            self.account.received[release] = peer.received(group, 0)
            peer.close(producers(release))
            peer.close(group)


@pytest.fixture(scope="module")
def account(peers: Mapping[str, JavaPeer], tmp_path_factory: pytest.TempPathFactory) -> Account:
    home = tmp_path_factory.mktemp("switchover") / "namesrv"
    options = {"orderMessageEnable": "true", "scanNotActiveBrokerInterval": "4000"}
    javas = name_server("java", home, options)
    with start_all(javas):
        story = Story(home, javas, peers)
        with start_all(*story.brokers):
            story.begin()
            story.go_on("java")
            ours = name_server(DEFAULT_KIND, home, options, port=javas.port)
            with contextlib.ExitStack() as stack:
                stack.callback(ours.kill)
                story.hand_over(ours)
                story.go_on("ours")
                put(ours.port, "put by ours", ODD_VALUE + ODD_KEY)
                delete(ours.port, "key")
                story.keep_kv_file("ours")
                story.hand_over(javas)
            story.go_on("java again")
            put(javas.port, "passing", "by")
            delete(javas.port, "passing")
            story.keep_kv_file("java again")
            story.end()
            return story.account


PHASES = ("java", "ours", "java again")


@pytest.mark.parametrize("release", RUNNING)
def test_no_message_that_a_broker_acknowledged_is_lost(release: str, account: Account) -> None:
    received = set(account.received[release])

    for load in account.loads.values():
        assert len(load.stored) >= MORE * len(PHASES)
        assert load.stored <= received


@pytest.mark.parametrize("release", RUNNING)
def test_no_producer_notices(release: str, account: Account) -> None:
    assert account.loads[release].failures == []


@pytest.mark.parametrize("release", RUNNING)
@pytest.mark.parametrize("phase", PHASES)
def test_new_topics_and_new_clients_work_with_each_name_server(
    phase: str, release: str, account: Account
) -> None:
    assert account.arrived[phase, release] == number_keys(20)


def test_the_kv_table_goes_with_the_work(account: Account) -> None:
    assert account.values["java"] == {"key": "value", ODD_KEY: ODD_VALUE}
    assert account.values["ours"] == account.values["java"]
    assert account.values["java again"] == {ODD_KEY: ODD_VALUE, "put by ours": ODD_VALUE + ODD_KEY}


def test_orders_of_queues_are_kept(account: Account) -> None:
    assert account.order == dict.fromkeys(PHASES, "broker-5.5.0:2;broker-4.9.4:2")


def test_the_kv_file_has_the_same_bytes_from_both(account: Account) -> None:
    assert account.kv_files["ours"] == account.kv_files["java again"]


def test_both_read_the_same_configuration_file(account: Account) -> None:
    (text,) = account.configurations
    assert b"orderMessageEnable=true" in text

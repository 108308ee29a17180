"""Records the golden packets of ``tests/fixtures/frames`` from real peers: ``python -m tests.java.namesrv.record_fixtures``.

Run it from the root of the checkout, on Linux with Java and Maven; names of scenarios as arguments record these alone.
Everything happens in a network namespace that has only loopback, so that client and message ids have 127.0.0.1, and
all paths are relative.  Ports, times and opaque numbers differ from run to run; nothing depends on them.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from rocketwire.codes import RequestCode
from tests.peers import cache as java_cache
from tests.peers import manifest
from tests.peers.peers import (
    BINARY_HEADERS,
    CURRENT,
    MIDDLE,
    OLD,
    JavaBroker,
    JavaNameServer,
    JavaPeer,
)
from tests.peers.processes import wait_until
from tests.support.hex_text import frame_text
from tests.support.tap import TO_CLIENT, TO_SERVER, Tap, TappedFrame, tapped

LARGEST = 12_000
"""Bytes; a bigger packet shows nothing that a smaller one does not."""

LEFT_OUT = frozenset({26, 28, 21, 43, 45, 201, 14})
"""Answers that describe the machine (configuration, run time, disks) or whole tables of a broker, and chatter of slaves."""

GIVES_AWAY = re.compile(
    rb"/(?:root|home|tmp|work|usr|var)/|\b(?!127\.|0\.0\.0\.0)\d{1,3}\.\d+\.\d+\.\d+:"
)
"""A path of the machine, or an address that is not loopback."""

ESCAPED_BY_FASTJSON_1 = re.compile(rb"\\u(?:007F|00[89][0-9A-F]|202[89])")

_PROTOCOL = "org.apache.rocketmq.remoting.protocol."
_TOPIC_LIST = _PROTOCOL + "body.TopicList"
_ROUTE = _PROTOCOL + "route.TopicRouteData"

REQUEST_BODIES = {
    34: _PROTOCOL + "heartbeat.HeartbeatData",
    103: _PROTOCOL + "body.RegisterBrokerBody",
    217: _ROUTE,
    322: _PROTOCOL + "DataVersion",
}
RESPONSE_BODIES = {
    38: _PROTOCOL + "header.GetConsumerListByGroupResponseBody",
    103: _PROTOCOL + "body.KVTable",
    105: _ROUTE,
    106: _PROTOCOL + "body.ClusterInfo",
    206: _TOPIC_LIST,
    219: _PROTOCOL + "body.KVTable",
    224: _TOPIC_LIST,
    304: _TOPIC_LIST,
    311: _TOPIC_LIST,
    312: _TOPIC_LIST,
    313: _TOPIC_LIST,
    322: _PROTOCOL + "DataVersion",
    901: _PROTOCOL + "body.GetBrokerMemberGroupResponseBody",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One frame that is kept: ``exchange`` names its pair, its place there, and the code."""

    name: str
    direction: str
    how: str
    data: bytes
    code: int
    is_response: bool


@dataclass(slots=True)
class Recorder:
    folder: str
    product: str
    frames: JavaPeer
    packets: list[Packet] = field(default_factory=list[Packet])

    def facts(self, data: bytes, body_class: str = "") -> dict[str, object]:
        answer = json.loads(self.frames.line(f"{data.hex()}\t{body_class}"))
        if "error" in answer:
            raise ValueError(f"Java cannot read {data[:300]!r}: {answer['error']}")
        return cast("dict[str, object]", answer)

    def keep(
        self, name: str, ends: tuple[str, str], how: str, request: bytes, response: bytes | None
    ) -> None:
        """Keep one exchange under a name of its own.

        ``ends`` are the asking and the answering product; ``how`` says how to make it happen again.
        """
        code = cast("int", self.facts(request)["code"])
        asking, answering = ends
        pairs = [(request, f"{name}.request", f"{asking} -> {answering}", False)]
        if response is not None:
            pairs.append((response, f"{name}.response", f"{answering} -> {asking}", True))
        for data, file, direction, is_response in pairs:
            if GIVES_AWAY.search(data):
                raise ValueError(f"{file} gives the machine away: {data!r}")
            packet = Packet(
                name=file,
                direction=direction,
                how=how,
                data=data,
                code=code,
                is_response=is_response,
            )
            self.packets.append(packet)

    def keep_kinds(self, tap: Tap, ends: tuple[str, str], how: str) -> None:
        # Keep the first exchange of every kind that went through a tap: by codes, form of body and presence of parts.
        keys: set[tuple[object, ...]] = set()
        names = {packet.name for packet in self.packets}
        for by_client, sent, answer in exchanges(tap.frames):
            request = self.facts(sent)
            response = None if answer is None else self.facts(answer)
            if not _is_recorded(request, sent, answer):
                continue
            key = _key(request, response)
            if key in keys:
                continue
            keys.add(key)
            name = _name(request, response, sent, names)
            names.add(f"{name}.request")
            self.keep(name, ends if by_client else (ends[1], ends[0]), how, sent, answer)

    def write(self) -> list[manifest.Entry]:
        # Write all packets and their expectations; returns their manifest entries.
        target = manifest.FIXTURES / "frames" / self.folder
        target.mkdir(parents=True, exist_ok=True)
        for old in target.iterdir():
            old.unlink()
        expected: dict[str, object] = {}
        entries: list[manifest.Entry] = []
        for packet in self.packets:
            expected[packet.name] = self._expectation(packet)
            file = f"frames/{self.folder}/{packet.name}.hex"
            title = f"{packet.direction}, {self.product}: {packet.how}"
            (manifest.FIXTURES / file).write_text(frame_text(packet.data, title), "utf-8")
            entries.append(
                {
                    "id": f"{self.folder}/{packet.name}",
                    "file": file,
                    "sha256": "",
                    "direction": packet.direction,
                    "origin": {"kind": "capture", "product": self.product, "how": packet.how},
                    "decodes_to": f"frames/{self.folder}/expected.json#{packet.name}",
                    "reencodes": reencodes(packet.data),
                }
            )
        text = json.dumps(expected, indent=1, ensure_ascii=False, sort_keys=True)
        (target / "expected.json").write_text(text + "\n", "utf-8")
        return entries

    def _expectation(self, packet: Packet) -> dict[str, object]:
        bodies = RESPONSE_BODIES if packet.is_response else REQUEST_BODIES
        facts = self.facts(packet.data)
        succeeded = not packet.is_response or facts["code"] == 0
        readable = packet.code in bodies and facts["body_length"] and succeeded
        if not readable:
            return facts
        try:
            return self.facts(packet.data, bodies[packet.code])
        except ValueError:
            return facts  # the body contradicts its own label: it cannot be read


def reencodes(data: bytes) -> bool | str:
    # Whether our encoder, which writes as 5.5.0 does, is expected to give these bytes again.
    if data[4] == 0 and ESCAPED_BY_FASTJSON_1.search(data):
        return "fastjson 1 (up to 5.3) escapes U+007F to U+009F, U+2028 and U+2029; 5.5.0 writes them as they are"
    return True


class Exchange(NamedTuple):
    """A request and its response; None where none was wanted.

    A server may ask too, hence ``by_client``.
    """

    by_client: bool
    request: bytes
    response: bytes | None


def exchanges(frames: list[TappedFrame]) -> list[Exchange]:
    # Pair each request with its response, in order of the requests; one that went unanswered is left out.
    pairs: list[Exchange] = []
    waiting: dict[tuple[int, str, int], int] = {}
    for _, connection, direction, data in frames:
        flag, opaque = _flag_and_opaque(data)
        if flag & 1:
            place = waiting.pop((connection, direction, opaque), None)
            if place is not None:
                pairs[place] = pairs[place]._replace(response=data)
            continue
        by_client = direction == TO_SERVER
        if not flag & 2:
            waiting[connection, TO_CLIENT if by_client else TO_SERVER, opaque] = len(pairs)
        pairs.append(Exchange(by_client, data, None))
    unanswered = set(waiting.values())
    return [pair for number, pair in enumerate(pairs) if number not in unanswered]


def _flag_and_opaque(data: bytes) -> tuple[int, int]:
    if data[4] == 1:
        opaque, flag = struct.unpack_from(">ii", data, 13)
        return flag, opaque
    header = json.loads(data[8 : 8 + int.from_bytes(data[5:8], "big")])
    return header["flag"], header["opaque"]


def _is_recorded(request: dict[str, object], sent: bytes, answer: bytes | None) -> bool:
    small = len(sent) <= LARGEST and (answer is None or len(answer) <= LARGEST)
    return request["code"] not in LEFT_OUT and small


def _key(request: dict[str, object], response: dict[str, object] | None) -> tuple[object, ...]:
    ext_fields = cast("dict[str, str] | None", request["ext_fields"]) or {}
    answered = None if response is None else (response["code"], bool(response["body_length"]))
    return (
        request["code"],
        request["language"],
        bool(request["body_length"]),
        tuple(sorted(ext_fields)),
        ext_fields.get("compressed"),
        answered,
    )


def _name(
    request: dict[str, object], response: dict[str, object] | None, sent: bytes, taken: set[str]
) -> str:
    name = RequestCode(cast("int", request["code"])).name.lower().replace("_", "-")
    if response is not None and response["code"] != 0:
        name += f"-code{response['code']}"
    if b"\x78\xda" in sent:
        name += "-deflated"
    number = 2
    unique = name
    while f"{unique}.request" in taken:
        unique = f"{name}-{number}"
        number += 1
    return unique


INSIDE = "ROCKETWIRE_RECORDING_INSIDE"
SECOND_ADDRESS = "127.0.0.2"
"""The announced address of the broker: a tap listens there and forwards to the broker's real address."""

NAME_SERVER = "name server"
BROKER = "broker"
ADMIN = "mqadmin"
CLIENT = "client"
CALLER = "remoting client"

ADMIN_LINES = (
    "clusterList",
    "updateTopic -c DefaultCluster -t TopicA -r 4 -w 4",
    "updateTopic -c DefaultCluster -t TopicOrdered -r 2 -w 2 -o true",
    "topicList",
    "topicRoute -t TopicA",
    "topicRoute -t NoSuchTopic",
    "topicClusterList -t TopicA",
    "updateKvConfig -s SPACE -k key -v value",
    "deleteKvConfig -s SPACE -k key",
    "wipeWritePerm -b broker-a",
    "addWritePerm -b broker-a",
    "getNamesrvConfig",
    "updateNamesrvConfig -k waitSecondsForService -v 46",
    "deleteTopic -c DefaultCluster -t TopicOrdered",
)

# name of the packet, code, how, version ("-": the client's own), body, header fields (None: no
# extFields)
CALLS: tuple[tuple[str, int, str, str, str, Mapping[str, str] | None], ...] = (
    ("kv-put", 100, "sync", "-", "", {"namespace": "SPACE", "key": "key", "value": "value"}),
    ("kv-put-text", 100, "sync", "-", "", {"namespace": "SPACE", "key": "gr\u00fcn \u4e2d \U0001f600", "value": "a\u0001\"\\/\u2028\u007f"}),
    ("kv-put-without-key", 100, "sync", "-", "", {"namespace": "SPACE"}),
    ("kv-get", 101, "sync", "-", "", {"namespace": "SPACE", "key": "key"}),
    ("kv-get-missing", 101, "sync", "-", "", {"namespace": "SPACE", "key": "none"}),
    ("kv-list", 219, "sync", "-", "", {"namespace": "SPACE"}),
    ("kv-list-missing", 219, "sync", "-", "", {"namespace": "NONE"}),
    ("kv-delete", 102, "sync", "-", "", {"namespace": "SPACE", "key": "key"}),
    ("kv-delete-missing", 102, "sync", "-", "", {"namespace": "NONE", "key": "none"}),
    ("route-standard", 105, "sync", "-", "", {"topic": "TBW102"}),
    ("route-integer-keys", 105, "sync", "400", "", {"topic": "TBW102"}),
    ("route-standard-asked-for", 105, "sync", "400", "", {"topic": "TBW102", "acceptStandardJsonOnly": "true"}),
    ("route-missing", 105, "sync", "-", "", {"topic": "NoSuchTopic"}),
    ("route-without-topic", 105, "sync", "-", "", None),
    ("cluster-info", 106, "sync", "-", "", None),
    ("topics", 206, "sync", "-", "", None),
    ("topics-of-cluster", 224, "sync", "-", "", {"cluster": "DefaultCluster"}),
    ("topics-of-missing-cluster", 224, "sync", "-", "", {"cluster": "NoSuchCluster"}),
    ("system-topics", 304, "sync", "-", "", None),
    ("unit-topics", 311, "sync", "-", "", None),
    ("unit-sub-topics", 312, "sync", "-", "", None),
    ("unit-sub-ununit-topics", 313, "sync", "-", "", None),
    ("wipe-write-perm", 205, "sync", "-", "", {"brokerName": "broker-a"}),
    ("wipe-write-perm-missing", 205, "sync", "-", "", {"brokerName": "no-such-broker"}),
    ("delete-topic", 216, "sync", "-", "", {"topic": "TopicOfRequest"}),
    ("update-config", 318, "sync", "-", "waitSecondsForService=47", None),
    ("update-config-forbidden", 318, "sync", "-", "kvConfigPath=elsewhere", None),
    ("config", 319, "sync", "-", "", None),
    ("data-version-unknown-broker", 322, "sync", "-", '{"counter":1,"stateVersion":0,"timestamp":1700000000000}', {"brokerName": "b", "brokerAddr": "127.0.0.1:9", "clusterName": "c", "brokerId": "0"}),
    ("unregister-unknown-broker", 104, "sync", "-", "", {"brokerName": "b", "brokerAddr": "127.0.0.1:9", "clusterName": "c", "brokerId": "0"}),
    ("unregister-oneway", 104, "oneway", "-", "", {"brokerName": "b", "brokerAddr": "127.0.0.1:9", "clusterName": "c", "brokerId": "0"}),
    ("register-bad-checksum", 103, "sync", "-", "{}", {"brokerName": "b", "brokerAddr": "127.0.0.1:9", "clusterName": "c", "brokerId": "0", "haServerAddr": "127.0.0.1:10", "compressed": "false", "bodyCrc32": "1"}),
)  # fmt: skip
SINCE_5 = (
    ("add-write-perm", 327, "sync", "-", "", {"brokerName": "broker-a"}),
    ("member-group", 901, "sync", "-", "", {"clusterName": "DefaultCluster", "brokerName": "broker-a"}),
    ("member-group-missing", 901, "sync", "-", "", {"clusterName": "c", "brokerName": "b"}),
    ("heartbeat", 904, "sync", "-", "", {"clusterName": "DefaultCluster", "brokerAddr": "127.0.0.1:9", "brokerName": "broker-a"}),
    ("heartbeat-oneway", 904, "oneway", "-", "", {"clusterName": "DefaultCluster", "brokerAddr": "127.0.0.1:9", "brokerName": "broker-a"}),
    ("register-topic", 217, "sync", "-", '{"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}', {"topic": "TopicOfRequest"}),
    ("unknown-code", 31999, "sync", "-", "", None),
)  # fmt: skip
"""4.9.4 does not know these; to an unknown code it answers nothing at all."""

WHERE_RELEASES_DIFFER = frozenset({
    "kv-put-text", "kv-put-without-key", "kv-get", "kv-get-missing", "kv-list", "route-standard", "route-integer-keys",
    "cluster-info", "topics", "member-group", "register-topic", "register-bad-checksum", "unknown-code", "wipe-write-perm",
})  # fmt: skip


def has_seen(tap: Tap, count: int) -> bool:
    return len(tap.frames) >= count


def call_all(
    recorder: Recorder, caller: JavaPeer, tap: Tap, *, current: bool, only: frozenset[str]
) -> None:
    chosen = CALLS + (SINCE_5 if current else ())
    for name, code, way, version, body, fields in chosen:
        if only and name not in only:
            continue
        count = len(tap.frames)
        words = [tap.address, str(code), way, version, body]
        answer = caller.line("\t".join(words + [f"{k}={v}" for k, v in (fields or {}).items()]))
        if answer.startswith("failed"):
            raise ValueError(f"{name}: {answer}")
        number = 1 if way == "oneway" else 2
        wait_until(partial(has_seen, tap, count + number), name, 5)
        frames = [frame.data for frame in tap.frames[count:]]
        recorder.keep(
            name,
            (CALLER, NAME_SERVER),
            "one request",
            frames[0],
            frames[1] if number == 2 else None,
        )


def use_clients(peer: JavaPeer, address: str) -> None:
    peer.send(address, "TopicA", "PRODUCERS", range(5))
    peer.consume(address, "TopicA", "CONSUMERS")
    peer.received("CONSUMERS", 5)
    peer.call("oneway", address, "TopicA", "PRODUCERS", "5")
    peer.received("CONSUMERS", 6)
    peer.close("CONSUMERS")
    peer.close("PRODUCERS")


def tap_before(broker: JavaBroker) -> AbstractContextManager[Tap]:
    port = int(broker.address.rpartition(":")[2])
    broker.address = f"{SECOND_ADDRESS}:{port}"
    return tapped(port, SECOND_ADDRESS, port)


def record_everything(
    scratch: Path,
    recorder: Recorder,
    *,
    version: str = CURRENT,
    jvm: Sequence[str] = (),
    broker_options: Mapping[str, object] | None = None,
    only: frozenset[str] = frozenset(),
) -> None:
    # One release throughout: registration, mqadmin, single requests, clients at the name server and at the broker.
    with ExitStack() as stack:
        server = JavaNameServer(scratch / "namesrv", version=version, jvm=jvm)
        stack.enter_context(server)
        brokers, tools, calls, clients = (
            stack.enter_context(tapped(server.port)) for _ in range(4)
        )
        # 4.9.4 binds every address whatever is configured, so no tap can share its port
        announced = {} if version == OLD else {"brokerIP1": SECOND_ADDRESS}
        options = {**announced, **(broker_options or {})}
        broker = JavaBroker(
            scratch / "broker", [brokers.address], options, version=version, jvm=jvm
        )
        at_broker = stack.enter_context(tap_before(broker)) if announced else None
        stack.enter_context(broker)
        broker.wait_registered(server.port)
        peer = stack.enter_context(JavaPeer(scratch / "peer", version=version, jvm=jvm))
        for line in ADMIN_LINES[: None if version != OLD else -1]:
            peer.admin(tools.address, line)
        caller = stack.enter_context(
            JavaPeer(scratch / "caller", version=version, jvm=jvm, program="Caller.java")
        )
        call_all(recorder, caller, calls, current=version != OLD, only=only)
        if version != OLD:
            peer.admin(tools.address, "addWritePerm -b broker-a")
        before_clients = len(at_broker.frames) if at_broker else 0
        if version == OLD:
            peer.admin(tools.address, "updateTopic -c DefaultCluster -t TopicA -r 4 -w 4")
        use_clients(peer, clients.address)
        broker.stop(30 if version == OLD else 5)  # 4.9.4 unregisters last, 5.x first
        recorder.keep_kinds(brokers, (BROKER, NAME_SERVER), "start, topic changes, shutdown")
        recorder.keep_kinds(tools, (ADMIN, NAME_SERVER), "mqadmin")
        recorder.keep_kinds(clients, (CLIENT, NAME_SERVER), "producer and push consumer")
        if at_broker:
            del at_broker.frames[:before_clients]
            recorder.keep_kinds(at_broker, (CLIENT, BROKER), "producer and push consumer")


def record_acting_master(scratch: Path, recorder: Recorder) -> None:
    # A group with acting master: heartbeats, member groups, a slave, and the name server's own notice.
    server_options = {"supportActingMaster": "true", "notifyMinBrokerIdChanged": "true"}
    group = {"enableSlaveActingMaster": "true", "totalReplicas": 2}
    with ExitStack() as stack:
        server = stack.enter_context(JavaNameServer(scratch / "namesrv", server_options))
        masters, slaves = (stack.enter_context(tapped(server.port)) for _ in range(2))
        modern = {**group, "compatibleWithOldNameSrv": "false"}
        master = JavaBroker(scratch / "master", [masters.address], modern)
        slave_options = {**group, "brokerRole": "SLAVE", "brokerId": 1, "brokerIP1": SECOND_ADDRESS}
        slave = JavaBroker(scratch / "slave", [slaves.address], slave_options)
        at_slave = stack.enter_context(tap_before(slave))
        for broker in (master, slave):
            stack.enter_context(broker)
        master.wait_registered(server.port)
        slave.wait_registered(server.port, 90)
        count = len(slaves.frames)
        wait_until(lambda: len(slaves.frames) > count + 6, "the slave's heartbeats")
        master.stop(8)
        wait_until(lambda: any(b'"code":905' in frame.data for frame in at_slave.frames), "905", 30)
        recorder.keep_kinds(masters, (BROKER, NAME_SERVER), "master with acting master, 904")
        recorder.keep_kinds(slaves, (BROKER, NAME_SERVER), "slave with acting master, 322")
        recorder.keep_kinds(at_slave, (NAME_SERVER, BROKER), "the master left")


def record_odd_registrations(scratch: Path, recorder: Recorder) -> None:
    # Deflated registrations of 5.5.0, which its own name server refuses; single topics by 217; static topics; order topics.
    with ExitStack() as stack:
        server = stack.enter_context(JavaNameServer(scratch / "namesrv"))
        deflated, single_topics, tools = (
            stack.enter_context(tapped(server.port)) for _ in range(3)
        )
        options = {"compressedRegister": "true"}
        deflating = JavaBroker(scratch / "deflating", [deflated.address], options, name="broker-b")
        with deflating:
            wait_until(lambda: len(deflated.frames) >= 2, "a refused registration")
            deflating.stop()
        single = {"enableSingleTopicRegister": "true"}
        broker = stack.enter_context(JavaBroker(scratch / "plain", [single_topics.address], single))
        broker.wait_registered(server.port)
        peer = stack.enter_context(JavaPeer(scratch / "peer"))
        for line in (
            "updateTopic -c DefaultCluster -t TopicOrdered -r 2 -w 2 -o true",
            "updateStaticTopic -c DefaultCluster -t TopicStatic -qn 3",
            "topicRoute -t TopicStatic",
            "updateTopic -c DefaultCluster -t Delayed -r 1 -w 1 -a +message.type=DELAY",
        ):
            peer.admin(tools.address, line)
        broker.stop()
        recorder.keep_kinds(deflated, (BROKER, NAME_SERVER), "compressedRegister=true")
        recorder.keep_kinds(single_topics, (BROKER, NAME_SERVER), "enableSingleTopicRegister=true")
        recorder.keep_kinds(tools, (ADMIN, NAME_SERVER), "mqadmin with static topics")


Scenario = tuple[str, "Callable[[Path, Recorder], None]"]

SCENARIOS: dict[str, Scenario] = {
    "5.5.0": ("Apache RocketMQ 5.5.0", record_everything),
    "5.5.0-binary": (
        f"Apache RocketMQ 5.5.0 with {BINARY_HEADERS}",
        lambda scratch, recorder: record_everything(scratch, recorder, jvm=[BINARY_HEADERS]),
    ),
    "5.5.0-acting-master": ("Apache RocketMQ 5.5.0", record_acting_master),
    "5.5.0-odd": ("Apache RocketMQ 5.5.0", record_odd_registrations),
    "5.3.3": (
        "Apache RocketMQ 5.3.3",
        lambda scratch, recorder: record_everything(
            scratch, recorder, version=MIDDLE, only=WHERE_RELEASES_DIFFER
        ),
    ),
    "4.9.4": (
        "Apache RocketMQ 4.9.4",
        lambda scratch, recorder: record_everything(
            scratch, recorder, version=OLD, broker_options={"compressedRegister": "true"}
        ),
    ),
}


def record(names: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        with JavaPeer(home / "frames", program="Frames.java") as frames:
            for name in names:
                product, scenario = SCENARIOS[name]
                recorder = Recorder(name, product, frames)
                scenario(home / name, recorder)
                entries = recorder.write()
                replace(name, entries)
                sys.stderr.write(f"{name}: {len(entries)} packets\n")


def replace(folder: str, entries: list[manifest.Entry]) -> None:
    current = manifest.load()
    expected = f"frames/{folder}/expected.json"
    kept = [
        entry
        for entry in current.get("frame", [])
        if not str(entry["file"]).startswith(f"frames/{folder}/")
    ]
    current["frame"] = kept + entries
    remaining = [entry for entry in current.get("expectations", []) if entry["file"] != expected]
    current["expectations"] = [
        *remaining,
        {
            "file": expected,
            "sha256": "",
            "origin": {"kind": "java-vector", "product": "5.5.0 classes"},
        },
    ]
    manifest.save(current)


def main(names: Sequence[str]) -> None:
    if INSIDE in os.environ:
        record(names or list(SCENARIOS))
        return
    for version in (CURRENT, MIDDLE, OLD):
        for program in ("Peer.java", "Caller.java"):
            java_cache.classes(version, program)
    java_cache.classes(CURRENT, "Frames.java")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    inner = [sys.executable, "-m", "tests.java.namesrv.record_fixtures", *names]
    shell = 'ip link set lo up && exec "$@"'
    subprocess.run(
        ["unshare", *user, "--net", "sh", "-c", shell, "sh", *inner],
        check=True,
        env={**os.environ, INSIDE: "1"},
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""The requests of Java's client and of ours for the same work, and what both answer when a broker asks them.

A tap passes on what goes between the clients and a broker of 5.5.0, and the name server.  Of each
request code the values of every field are compared, by the paths that ``fields`` makes.  A difference
counts unless ``same_requests.toml`` has a reason for it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import trio

from rocketwire.client import Message, PushConsumerConfig, open_client, open_producer
from rocketwire.client.consumer.lite.lite_pull_consumer import open_lite_pull_consumer
from rocketwire.client.consumer.lite.lite_pull_state import LitePullConsumerConfig
from rocketwire.client.consumer.pop.pop_consumer import open_pop_consumer
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.client.producer.transactions import LocalTransactionState
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.wire.json.fastjson import loads
from tests.java.client.messages import unique
from tests.java.client.settings import patient, patient_producer
from tests.support import admin_in_process, raw_call
from tests.support.java import cache as java_cache
from tests.support.java.cluster import BROKER
from tests.support.java.peers import CURRENT, JavaBroker, JavaNameServer, JavaPeer
from tests.support.java.shared_peers import have_here
from tests.support.processes import wait_until
from tests.support.tap import TO_CLIENT, Tap, tapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

from tests.support.tap import TappedFrame

pytestmark = pytest.mark.full

TAPPED = "127.0.0.2"
REASONS = Path(__file__).with_name("same_requests.toml")
FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
CONSUMERS = ("push", "orderly", "broadcast", "sql", "pop", "lite", "lite-sql")
SENDS = ("send", "oneway", "level", "timer", "batch", "compressed", "commit", "rollback", "check")
ADMIN = (
    "topicList",
    pytest.param("topicList -c", marks=pytest.mark.xfail(reason="asks brokers, not routes")),
    "topicRoute -t orders",
    "topicStatus -t orders",
    "topicClusterList -t orders",
    "clusterList",
    "brokerStatus -b {b}",
    "getBrokerConfig -b {b}",
    "getConsumerConfig -g readers",
    "consumerProgress -g readers",
    "consumerConnection -g readers",
    "producerConnection -g producers -t orders",
    "queryMsgByKey -t orders -k 1",
    "queryCq -t orders -q 0 -i 0 -c 2 -b {b}",
    "updateTopicPerm -b {b} -t orders -p 4",
    "updateTopic -b {b} -t orders -r 4 -w 4",
    "updateSubGroup -b {b} -g auditors",
    "setConsumeMode -b {b} -t orders -g auditors -m PULL -q 0",
    "cloneGroupOffset -s readers -d auditors -t orders",
    "resetOffsetByTime -g readers -t orders -s 0",
    "deleteSubGroup -b {b} -g auditors",
    pytest.param(
        "deleteTopic -c DefaultCluster -t orders", marks=pytest.mark.xfail(reason="sends 102")
    ),
)
BATCH = 320
HEARTBEAT, PULL, POP, LITE_PULL, ASSIGNMENT, MEMBERS, OFFSET, CHECK = (
    34,
    11,
    200050,
    361,
    400,
    38,
    14,
    46,
)
RUNNING_INFO, RESET, STATUS, CONSUME = 307, 222, 223, 309
VARIABLE = re.compile(
    r"\.(subVersion|heartbeatFingerprint|g|popTime|bornTime|invisibleTime|timestamp|opaque|tranStateTableOffset"
    r"|commitLogOffset|msgId|offsetMsgId|commitOffset|offset|queueOffset|queueId|e|extraInfo|lastPopTimestamp|transactionId|waitAckCount|spentTimeMills"
    r"|\w*[tT]imestamp|\w*(RT|TPS|Tps|Rt)|\w*MsgCount|cachedMsg\w*|PROP_CONSUMER_START_TIMESTAMP|UNIQ_KEY)$"
)
"""Paths whose values are ids, times and figures that differ from run to run: only their presence is compared."""


def fields(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every leaf of a value as its path and text; members of lists have no number."""
    if isinstance(value, dict):
        for name, each in value.items():
            key = "{queue}" if str(name).startswith("{") else name
            yield from fields(f"{prefix}.{key}", each)
    elif isinstance(value, list) and value:
        for each in value:
            yield from fields(prefix, each)
    else:
        yield prefix, "*" if VARIABLE.search(prefix) else json.dumps(value)


def batch_messages(body: bytes) -> Iterator[dict[str, Any]]:
    """The messages of a batch: flag, body and properties."""
    while body:
        flag, length = (int.from_bytes(body[at : at + 4], "big") for at in (12, 16))
        start = 20 + length + 2
        size = int.from_bytes(body[start - 2 : start], "big")
        yield {
            "flag": flag,
            "body": body[20 : 20 + length].hex(),
            "properties": properties(body[start : start + size].decode()),
        }
        body = body[start + size :]


def properties(text: str) -> dict[str, str]:
    return dict(part.partition("\1")[::2] for part in text.split("\2") if part)


def frame_fields(
    data: bytes, names: Mapping[str, str]
) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    """The header of a frame, and the fields of header and body with topic and group by their kind."""
    length = int.from_bytes(data[5:8], "big")
    header, body = data[8 : 8 + length], data[8 + length :]
    for name, kind in names.items():
        header, body = (part.replace(name.encode(), kind.encode()) for part in (header, body))
    whole = json.loads(header)
    extra = whole.get("extFields") or {}
    texts = extra.get("i") or extra.get("properties")
    if texts is not None:
        extra = {**extra, "i" if "i" in extra else "properties": properties(texts)}
    found = set(fields("header", {name: whole.get(name) for name in ("flag", "remark")}))
    found |= set(fields("ext", extra))
    if body[:1] == b"{":
        found |= set(fields("body", loads(body)))
    elif whole["code"] == BATCH:
        found |= set(fields("batch", list(batch_messages(body))))
    elif body:
        found.add(("body", re.sub(rb"[0-9A-F]{32}", b"ID", body).hex()[:400]))
    return whole, found


def requests(
    frames: Sequence[TappedFrame], names: Mapping[str, str]
) -> dict[str, dict[str, set[str]]]:
    """The values of each path, by request code; ``answer CODE`` is what the client answered."""
    asked: dict[tuple[int, int], int] = {}
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for frame in frames:
        header, values = frame_fields(frame.data, names)
        is_answer, place = header["flag"] & 1, (frame.connection, header["opaque"])
        if frame.direction == TO_CLIENT:
            if not is_answer:
                asked[place] = header["code"]
            continue
        name = f"answer {asked.get(place)}" if is_answer else str(header["code"])
        if is_answer:
            values.add(("header.code", str(header["code"])))
        for path, value in values:
            found[name][path].add(value)
    return found


def differences(
    kind: str, java: dict[str, dict[str, set[str]]], ours: dict[str, dict[str, set[str]]]
) -> list[str]:
    """A line for each request that one client does not send, and for each field whose values differ."""
    lines: list[str] = []
    for code in sorted({*java, *ours}):
        if code not in java or code not in ours:
            lines.append(f"{kind}: {code}: only {'Java' if code in java else 'ours'}")
            continue
        for path in sorted({*java[code], *ours[code]}):
            theirs, own = (sorted(side[code].get(path, ())) for side in (java, ours))
            if theirs != own:
                lines.append(f"{kind}: {code}: {path}: Java {theirs} ours {own}")
    return lines


class World:
    """A name server and a broker of Java's behind taps, and a Java client."""

    def __init__(self, server: JavaNameServer, names: Tap, broker: Tap, java: JavaPeer) -> None:
        self.server, self.names, self.broker, self.java = server, names, broker, java

    def ask(self, code: int, body: bytes = b"", /, **ext: str) -> raw_call.Answer:
        """Ask the broker, past the tap."""
        return raw_call.ask(self.broker.target, code, ext, body)

    def make_topic(self, topic: str) -> None:
        """Create a topic of four queues, and wait for its route."""
        queues = {"readQueueNums": "4", "writeQueueNums": "4", "perm": "6", "topicSysFlag": "0"}
        kind = {"defaultTopic": "TBW102", "topicFilterType": "SINGLE_TAG", "order": "false"}
        self.ask(17, b"", topic=topic, **queues, **kind)
        address = f"{TAPPED}:{self.broker.port}"
        wait_until(lambda: raw_call.routes_to(self.server.port, topic, address), "the route")

    def mark(self) -> list[tuple[int, set[int]]]:
        """How many frames have gone by at each tap, and on which connections."""
        taps = (self.names, self.broker)
        return [(len(tap.frames), {one.connection for one in tap.frames}) for tap in taps]

    def since(self, mark: list[tuple[int, set[int]]]) -> list[TappedFrame]:
        """The frames since the mark on connections that are newer."""
        return [
            frame
            for tap, (count, known) in zip((self.names, self.broker), mark, strict=True)
            for frame in tap.frames[count:]
            if frame.connection not in known
        ]

    async def wait_for(self, mark: list[tuple[int, set[int]]], *codes: int) -> None:
        with trio.fail_after(120):
            while not all(
                any(b'"code":%d,' % code in frame.data for frame in self.since(mark))
                for code in codes
            ):
                await trio.sleep(0.2)

    async def let_broker_ask(self, topic: str, group: str, client_id: str) -> None:
        """Let an operator ask for what only the client knows."""
        answer = self.ask(10, b"direct", **_send_fields(topic))
        message_id = cast("dict[str, str]", answer.header["extFields"])["msgId"]
        member = {"consumerGroup": group, "clientId": client_id}
        for code, ext in (
            (RUNNING_INFO, {**member, "jstackEnable": "false"}),
            (STATUS, {"topic": topic, "group": group, "clientAddr": client_id}),
            (CONSUME, {**member, "msgId": message_id, "topic": topic, "brokerName": "broker-a"}),
            (RESET, {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}),
        ):
            await trio.to_thread.run_sync(partial(self.ask, code, **ext))
        await trio.sleep(2)


def _send_fields(topic: str) -> dict[str, str]:
    return {
        "producerGroup": "operators", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
        "queueId": "0", "sysFlag": "0", "bornTimestamp": "0", "flag": "0", "properties": "", "batch": "false",
    }  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    have_here(partial(java_cache.classes, CURRENT, "Requests.java"))
    folder = tmp_path_factory.mktemp("requests")
    with JavaNameServer(folder / "namesrv") as server:
        broker = JavaBroker(folder / "broker", [server.address], {**BROKER, "brokerIP1": TAPPED})
        port = int(broker.address.split(":")[1])
        broker.address = f"{TAPPED}:{port}"
        with (
            tapped(server.port) as names,
            tapped(port, TAPPED, port) as before_broker,
            broker,
            JavaPeer(folder / "java", program="Requests.java") as java,
        ):
            broker.wait_registered(server.port)
            yield World(server, names, before_broker, java)


async def open_ours(stack: AsyncExitStack, kind: str, address: str, topic: str, group: str) -> None:
    """Do what ``Requests.java`` does of that kind."""
    config = patient(
        namesrv_addr=address,
        client_ip="127.0.0.1",
        instance_name="requests",
        heartbeat_broker_interval=1.0,
        mq_client_api_timeout=60.0,
    )
    subscription = {topic: ("a > 5", "SQL92") if kind.endswith("sql") else "*"}
    if kind == "pop":

        async def pop(_message: object) -> None: ...

        await stack.enter_async_context(open_pop_consumer(config, group, subscription, pop))
    elif kind.startswith("lite"):
        settings = LitePullConsumerConfig(consume_from_where=FIRST)
        lite = await stack.enter_async_context(
            open_lite_pull_consumer(config, group, config=settings)
        )
        lite.subscribe(
            topic,
            *(("a > 5",) if kind == "lite-sql" else ()),
            expression_type="SQL92" if kind == "lite-sql" else None,
        )
    elif kind in CONSUMERS:

        async def consume(_messages: object, _context: object) -> None: ...

        model = MessageModel.BROADCASTING if kind == "broadcast" else MessageModel.CLUSTERING
        push = PushConsumerConfig(consume_from_where=FIRST, message_model=model)
        name = "orderly_listener" if kind == "orderly" else "listener"
        listener: dict[str, Any] = {name: consume}
        await stack.enter_async_context(
            open_push_consumer(config, group, subscription, config=push, **listener)
        )
    else:
        await send_ours(
            stack, kind, await stack.enter_async_context(open_client(config)), topic, group
        )


async def send_ours(stack: AsyncExitStack, kind: str, client: Any, topic: str, group: str) -> None:
    async def check(_message: object) -> LocalTransactionState:
        return LocalTransactionState.COMMIT_MESSAGE

    producer = await stack.enter_async_context(
        open_producer(client, group, config=patient_producer(), check=check)
    )
    make = partial(Message, topic, tags="tag", keys="key", properties={"a": "6"})
    if kind == "batch":
        await producer.send_batch([make(b"body"), make(b"body")])
    elif kind == "oneway":
        await producer.send_oneway(make(b"body"))
    elif kind in ("commit", "rollback", "check"):
        state = {"commit": "COMMIT_MESSAGE", "rollback": "ROLLBACK_MESSAGE", "check": "UNKNOW"}[
            kind
        ]

        async def execute(_message: object, _result: object) -> LocalTransactionState:
            return LocalTransactionState[state]

        await producer.send_in_transaction(make(b"body"), execute)
    else:
        body = bytes(5000) if kind == "compressed" else b"body"
        level, delay = int(kind == "level"), 1000 if kind == "timer" else None
        await producer.send(make(body, delay_level=level, delay_millis=delay))


async def record(world: World, side: str, kind: str) -> dict[str, dict[str, set[str]]]:
    """Let one of the clients do its work, and return its requests."""
    topic, group = unique(f"topic-{kind}"), unique(f"group-{kind}")
    await trio.to_thread.run_sync(world.make_topic, topic)
    if kind == "pop":
        body = {"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 8}
        world.ask(401, json.dumps(body).encode())
    mark = world.mark()
    waits = {
        "pop": (HEARTBEAT, POP),
        "broadcast": (HEARTBEAT, PULL),
        "lite": (HEARTBEAT, LITE_PULL),
        "lite-sql": (HEARTBEAT, LITE_PULL),
    }
    client_id = "127.0.0.1@requests" + (
        "@STREAM" if kind.startswith("lite") and side == "java" else ""
    )
    async with AsyncExitStack() as stack:
        if side == "java":
            call = partial(world.java.call, kind, world.names.address, topic, group)
            await trio.to_thread.run_sync(call)
        else:
            await open_ours(stack, kind, world.names.address, topic, group)
        if kind in CONSUMERS:
            await world.wait_for(mark, *waits.get(kind, (HEARTBEAT, PULL)))
            await trio.sleep(3)
            for client in {client_id, client_id.removesuffix("@STREAM") + "@STREAM"}:
                await world.let_broker_ask(topic, group, client)
        elif kind == "check":
            await world.wait_for(mark, 39, 37)
        await trio.sleep(2)
        if side == "java":
            await trio.to_thread.run_sync(partial(world.java.call, "close"))
    await trio.sleep(0.5)
    return requests(world.since(mark), {topic: "TOPIC", group: "GROUP"})


@pytest.fixture(scope="module")
def mqadmin(tmp_path_factory: pytest.TempPathFactory, world: World) -> Iterator[JavaPeer]:
    """A JVM for mqadmin lines; the topic ``orders`` and the group ``readers`` exist, and have offsets."""
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    world.make_topic("orders")
    with JavaPeer(tmp_path_factory.mktemp("mqadmin")) as peer:
        peer.send(world.names.address, "orders", "producers", range(3))
        peer.consume(world.names.address, "orders", "readers")
        peer.received("readers", 3)
        wait_until(
            lambda: b'"consumerOffset":1' in world.ask(208, consumerGroup="readers").body, "offsets"
        )
        yield peer


@pytest.mark.parametrize("line", ADMIN)
async def test_our_admin_sends_what_mqadmin_does(
    world: World, mqadmin: JavaPeer, line: str
) -> None:
    names = {f"{TAPPED}:{world.broker.port}": "BROKER"}
    filled = line.format(b=f"{TAPPED}:{world.broker.port}")
    sides: list[dict[str, dict[str, set[str]]]] = []
    for run in (
        partial(mqadmin.admin, world.names.address, filled),
        partial(admin_in_process.run, *filled.split(), "-n", world.names.address),
    ):
        mark = world.mark()
        await trio.to_thread.run_sync(run)
        sides.append(requests(world.since(mark), names))
    check(differences(line.split()[0], *sides))


@pytest.mark.parametrize("kind", [*CONSUMERS, *SENDS])
async def test_our_client_sends_and_answers_what_javas_does(world: World, kind: str) -> None:
    check(differences(kind, await record(world, "java", kind), await record(world, "ours", kind)))


def check(found: Sequence[str]) -> None:
    """Every difference has a reason."""
    reasons = tomllib.loads(REASONS.read_text("utf-8"))["accepted"]
    unexplained = [
        line for line in found if not any(re.match(one["line"], line) for one in reasons)
    ]
    assert not unexplained, "\n".join(unexplained)

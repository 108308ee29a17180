"""The requests of Java's clients and of ours through a tap, in a form that can be compared.

Of each request code the values of every field are compared, by the paths that ``fields`` makes.
"""

# JSON of any form is compared.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
import re
import ssl
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import trio

from rocketwire.wire.json.fastjson import loads
from tests.peers import raw_call
from tests.peers.cluster import BROKER, ROOM
from tests.peers.peers import JavaBroker, JavaNameServer
from tests.peers.processes import wait_until
from tests.peers.server_certificate import server_certificate
from tests.support.tap import TO_CLIENT, Tap, TappedFrame, tapped

TAPPED = "127.0.0.2"
REASONS = Path(__file__).with_name("same_requests.toml")
BATCH = 320
RUNNING_INFO, RESET, STATUS, CONSUME = 307, 222, 223, 309
Requests: TypeAlias = dict[str, dict[str, set[str]]]
VARIABLE = re.compile(
    r"\.(subVersion|heartbeatFingerprint|g|popTime|bornTime|invisibleTime|timestamp|opaque|tranStateTableOffset"
    r"|commitLogOffset|msgId|offsetMsgId|commitOffset|offset|queueOffset|queueId|e|extraInfo|lastPopTimestamp|transactionId|waitAckCount|spentTimeMills"
    r"|\w*[tT]imestamp|\w*(RT|TPS|Tps|Rt)|\w*MsgCount|cachedMsg\w*|PROP_CONSUMER_START_TIMESTAMP|UNIQ_KEY|CORRELATION_ID|recallHandle"
    r"|Signature|originMsgId|time|id|epoch|checkStoreTime|clientID|requestId|cost|offsetId|jstack)$"
)
"""Paths whose values are ids, times and figures that differ from run to run: only their presence is compared."""
TRACE_TOPICS = ("RMQ_SYS_TRACE_TOPIC", "rmq_sys_TRACE_DATA_", "OWN_TRACE")
TRACED = {
    "Pub": "time region group topic id tags keys host length cost type offsetId success",
    "SubBefore": "time region group requestId id retries keys",
    "SubAfter": "requestId id cost success keys code time group",
    "EndTransaction": "time region group topic id tags keys host type transactionId state fromCheck",
    "Recall": "time region group topic id success",
}
"""The fields of each record of a trace."""


def fields(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    # Every leaf of a value as its path and text; members of lists have no number.
    if isinstance(value, dict):
        for name, member in value.items():
            key = "{queue}" if str(name).startswith("{") else name
            yield from fields(f"{prefix}.{key}", member)
    elif isinstance(value, list) and value:
        for item in value:
            yield from fields(prefix, item)
    else:
        yield prefix, "*" if VARIABLE.search(prefix) else json.dumps(value)


def batch_messages(body: bytes) -> Iterator[dict[str, Any]]:
    while body:
        flag, length = (int.from_bytes(body[n : n + 4], "big") for n in (12, 16))
        start = 20 + length + 2
        size = int.from_bytes(body[start - 2 : start], "big")
        yield {
            "flag": flag,
            "body": body[20 : 20 + length].hex(),
            "properties": properties(body[start : start + size].decode()),
        }
        body = body[start + size :]


def properties(text: str) -> dict[str, str]:
    pairs = (part.partition("\1") for part in text.split("\2") if part)
    table = {name: value for name, _, value in pairs}
    if re.search("[0-9A-F]{32,}", table.get("KEYS", "")):  # of a trace, in any order
        table["KEYS"] = " ".join(sorted({*re.sub("[0-9A-F]{32,}", "ID", table["KEYS"]).split()}))
    return table


def trace_records(body: str) -> dict[str, list[dict[str, str]]]:
    records: dict[str, list[dict[str, str]]] = defaultdict(list)
    for record in body.split("\2")[:-1]:
        name, *values = record.split("\1")
        records[name].append(dict(zip(TRACED[name].split(), values, strict=False)))
    return records


def frame_fields(
    data: bytes, names: Mapping[str, str]
) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    length = int.from_bytes(data[5:8], "big")
    header, body = data[8 : 8 + length], data[8 + length :]
    for name, label in names.items():
        header, body = (part.replace(name.encode(), label.encode()) for part in (header, body))
    parsed = json.loads(header)
    extra: dict[str, Any] = parsed.get("extFields") or {}
    texts = extra.get("i") or extra.get("properties")
    if texts is not None:
        extra = {**extra, "i" if "i" in extra else "properties": properties(texts)}
    values = set(fields("header", {name: parsed.get(name) for name in ("flag", "remark")}))
    values |= set(fields("ext", extra))
    if body[:1] == b"{":
        values |= set(fields("body", loads(body)))
    elif extra.get("b", "").startswith(TRACE_TOPICS):
        values |= set(fields("trace", trace_records(body.decode())))
    elif parsed["code"] == BATCH:
        values |= set(fields("batch", list(batch_messages(body))))
    elif body:
        values.add(("body", re.sub(rb"[0-9A-F]{32,}", b"ID", body).hex()[:400]))
    return parsed, values


def requests(frames: Sequence[TappedFrame], names: Mapping[str, str]) -> Requests:
    # The values of each path, by request code; ``answer CODE`` is what the client answered.
    codes: dict[tuple[int, int], int] = {}
    values_of: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for frame in frames:
        header, values = frame_fields(frame.data, names)
        is_answer, place = header["flag"] & 1, (frame.connection, header["opaque"])
        if frame.direction == TO_CLIENT:
            if not is_answer:
                codes[place] = header["code"]
            continue
        name = f"answer {codes.get(place)}" if is_answer else str(header["code"])
        if is_answer:
            values.add(("header.code", str(header["code"])))
        for path, value in values:
            values_of[name][path].add(value)
    return values_of


def differences(label: str, java: Requests, ours: Requests) -> list[str]:
    lines: list[str] = []
    for code in sorted({*java, *ours}):
        if code not in java or code not in ours:
            side, request = ("Java", java[code]) if code in java else ("ours", ours[code])
            topics = sorted(request.get("ext.topic", ()))
            lines.append(f"{label}: {code}: only {side}" + (f" {topics}" if topics else ""))
            continue
        for path in sorted({*java[code], *ours[code]}):
            java_values, our_values = (sorted(side[code].get(path, ())) for side in (java, ours))
            if java_values != our_values:
                lines.append(f"{label}: {code}: {path}: Java {java_values} ours {our_values}")
    return lines


class World:
    """A name server and a broker of Java's, with a tap before each."""

    def __init__(self, server: JavaNameServer, names: Tap, broker: Tap) -> None:
        self.server, self.names, self.broker = server, names, broker
        self.taps = [names, broker]

    def ask(self, code: int, body: bytes = b"", /, **ext: str) -> raw_call.Answer:
        return raw_call.ask(self.broker.target, code, ext, body)

    def make_topic(self, topic: str) -> None:
        queues = {"readQueueNums": "4", "writeQueueNums": "4", "perm": "6", "topicSysFlag": "0"}
        settings = {"defaultTopic": "TBW102", "topicFilterType": "SINGLE_TAG", "order": "false"}
        self.ask(17, b"", topic=topic, **queues, **settings)
        address = f"{TAPPED}:{self.broker.port}"
        wait_until(lambda: raw_call.routes_to(self.server.port, topic, address), "the route")

    def mark(self) -> list[tuple[int, set[int]]]:
        # How many frames have gone by at each tap, and on which connections.
        return [(len(tap.frames), {frame.connection for frame in tap.frames}) for tap in self.taps]

    def since(self, mark: list[tuple[int, set[int]]]) -> list[TappedFrame]:
        return [
            frame
            for tap, (count, connections) in zip(self.taps, mark, strict=True)
            for frame in tap.frames[count:]
            if frame.connection not in connections
        ]

    async def wait_for(self, mark: list[tuple[int, set[int]]], *codes: int) -> None:
        await self.wait_for_texts(mark, *(b'"code":%d,' % code for code in codes))

    async def wait_for_texts(self, mark: list[tuple[int, set[int]]], *texts: bytes) -> None:
        with trio.fail_after(120):
            while not all(any(text in frame.data for frame in self.since(mark)) for text in texts):
                await trio.sleep(0.2)

    async def wait_for_trace(self, mark: list[tuple[int, set[int]]], *, is_sent: bool) -> None:
        # Wait until a trace was sent, and for 6 s more: both clients collect records for 5 s.
        with trio.fail_after(60):
            while is_sent and not any(
                frame.data[-1:] == b"\2"
                and any(topic.encode() in frame.data for topic in TRACE_TOPICS)
                for frame in self.since(mark)
            ):
                await trio.sleep(0.2)
        await trio.sleep(6)

    async def let_broker_ask(self, topic: str, group: str, client_id: str) -> None:
        answer = self.ask(10, b"direct", **send_fields(topic))
        message_id = cast("dict[str, str]", answer.header["extFields"])["msgId"]
        member = {"consumerGroup": group, "clientId": client_id}
        for code, ext in (
            (RUNNING_INFO, {**member, "jstackEnable": "true"}),
            (STATUS, {"topic": topic, "group": group, "clientAddr": client_id}),
            (CONSUME, {**member, "msgId": message_id, "topic": topic, "brokerName": "broker-a"}),
            (RESET, {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}),
        ):
            await trio.to_thread.run_sync(partial(self.ask, code, **ext))
        await trio.sleep(4)


def send_fields(topic: str) -> dict[str, str]:
    return {
        "producerGroup": "operators", "topic": topic, "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
        "queueId": "0", "sysFlag": "0", "bornTimestamp": "0", "flag": "0", "properties": "", "batch": "false",
    }  # fmt: skip


@contextmanager
def open_world(folder: Path, options: Mapping[str, object]) -> Generator[World]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server_certificate() / "server.pem", server_certificate() / "server.key")
    with JavaNameServer(folder / "namesrv") as server:
        settings = {**BROKER, "brokerIP1": TAPPED, **options}
        broker = JavaBroker(folder / "broker", [server.address], settings, jvm=ROOM)
        port = int(broker.address.split(":")[1])
        broker.address = f"{TAPPED}:{port}"
        with (
            tapped(server.port, tls=tls) as names,
            tapped(port, TAPPED, port, tls=tls) as before_broker,
            broker,
        ):
            broker.wait_registered(server.port)
            yield World(server, names, before_broker)


def check(lines: Sequence[str]) -> None:
    # Every difference has a reason: one for its kind, or for its kind with that setting.
    reasons = tomllib.loads(REASONS.read_text("utf-8"))["accepted"]
    unexplained = [
        line
        for line in lines
        if not any(
            re.match(reason["line"], text)
            for reason in reasons
            for text in (line, re.sub(r"^([\w-]+) [\w+]+:", r"\1:", line))
        )
    ]
    assert not unexplained, "\n".join(unexplained)

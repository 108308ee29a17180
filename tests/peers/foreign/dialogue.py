"""Dialogues of clients, brokers and name servers: frames with their times, before a network carries them.

Names of extension fields come from Java's header classes, for example ``SendMessageRequestHeaderV2``.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from tests.peers.foreign.encodings import (
    BINARY,
    CPP,
    GO,
    JAVA_49,
    JAVA_53,
    JAVA_55,
    ONEWAY,
    PYTHON,
    RESPONSE,
    Header,
    Library,
)
from tests.peers.foreign.profiles import Profile

US: Final = 1_000
MS: Final = 1_000_000
SECOND: Final = 1_000_000_000
EPOCH_NS: Final = 1_760_000_000_000_000_000
"""Time of the first packet, nanoseconds since 1970."""


@dataclass(slots=True, eq=False)
class Frame:
    """A frame that the client or the server sends; times count from the start of the capture."""

    client: bool
    time_ns: int
    data: bytes
    header_length: int
    header: Header
    library: Library
    request: Frame | None = None


@dataclass(slots=True, eq=False)
class Text:
    client: bool
    time_ns: int
    data: bytes


@dataclass(slots=True)
class Dialogue:
    """The messages of a connection, in the order of time; ``opening`` is a PROXY header of the client."""

    client: tuple[str, int]
    server: tuple[str, int]
    sent: list[Frame | Text] = field(default_factory=list["Frame | Text"])
    opening: bytes = b""


_WORDS: Final = (
    "order", "payment", "refund", "stock", "invoice", "shipment", "customer", "basket", "audit",
    "price", "coupon", "search", "click", "session", "device", "login", "profile", "notice",
)  # fmt: skip
_FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
_SHORT_NAMES: Final = {
    "producerGroup": "a", "topic": "b", "defaultTopic": "c", "defaultTopicQueueNums": "d",
    "queueId": "e", "sysFlag": "f", "bornTimestamp": "g", "flag": "h", "properties": "i",
    "reconsumeTimes": "j", "unitMode": "k", "batch": "m",
}  # fmt: skip


class _Small(NamedTuple):
    """A request with a short answer; ``answer`` is None if it is oneway."""

    code: int
    fields: str
    answer: str | None = ""
    status: int = 0
    remark: str | None = None
    client: bool = True
    body_size: int = 0


_SMALL: Final = (
    _Small(14, "consumerGroup topic queueId", "offset"),
    _Small(
        14,
        "consumerGroup topic queueId",
        status=22,
        remark="Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
    ),
    _Small(15, "consumerGroup topic queueId commitOffset", None),
    _Small(30, "topic queueId committed", "offset"),
    _Small(38, "consumerGroup", body_size=90),
    _Small(40, "consumerGroup", None, client=False),
    _Small(307, "consumerGroup clientId jstackEnable", client=False, body_size=900),
)


class World:
    def __init__(self, chance: random.Random) -> None:
        names = ["-".join(chance.sample(_WORDS, chance.randrange(1, 4))) for _ in range(560)]
        self.topics = [
            f"{'%RETRY%' if chance.random() < 0.04 else ''}{name}{number % 90}"
            for number, name in enumerate(names[:320])
        ]
        self.groups = [f"{name}-group" for name in names[320:]]
        self.offsets = {topic: int(10 ** (chance.random() * 9)) for topic in self.topics}
        self._weights = [1 / (place + 2) for place in range(320)]

    def choose_topics(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self.topics, self._weights, k=count)


@cache
def _make_bodies() -> bytes:
    """Bodies of messages: they take most of the time of a small capture."""
    chance = random.Random(1)
    parts = [
        chance.randbytes(chance.randrange(50, 3000))
        if chance.random() < 0.15
        else json.dumps({word: [chance.randrange(10**9), None, 2.5] for word in _WORDS}).encode()
        for _ in range(4000)
    ]
    return b"".join(parts)


class Speaker:
    def __init__(self, chance: random.Random, world: World, profile: Profile, client: str) -> None:
        self._chance = chance
        self._random = chance.random
        self._world = world
        self._profile = profile
        libraries = (JAVA_49, JAVA_53, JAVA_55, CPP, GO, PYTHON)
        self._library = chance.choices(libraries, (28, 24, 28, 8, 8, 4))[0]
        self._broker = chance.choice((JAVA_49, JAVA_53, JAVA_55))
        if self._library in BINARY and chance.random() < profile.binary:
            self._library = BINARY[self._library]
            self._broker = BINARY[self._broker]
        self._binary = self._library.write is None
        self._is_new = self._library.version >= JAVA_53.version
        self._opaque = int(10 ** (chance.random() * 7))
        if chance.random() < 0.02:
            self._opaque = (1 << 31) - chance.randrange(1, 40)
        self._stride = chance.choice((1, 1, 2, 3))
        self._server_opaque = int(10 ** (chance.random() * 5))
        self._topics = world.choose_topics(chance, chance.choice((1, 1, 2, 3, 6)))
        self._group = chance.choice(world.groups)
        self._broker_name = f"broker-{chance.choice('abcdefgh')}"
        self._client_id = f"{client}@{chance.randrange(1, 40000)}#{chance.getrandbits(48)}"
        self._tags = chance.choices(_WORDS, k=chance.choice((0, 1, 1, 4)))
        self._properties = chance.sample(_WORDS, chance.choice((0, 0, 1, 2, 4)))
        self._sent: list[Frame | Text] = []

    def speak(self, dialogue: Dialogue, exchanges: int, start: int, end: int) -> None:
        role = self._chance.choices(
            (self._send, self._pull, self._pop, self._ask_little), self._profile.roles
        )[0]
        if role == self._pop and (self._binary or not self._is_new):
            role = self._pull
        self._route(start)
        self._heartbeat(start + 2 * MS)
        while len(self._sent) < exchanges * 2:
            now = start + int(self._random() * (end - start))
            rare = role == self._pull and self._random() < 0.14
            self._repeat(self._ask_little if rare else role, now, exchanges * 2 - len(self._sent))
        for number in range((end - start) // (30 * SECOND)):
            self._heartbeat(start + (number + 1) * 30 * SECOND)
        self._sent.sort(key=_time_ns)
        dialogue.sent = self._sent

    def _repeat(self, ask: Callable[[int, str, int], int], now: int, limit: int) -> None:
        topic, queue = self._chance.choice(self._topics), self._chance.randrange(8)
        pipelined = ask == self._send and self._random() < 0.4
        for _ in range(min(limit, 1 + int(self._chance.expovariate(1 / self._profile.burst)))):
            answered = ask(now, topic, queue)
            if pipelined:
                now += int(self._random() * 60 * US)
            else:
                now = answered + 20 * US + int(self._chance.expovariate(1 / (300 * US)))

    # ---- frames

    def _frame(
        self, now: int, client: bool, header: Header, body: bytes, request: Frame | None = None
    ) -> Frame:
        library = self._library if client else self._broker
        data, length = library.frame(header, body)
        frame = Frame(client, now, data, length, header, library, request)
        self._sent.append(frame)
        return frame

    def _ask(
        self, now: int, code: int, fields: Mapping[str, str] | None, body: bytes = b"", *,
        flag: int = 0, client: bool = True,
    ) -> Frame:  # fmt: skip
        if client:
            self._opaque += self._chance.randrange(1, self._stride + 1)
            if self._opaque >= 1 << 31:
                self._opaque -= 1 << 32
            opaque = self._opaque
        else:
            self._server_opaque += 1
            opaque = self._server_opaque
        return self._frame(now, client, Header(code, flag, opaque, fields), body)

    def _answer(
        self, request: Frame, fields: Mapping[str, str] | None = None, body: bytes = b"", *,
        status: int = 0, remark: str | None = None, later_ns: int = 0,
    ) -> int:  # fmt: skip
        later_ns = later_ns or 80 * US + int(self._chance.expovariate(1 / (900 * US)))
        header = Header(status, RESPONSE, request.header.opaque, fields, remark)
        self._frame(request.time_ns + later_ns, not request.client, header, body, request)
        return request.time_ns + later_ns

    def _next_offset(self, topic: str) -> int:
        self._world.offsets[topic] += 1
        return self._world.offsets[topic]

    def _body(self) -> bytes:
        profile, bodies = self._profile, _make_bodies()
        size = int(self._chance.lognormvariate(profile.body_log, profile.body_sigma))
        start = int(self._random() * (len(bodies) - profile.body_most))
        return bodies[start : start + min(size, profile.body_most)]

    def _text_properties(self) -> str:
        chance = self._chance
        pairs = {"KEYS": chance.choice(_WORDS), "UNIQ_KEY": f"{chance.getrandbits(128):032X}"}
        pairs |= {name: str(chance.randrange(1000)) for name in self._properties}
        pairs["WAIT"] = "true"
        if self._tags:
            pairs["TAGS"] = chance.choice(self._tags)
        text = "\x02".join([f"{name}\x01{value}" for name, value in pairs.items()])
        return text + "\x02" if self._is_new else text

    def _stored_messages(self, topic: str, queue: int, now: int) -> bytes:
        count = 1 + int(self._random() ** 2 * self._profile.batch)
        return b"".join([self._stored_message(topic, queue, now) for _ in range(count)])

    def _stored_message(self, topic: str, queue: int, now: int) -> bytes:
        body, name = self._body(), topic.encode()
        properties = self._text_properties().encode()
        offset = self._world.offsets[topic]
        born = (EPOCH_NS + now) // MS
        head = struct.pack(
            ">IIIiqqiq8sq8siqI", 0xDABBCDA1, zlib.crc32(body), queue, 0, offset, offset * 977, 0,
            born, b"\x0a\x01\x00\x05\x00\x00\xc3\x50", born + 1,
            b"\x0a\x09\x00\x01\x00\x00\x2a\x9f", 0, 0,
            len(body),
        )  # fmt: skip
        tail = bytes((len(name),)) + name + struct.pack(">H", len(properties)) + properties
        return struct.pack(">I", 4 + len(head) + len(body) + len(tail)) + head + body + tail

    # ---- requests and their responses

    def _send(self, now: int, topic: str, queue: int) -> int:
        chance, library = self._chance, self._library
        batch = self._random() < 0.08 and not self._binary
        fields = {
            "producerGroup": self._group, "topic": topic, "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4", "queueId": str(queue), "sysFlag": "0",
            "bornTimestamp": str((EPOCH_NS + now) // MS), "flag": "0",
            "properties": self._text_properties(), "reconsumeTimes": "0", "unitMode": "false",
            "batch": str(batch).lower(),
        }  # fmt: skip
        if library is PYTHON or (library is CPP and self._random() < 0.5):
            code = 10
        else:
            code = 320 if batch else 310
            fields = {_SHORT_NAMES[name]: value for name, value in fields.items()}
            if self._is_new:
                fields["n"] = self._broker_name
        request = self._ask(now, code, fields, self._body())
        if self._random() < 0.01:
            waited = chance.randrange(200, 900)
            remark = (
                "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, "
                f"period in queue: {waited}ms, size of queue: {chance.randrange(20000)}{_FAQ}"
            )
            return self._answer(request, status=2, remark=remark, later_ns=waited * MS)
        offset = self._next_offset(topic)
        answer = {
            "queueId": str(queue), "TRAN_MSG": "false", "queueOffset": str(offset),
            "msgId": f"0A090001{10911:08X}{offset * 977:016X}", "MSG_REGION": "DefaultRegion",
            "TRACE_ON": "true",
        }  # fmt: skip
        return self._answer(request, answer)

    def _pull(self, now: int, topic: str, queue: int) -> int:
        offset = self._world.offsets[topic]
        fields = {
            "consumerGroup": self._group, "topic": topic, "queueId": str(queue),
            "queueOffset": str(offset), "maxMsgNums": "32", "sysFlag": self._chance.choice("234"),
            "commitOffset": str(offset - 1), "suspendTimeoutMillis": "15000",
            "subVersion": str(EPOCH_NS // MS - 5000), "expressionType": "TAG",
        }  # fmt: skip
        answer = {
            "suggestWhichBrokerId": "0", "nextBeginOffset": str(offset + 1), "minOffset": "0",
            "maxOffset": str(offset + 1),
        }  # fmt: skip
        if self._random() < 0.2:
            fields["subscription"] = " || ".join(self._tags) or "*"
        if self._is_new:
            fields |= {"bname": self._broker_name, "maxMsgBytes": "262144"}
            answer |= {"topicSysFlag": "0", "groupSysFlag": "0"}
        request = self._ask(now, 11, fields)
        if self._random() < 0.25:
            wait_ns = 15 * SECOND if self._random() < 0.3 else int(self._random() * 15 * SECOND)
            return self._answer(
                request, answer, status=19, remark="OFFSET_OVERFLOW_ONE", later_ns=wait_ns
            )
        return self._answer(
            request, answer, self._stored_messages(topic, queue, now), remark="FOUND"
        )

    def _pop(self, now: int, topic: str, queue: int) -> int:
        offset = self._world.offsets[topic]
        born = (EPOCH_NS + now) // MS
        place = f"0 {queue} {offset}"
        common = {"consumerGroup": self._group, "topic": topic, "bname": self._broker_name}
        fields = common | {
            "queueId": "-1", "maxMsgNums": "32", "invisibleTime": "60000", "pollTime": "15000",
            "bornTime": str(born), "initMode": "1", "expType": "TAG", "exp": "*",
        }  # fmt: skip
        answer = {
            "popTime": str(born), "invisibleTime": "60000", "reviveQid": "3", "restNum": "0",
            "startOffsetInfo": place, "msgOffsetInfo": place,
        }  # fmt: skip
        messages = self._stored_messages(topic, queue, now)
        now = self._answer(self._ask(now, 200050, fields), answer, messages)
        extra = f"{offset} {born} 60000 3 0 {self._broker_name} {queue} {offset}"
        fields = common | {"queueId": str(queue), "extraInfo": extra, "offset": str(offset)}
        return self._answer(self._ask(now + 500 * US, 200051, fields))

    def _ask_little(self, now: int, topic: str, queue: int) -> int:
        if self._random() < 0.3:
            return self._route(now)
        kind = self._chance.choice(_SMALL)
        offset = str(self._world.offsets[topic])
        values = {
            "consumerGroup": self._group, "topic": topic, "queueId": str(queue), "offset": offset,
            "commitOffset": offset, "committed": "true", "clientId": self._client_id,
            "jstackEnable": "false",
        }  # fmt: skip
        request = self._ask(
            now, kind.code, {name: values[name] for name in kind.fields.split()},
            flag=ONEWAY if kind.answer is None else 0, client=kind.client,
        )  # fmt: skip
        if kind.answer is None:
            return now
        answer = {name: values[name] for name in kind.answer.split()} or None
        body = _make_bodies()[: kind.body_size]
        return self._answer(request, answer, body, status=kind.status, remark=kind.remark)

    def _heartbeat(self, now: int) -> None:
        subscriptions = [
            {"classFilterMode": False, "expressionType": "TAG", "subString": "*", "topic": topic}
            for topic in self._topics
        ]
        body = {
            "clientID": self._client_id,
            "consumerDataSet": [
                {"groupName": self._group, "subscriptionDataSet": subscriptions}
            ],
            "producerDataSet": [{"groupName": "CLIENT_INNER_PRODUCER"}],
        }  # fmt: skip
        answer = {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}
        request = self._ask(now, 34, {} if self._is_new else None, json.dumps(body).encode())
        self._answer(request, answer if self._broker.version >= JAVA_53.version else None)

    def _route(self, now: int) -> int:
        name = self._chance.choice(self._topics)
        fields = {"topic": name}
        if self._is_new:
            fields["acceptStandardJsonOnly"] = "false"
        request = self._ask(now, 105, fields)
        if self._random() < 0.05:
            remark = f"No topic route info in name server for the topic: {name}{_FAQ}"
            return self._answer(request, status=17, remark=remark)
        brokers = [
            f'{{"brokerAddrs":{{0:"10.9.0.{n}:10911"}},"brokerName":"broker-{n}"}}'
            for n in range(self._chance.randrange(1, 8))
        ]
        body = f'{{"brokerDatas":[{",".join(brokers)}],"filterServerTable":{{}},"queueDatas":[]}}'
        return self._answer(request, body=body.encode())


def _time_ns(sent: Frame | Text) -> int:
    return sent.time_ns


# ---- other protocols: the client or the server sends bytes


def grpc(chance: random.Random) -> Iterator[tuple[bool, bytes]]:
    """HTTP/2 without TLS, as the port 8081 of a RocketMQ proxy speaks it."""

    def block(frame_type: int, flags: int, stream: int, data: bytes) -> bytes:
        head = struct.pack(">I", len(data))[1:] + bytes((frame_type, flags))
        return head + struct.pack(">I", stream) + data

    settings = chance.choice(
        (b"", struct.pack(">HI", 4, 65535 * 4), struct.pack(">HIHI", 3, 100, 5, 1 << 20))
    )
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + block(4, 0, 0, b"\0\2\0\0\0\0")
    yield True, preface + block(8, 0, 0, struct.pack(">I", 1 << 20))
    yield False, block(4, 0, 0, settings) + block(4, 1, 0, b"")
    yield True, block(4, 1, 0, b"")
    for stream in range(1, chance.randrange(7, 120), 2):
        head = chance.randbytes(chance.randrange(20, 200))
        data = struct.pack(">BI", 0, 400) + chance.randbytes(chance.randrange(10, 3000))
        yield True, block(1, 4, stream, head) + block(0, 1, stream, data)
        answer = block(0, 0, stream, data[: chance.randrange(9, 3000)])
        yield False, block(1, 4, stream, head[:30]) + answer + block(1, 5, stream, head[:8])


def tls(chance: random.Random) -> Iterator[tuple[bool, bytes]]:
    def block(record_type: int, size: int, version: bytes = b"\x03\x03") -> bytes:
        return bytes((record_type,)) + version + struct.pack(">H", size) + chance.randbytes(size)

    yield True, block(22, 512, b"\x03\x01")
    yield False, block(22, 122) + block(20, 1) + block(23, 2400)
    yield True, block(20, 1) + block(23, 53)
    for _ in range(chance.randrange(5, 80)):
        yield True, block(23, chance.randrange(100, 4000))
        yield False, block(23, chance.randrange(100, 4000))


def http(chance: random.Random) -> Iterator[tuple[bool, bytes]]:
    for number in range(chance.randrange(2, 40)):
        yield True, b"GET /metrics?n=%d HTTP/1.1\r\nHost: broker-a\r\nAccept: */*\r\n\r\n" % number
        header = {"code": number, "flag": 0, "opaque": number, "version": 513}
        body = json.dumps(header).encode() * 9
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        yield False, head + b"%d\r\n\r\n" % len(body) + body


def replication(chance: random.Random) -> Iterator[tuple[bool, bytes]]:
    """A slave reads the commit log of its master: offsets of 8 bytes, blocks with 12 bytes in front."""
    offset = chance.randrange(1 << 42)
    yield True, struct.pack(">q", offset)
    for _ in range(chance.randrange(5, 80)):
        data = chance.randbytes(chance.randrange(0, 6000))
        yield False, struct.pack(">qi", offset, len(data)) + data
        offset += len(data)
        yield True, struct.pack(">q", offset)


FOREIGN: Final = ((8081, grpc), (10911, tls), (10911, http), (10912, replication))
"""Other protocols, and the port of the server."""


def speak_foreign(
    protocol: Callable[[random.Random], Iterator[tuple[bool, bytes]]],
    chance: random.Random,
    dialogue: Dialogue,
    start: int,
    end: int,
) -> None:
    messages = list(protocol(chance))
    times = sorted(chance.randrange(start, end) for _ in messages)
    dialogue.sent = [
        Text(client, time_ns, data) for time_ns, (client, data) in zip(times, messages, strict=True)
    ]

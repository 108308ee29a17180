"""Dialogues of clients, brokers and name servers: frames with their times, before a network carries them.

Names of extension fields come from Java's header classes, for example ``SendMessageRequestHeaderV2``.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    topic: str | None = None
    group: str | None = None
    queue_id: int | None = None
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


_WORDS: Final = [
    "order", "payment", "refund", "stock", "invoice", "shipment", "customer", "basket", "audit", "ledger",
    "price", "coupon", "search", "click", "session", "device", "login", "profile", "notice", "mail",
    "report", "metric", "trace", "alarm", "task", "job", "batch", "sync", "index", "cache",
]  # fmt: skip
_REMARK_BUSY: Final = (
    "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, "
    "period in queue: {}ms, size of queue: {}"
)
_FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


class World:
    def __init__(self, chance: random.Random) -> None:
        self.topics = [self._name(chance, "%RETRY%", 0.04) for _ in range(320)]
        self.groups = [self._name(chance, "", 0) + "-group" for _ in range(240)]
        self._weights = [1 / (place + 2) for place in range(320)]
        self._bodies, state = _texts(chance.getstate())
        chance.setstate(state)
        self.offsets = [int(10 ** (chance.random() * 9)) for _ in range(320)]

    def topic(self, chance: random.Random) -> int:
        return chance.choices(range(320), self._weights)[0]

    def body(self, chance: random.Random, size: int) -> bytes:
        start = int(chance.random() * (len(self._bodies) - size))
        return self._bodies[start : start + size]

    @staticmethod
    def _name(chance: random.Random, prefix: str, share: float) -> str:
        parts = chance.sample(_WORDS, chance.randrange(1, 4))
        name = chance.choice("-_.").join(parts).replace(".", "-")
        if chance.random() < 0.4:
            name = name.title().replace("-", "")
        if chance.random() < 0.5:
            name += str(chance.randrange(100))
        return (prefix if chance.random() < share else "") + name


@cache
def _texts(state: tuple[Any, ...]) -> tuple[bytes, tuple[Any, ...]]:
    """Bodies of messages, and the state of the randomness after them.

    They take most of the time of a small capture, and captures of one seed have the same.
    """
    chance = random.Random()
    chance.setstate(state)
    parts: list[bytes] = []
    size = 0
    while size < 3 << 20:
        if chance.random() < 0.15:
            part = chance.randbytes(chance.randrange(50, 3000))
        else:
            words = {
                chance.choice(_WORDS): chance.choice(
                    (chance.randrange(10**9), chance.choice(_WORDS), [1, 2.5, None, True])
                )
                for _ in range(chance.randrange(2, 30))
            }
            part = json.dumps(words).encode()
        parts.append(part)
        size += len(part)
    return b"".join(parts), chance.getstate()


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
        self._topics = [world.topic(chance) for _ in range(chance.choice((1, 1, 2, 3, 6)))]
        self._group = chance.choice(world.groups)
        self._broker_name = f"broker-{chance.choice('abcdefgh')}"
        self._queues = chance.choice((4, 4, 8, 16))
        self._prefix = f"{chance.getrandbits(32):08X}{chance.getrandbits(16):04X}4E0E2F2A"
        self._client_id = f"{client}@{chance.randrange(1, 40000)}#{chance.getrandbits(48)}"
        self._keys = chance.random() < 0.7
        self._tags = chance.choices(_WORDS, k=chance.choice((0, 1, 1, 4)))
        self._properties = chance.sample(_WORDS, chance.choice((0, 0, 1, 2, 4)))
        self._cluster = chance.random() < 0.3
        self._counter = chance.randrange(60_000)
        self._sent: list[Frame | Text] = []

    def speak(self, dialogue: Dialogue, exchanges: int, start: int, end: int) -> None:
        role = self._chance.choices(
            (self._produce, self._consume, self._pop, self._administrate), self._profile.roles
        )[0]
        if role == self._pop and (self._binary or not self._is_new):
            role = self._consume
        now = start
        self._route(now)
        self._heartbeat(now + 2 * MS)
        while len(self._sent) < exchanges * 2:
            now = start + int(self._random() * (end - start))
            role(now, exchanges * 2 - len(self._sent))
        for number in range((end - start) // (30 * SECOND)):
            self._heartbeat(start + (number + 1) * 30 * SECOND)
        self._sent.sort(key=_time_ns)
        dialogue.sent = self._sent

    # ---- roles

    def _produce(self, now: int, limit: int) -> None:
        topic = self._chance.choice(self._topics)
        count = min(limit, 1 + int(self._chance.expovariate(1 / self._profile.burst)))
        burst = self._random() < 0.4
        for _ in range(count):
            answer = self._send(now, topic)
            if burst:
                now += int(self._random() * 60 * US)
            else:
                now = answer + 20 * US + int(self._chance.expovariate(1 / (300 * US)))

    def _consume(self, now: int, count: int) -> None:
        choice = self._random()
        if choice < 0.06:
            self._oneway_offset(now)
        elif choice < 0.09:
            self._exchange(
                now, 38, {"consumerGroup": self._group},
                body=json.dumps({"consumerIdList": [self._client_id] * 3}).encode(),
                group=self._group,
            )  # fmt: skip
        elif choice < 0.12:
            self._query_offset(now)
        elif choice < 0.14:
            self._from_broker(now)
        else:
            topic = self._chance.choice(self._topics)
            queue = self._chance.randrange(self._queues)
            for _ in range(min(count, 1 + int(self._random() * 2 * self._profile.burst))):
                now = self._pull(now, topic, queue) + int(self._random() * 400 * US)

    def _pop(self, now: int, count: int) -> None:
        topic = self._chance.choice(self._topics)
        for _ in range(min(count, 1 + int(self._random() * self._profile.burst))):
            now = self._pop_once(now, topic) + int(self._random() * 800 * US)

    def _administrate(self, now: int, count: int) -> None:
        for _ in range(min(count, self._chance.randrange(1, 5))):
            if self._random() < 0.6:
                now = self._route(now)
            else:
                topic = self._chance.choice(self._topics)
                name = self._world.topics[topic]
                now = self._exchange(
                    now, 30, {"topic": name, "queueId": "0", "committed": "true"},
                    answer={"offset": str(self._offset(topic))}, topic=name, queue_id=0,
                )  # fmt: skip

    # ---- exchanges

    def _frame(
        self, now: int, header: Header, body: bytes = b"", *, client: bool = True,
        topic: str | None = None, group: str | None = None, queue_id: int | None = None,
        request: Frame | None = None,
    ) -> Frame:  # fmt: skip
        library = self._library if client else self._broker
        data, length = library.frame(header, body)
        frame = Frame(client, now, data, length, header, library, topic, group, queue_id, request)
        self._sent.append(frame)
        return frame

    def _next(self) -> int:
        self._opaque += 1 if self._stride == 1 else self._chance.randrange(1, self._stride + 1)
        if self._opaque >= 1 << 31:
            self._opaque -= 1 << 32
        return self._opaque

    def _offset(self, topic: int) -> int:
        self._world.offsets[topic] += 1
        return self._world.offsets[topic]

    def _size(self) -> int:
        profile = self._profile
        size = int(self._chance.lognormvariate(profile.body_log, profile.body_sigma))
        return min(size, profile.body_most)

    def _exchange(
        self, now: int, code: int, fields: Mapping[str, str] | None, *,
        request_body: bytes = b"", body: bytes = b"", answer: Mapping[str, str] | None = None,
        topic: str | None = None, group: str | None = None, queue_id: int | None = None,
        later: int = 0, status: int = 0, remark: str | None = None, answer_queue: int | None = None,
        client: bool = True,
    ) -> int:  # fmt: skip
        if client:
            opaque = self._next()
        else:
            self._server_opaque += 1
            opaque = self._server_opaque
        request = self._frame(
            now, Header(code, 0, opaque, fields), request_body, client=client,
            topic=topic, group=group, queue_id=queue_id,
        )  # fmt: skip
        later = now + (later or 80 * US + int(self._chance.expovariate(1 / (900 * US))))
        self._frame(
            later, Header(status, RESPONSE, opaque, answer, remark), body, client=not client,
            queue_id=answer_queue, request=request,
        )  # fmt: skip
        return later

    def _text_properties(self, now: int) -> str:
        chance = self._chance
        self._counter += 1
        parts: list[str] = []
        if self._keys:
            parts.append(f"KEYS\x01{chance.choice(_WORDS)}-{int(10 ** (self._random() * 8))}")
        parts.append(
            f"UNIQ_KEY\x01{self._prefix}{now // MS & 0xFFFFFFFF:08X}{self._counter & 0xFFFF:04X}"
        )
        parts.extend(
            f"{name}\x01{chance.choice(_WORDS)}{int(self._random() * 1000)}"
            for name in self._properties
            if self._random() < 0.8
        )
        if self._cluster:
            parts.append("CLUSTER\x01DefaultCluster")
        parts.append("WAIT\x01true")
        if self._tags:
            parts.append(f"TAGS\x01{chance.choice(self._tags)}")
        text = "\x02".join(parts)
        return text + "\x02" if self._is_new else text

    def _send(self, now: int, topic: int) -> int:
        chance, name = self._chance, self._world.topics[topic]
        queue = chance.randrange(self._queues)
        born = str((EPOCH_NS + now) // MS)
        properties = self._text_properties(now)
        batch = self._random() < 0.08 and not self._binary
        if self._library is PYTHON or (self._library is CPP and self._counter % 2):
            code = 10
            fields = {
                "producerGroup": self._group, "topic": name, "defaultTopic": "TBW102",
                "defaultTopicQueueNums": "4", "queueId": str(queue), "sysFlag": "0",
                "bornTimestamp": born, "flag": "0", "properties": properties,
                "reconsumeTimes": "0", "unitMode": "false", "batch": "false",
            }  # fmt: skip
        else:
            code = 320 if batch else 310
            fields = {
                "a": self._group, "b": name, "c": "TBW102", "d": "4", "e": str(queue), "f": "0",
                "g": born, "h": "0", "i": properties, "j": "0", "k": "false",
                "m": "true" if batch else "false",
            }  # fmt: skip
            if self._is_new:
                fields["n"] = self._broker_name
        body = self._world.body(chance, self._size())
        options: dict[str, Any] = {"topic": name, "group": self._group, "queue_id": queue}
        if self._random() < 0.01:
            remark = _REMARK_BUSY.format(chance.randrange(200, 900), chance.randrange(1, 20000))
            return self._exchange(
                now, code, fields, request_body=body, status=2, remark=remark + _FAQ,
                later=chance.randrange(200, 900) * MS, **options,
            )  # fmt: skip
        offset = self._offset(topic)
        answer = {
            "queueId": str(queue),
            "TRAN_MSG": "false",
            "queueOffset": str(offset),
            "msgId": f"0A090001{10911:08X}{offset * 977:016X}",
            "MSG_REGION": "DefaultRegion",
            "TRACE_ON": "true",
        }
        return self._exchange(
            now, code, fields, request_body=body, answer=answer, answer_queue=queue, **options
        )

    def _store_message(self, topic: int, queue: int, now: int) -> bytes:
        body = self._world.body(self._chance, self._size())
        name = self._world.topics[topic].encode()
        properties = self._text_properties(now).encode()
        offset = self._world.offsets[topic]
        born = (EPOCH_NS + now) // MS
        head = struct.pack(
            ">IIIiqqiq8sq8siqI", 0xDABBCDA1, zlib.crc32(body), queue, 0, offset, offset * 977, 0,
            born, b"\x0a\x01\x00\x05\x00\x00\xc3\x50", born + 1,
            b"\x0a\x09\x00\x01\x00\x00\x2a\x9f", 0, 0,
            len(body),
        )  # fmt: skip
        tail = b"".join(
            (body, bytes((len(name),)), name, struct.pack(">H", len(properties)), properties)
        )
        return struct.pack(">I", 4 + len(head) + len(tail)) + head + tail

    def _pull(self, now: int, topic: int, queue: int) -> int:
        chance, name = self._chance, self._world.topics[topic]
        offset = self._world.offsets[topic]
        fields = {
            "consumerGroup": self._group, "topic": name, "queueId": str(queue),
            "queueOffset": str(offset), "maxMsgNums": "32", "sysFlag": chance.choice("234"),
            "commitOffset": str(offset - chance.randrange(3)), "suspendTimeoutMillis": "15000",
            "subVersion": str(EPOCH_NS // MS - 5000), "expressionType": "TAG",
        }  # fmt: skip
        if self._random() < 0.2:
            fields["subscription"] = "*" if not self._tags else " || ".join(self._tags)
        if self._is_new:
            fields |= {"bname": self._broker_name, "maxMsgBytes": "262144"}
        options: dict[str, Any] = {"topic": name, "group": self._group, "queue_id": queue}
        answer = {
            "suggestWhichBrokerId": "0", "nextBeginOffset": str(offset + 1), "minOffset": "0",
            "maxOffset": str(offset + 1),
        }  # fmt: skip
        if self._is_new:
            answer |= {"topicSysFlag": "0", "groupSysFlag": "0"}
        if self._random() < 0.25:
            wait_ns = 15 * SECOND if self._random() < 0.3 else int(self._random() * 15 * SECOND)
            return self._exchange(
                now, 11, fields, answer=answer, status=19, remark="OFFSET_OVERFLOW_ONE",
                later=wait_ns, **options,
            )  # fmt: skip
        count = 1 + int(self._random() ** 2 * self._profile.batch)
        body = b"".join([self._store_message(topic, queue, now) for _ in range(count)])
        return self._exchange(now, 11, fields, answer=answer, remark="FOUND", body=body, **options)

    def _pop_once(self, now: int, topic: int) -> int:
        name = self._world.topics[topic]
        queue = self._chance.randrange(self._queues)
        offset = self._world.offsets[topic]
        born = (EPOCH_NS + now) // MS
        fields = {
            "consumerGroup": self._group, "topic": name, "queueId": "-1", "maxMsgNums": "32",
            "invisibleTime": "60000", "pollTime": "15000", "bornTime": str(born), "initMode": "1",
            "expType": "TAG", "exp": "*", "bname": self._broker_name,
        }  # fmt: skip
        answer = {
            "popTime": str(born), "invisibleTime": "60000", "reviveQid": "3", "restNum": "0",
            "startOffsetInfo": f"0 {queue} {offset}", "msgOffsetInfo": f"0 {queue} {offset}",
        }  # fmt: skip
        count = 1 + int(self._random() ** 2 * self._profile.batch)
        body = b"".join([self._store_message(topic, queue, now) for _ in range(count)])
        now = self._exchange(
            now, 200050, fields, answer=answer, body=body, topic=name, group=self._group,
            queue_id=-1,
        )  # fmt: skip
        extra = f"{offset} {born} 60000 3 0 {self._broker_name} {queue} {offset}"
        fields = {
            "consumerGroup": self._group, "topic": name, "queueId": str(queue), "extraInfo": extra,
            "offset": str(offset), "bname": self._broker_name,
        }  # fmt: skip
        return self._exchange(
            now + 500 * US, 200051, fields, topic=name, group=self._group, queue_id=queue
        )

    def _oneway_offset(self, now: int) -> None:
        topic = self._chance.choice(self._topics)
        name, queue = self._world.topics[topic], self._chance.randrange(self._queues)
        fields = {
            "consumerGroup": self._group, "topic": name, "queueId": str(queue),
            "commitOffset": str(self._world.offsets[topic]),
        }  # fmt: skip
        self._frame(
            now, Header(15, ONEWAY, self._next(), fields), topic=name, group=self._group,
            queue_id=queue,
        )  # fmt: skip

    def _query_offset(self, now: int) -> None:
        topic = self._chance.choice(self._topics)
        name, queue = self._world.topics[topic], self._chance.randrange(self._queues)
        fields = {"consumerGroup": self._group, "topic": name, "queueId": str(queue)}
        options: dict[str, Any] = {"topic": name, "group": self._group, "queue_id": queue}
        if self._random() < 0.2:
            remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
            self._exchange(now, 14, fields, status=22, remark=remark, **options)
        else:
            answer = {"offset": str(self._world.offsets[topic])}
            self._exchange(now, 14, fields, answer=answer, **options)

    def _from_broker(self, now: int) -> None:
        fields = {"consumerGroup": self._group}
        if self._random() < 0.7:
            self._server_opaque += 1
            header = Header(40, ONEWAY, self._server_opaque, fields)
            self._frame(now, header, client=False, group=self._group)
            return
        fields |= {"clientId": self._client_id, "jstackEnable": "false"}
        body = self._world.body(self._chance, 900)
        self._exchange(now, 307, fields, client=False, group=self._group, body=body)

    def _heartbeat(self, now: int) -> None:
        body = {
            "clientID": self._client_id,
            "consumerDataSet": [
                {
                    "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
                    "consumeType": "CONSUME_PASSIVELY",
                    "groupName": self._group, "messageModel": "CLUSTERING",
                    "subscriptionDataSet": [
                        {"classFilterMode": False, "codeSet": [], "expressionType": "TAG",
                         "subString": "*", "subVersion": now, "tagsSet": self._tags,
                         "topic": self._world.topics[topic]}
                        for topic in self._topics
                    ],
                }
            ],
            "heartbeatFingerprint": 0,
            "producerDataSet": [{"groupName": "CLIENT_INNER_PRODUCER"}],
            "withoutSub": False,
        }  # fmt: skip
        answer = {"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}
        self._exchange(
            now, 34, {} if self._is_new else None, request_body=json.dumps(body).encode(),
            answer=answer if self._broker.version >= JAVA_53.version else None,
        )  # fmt: skip

    def _route(self, now: int) -> int:
        name = self._world.topics[self._chance.choice(self._topics)]
        fields = {"topic": name}
        if self._is_new:
            fields["acceptStandardJsonOnly"] = "false"
        if self._random() < 0.05:
            remark = f"No topic route info in name server for the topic: {name}" + _FAQ
            return self._exchange(now, 105, fields, status=17, remark=remark, topic=name)
        brokers = [
            f'{{"brokerAddrs":{{0:"10.9.0.{n}:10911"}},"brokerName":"broker-{"abcdefgh"[n]}",'
            '"cluster":"DefaultCluster"}'
            for n in range(self._chance.randrange(1, 8))
        ]
        body = f'{{"brokerDatas":[{",".join(brokers)}],"filterServerTable":{{}},"queueDatas":[]}}'
        return self._exchange(now, 105, fields, body=body.encode(), topic=name)


def _time_ns(sent: Frame | Text) -> int:
    return sent.time_ns


# ---- other protocols


def grpc(chance: random.Random, dialogue: Dialogue, start: int, end: int) -> None:
    """HTTP/2 without TLS, as the port 8081 of a RocketMQ proxy speaks it."""

    def block(frame_type: int, flags: int, stream: int, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data))[1:]
            + bytes((frame_type, flags))
            + struct.pack(">I", stream)
            + data
        )

    settings = chance.choice(
        (b"", struct.pack(">HI", 4, 65535 * 4), struct.pack(">HIHI", 3, 100, 5, 1 << 20))
    )
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + block(4, 0, 0, b"\0\2\0\0\0\0")
    sent: list[Frame | Text] = [
        Text(True, start, preface + block(8, 0, 0, struct.pack(">I", 1 << 20))),
        Text(False, start + 200 * US, block(4, 0, 0, settings) + block(4, 1, 0, b"")),
        Text(True, start + 300 * US, block(4, 1, 0, b"")),
    ]
    now = start + MS
    for number in range(chance.randrange(3, 60)):
        stream = 2 * number + 1
        head = chance.randbytes(chance.randrange(20, 200))
        data = struct.pack(">BI", 0, 400) + chance.randbytes(chance.randrange(10, 3000))
        sent.append(Text(True, now, block(1, 4, stream, head) + block(0, 1, stream, data)))
        answer = block(1, 4, stream, head[:30]) + block(
            0, 0, stream, data[: chance.randrange(9, 3000)]
        )
        sent.append(Text(False, now + 2 * MS, answer + block(1, 5, stream, head[:8])))
        now += int(chance.random() * (end - start) / 60) + 3 * MS
    dialogue.sent = sent


def tls(chance: random.Random, dialogue: Dialogue, start: int, end: int) -> None:
    def block(record_type: int, size: int, version: bytes = b"\x03\x03") -> bytes:
        return bytes((record_type,)) + version + struct.pack(">H", size) + chance.randbytes(size)

    sent: list[Frame | Text] = [
        Text(True, start, block(22, 512, b"\x03\x01")),
        Text(False, start + MS, block(22, 122) + block(20, 1) + block(23, 2400)),
        Text(True, start + 2 * MS, block(20, 1) + block(23, 53)),
    ]
    now = start + 3 * MS
    for _ in range(chance.randrange(5, 80)):
        sent.append(Text(True, now, block(23, chance.randrange(100, 4000))))
        sent.append(Text(False, now + MS, block(23, chance.randrange(100, 4000))))
        now += int(chance.random() * (end - start) / 80) + 2 * MS
    dialogue.sent = sent


def http(chance: random.Random, dialogue: Dialogue, start: int, end: int) -> None:
    now = start
    sent: list[Frame | Text] = []
    for number in range(chance.randrange(2, 40)):
        ask = b"GET /metrics?n=%d HTTP/1.1\r\nHost: broker-a:10911\r\nAccept: */*\r\n\r\n" % number
        body = (
            json.dumps({"code": number, "flag": 0, "opaque": number, "version": 513}).encode() * 9
        )
        sent.append(Text(True, now, ask))
        head = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(body)
        )
        sent.append(Text(False, now + MS, head + body))
        now += int(chance.random() * (end - start) / 40) + 2 * MS
    dialogue.sent = sent


def replication(chance: random.Random, dialogue: Dialogue, start: int, end: int) -> None:
    """A slave reads the commit log of its master: offsets of 8 bytes, blocks with 12 bytes in front."""
    now = start
    offset = chance.randrange(1 << 42)
    sent: list[Frame | Text] = [Text(True, now, struct.pack(">q", offset))]
    for _ in range(chance.randrange(5, 80)):
        data = chance.randbytes(chance.randrange(0, 6000))
        now += int(chance.random() * (end - start) / 80)
        sent.append(Text(False, now, struct.pack(">qi", offset, len(data)) + data))
        offset += len(data)
        sent.append(Text(True, now + 300 * US, struct.pack(">q", offset)))
    dialogue.sent = sent


FOREIGN: Final[tuple[tuple[int, Callable[[random.Random, Dialogue, int, int], None]], ...]] = (
    (8081, grpc),
    (10911, tls),
    (10911, http),
    (10912, replication),
)
"""Other protocols, and the port of the server."""

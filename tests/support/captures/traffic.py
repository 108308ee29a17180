"""Conversations of peers: connections with frames in both directions, as bytes, before a network
carries them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode


@dataclass(slots=True)
class Utterance:
    """A message of one side.

    Attributes:
        client: whether the client sends it.
        time_ns: time.
        data: the bytes; a frame or other bytes.
        is_frame: whether it is a frame.
    """

    client: bool
    time_ns: int
    data: bytes
    is_frame: bool = True


@dataclass(slots=True)
class Dialogue:
    """A connection.

    Attributes:
        client: address and port.
        server: address and port.
        utterances: in the order of time.
        has_start: whether the capture holds its SYN.
        opening: bytes before the first frame of the client (a PROXY header).
    """

    client: tuple[str, int]
    server: tuple[str, int]
    utterances: list[Utterance] = field(default_factory=list[Utterance])
    has_start: bool = True
    opening: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The kind of traffic.

    Attributes:
        connections: number of connections.
        exchanges: requests of each, on average.
        body: bytes of a message, smallest and largest.
        pulled: messages in the response to a pull, at most.
        seconds: duration of the capture.
        foreign: share of connections with another protocol.
        ipv6: share of connections by IPv6.
        midway: share of connections that began before the capture.
    """

    connections: int
    exchanges: int
    body: tuple[int, int]
    pulled: int = 8
    seconds: float = 20.0
    foreign: float = 0.07
    ipv6: float = 0.1
    midway: float = 0.1


MIXED = Profile(connections=1200, exchanges=95, body=(64, 2500), pulled=10)
CHATTY = Profile(connections=2000, exchanges=148, body=(16, 200), pulled=2)
BULK = Profile(connections=400, exchanges=94, body=(1500, 14000), pulled=6)
_LANGUAGES = (LanguageCode.JAVA,) * 7 + (LanguageCode.GO, LanguageCode.RUST, LanguageCode.CPP)
_BROKER_VERSION = 513


class Speaker:
    """Generates the messages of a connection.

    Args:
        chance: source of all randomness.
        profile: the kind of traffic.
    """

    def __init__(self, chance: random.Random, profile: Profile) -> None:
        self._chance = chance
        self._profile = profile
        self._opaque = chance.choice((chance.randrange(1, 5000), (1 << 31) - 5))
        self._server_opaque = chance.randrange(1, 5000)
        self._language = chance.choice(_LANGUAGES)
        self._binary = SerializeType.ROCKETMQ if chance.random() < 0.05 else SerializeType.JSON
        self._group = f"group_{chance.randrange(60)}"
        self._topic = f"topic-{chance.randrange(80)}"
        self._filler = chance.randbytes(4096) * 8

    def speak(self, dialogue: Dialogue, start: int, end: int) -> None:
        """Fill a dialogue with exchanges between two times."""
        chance = self._chance
        count = max(1, int(chance.expovariate(1 / self._profile.exchanges)))
        count = min(count, self._profile.exchanges * 12)
        for _ in range(count):
            self._exchange(dialogue, chance.randrange(start, end))
        dialogue.utterances.sort(key=lambda utterance: utterance.time_ns)

    def _exchange(self, dialogue: Dialogue, now: int) -> None:
        chance = self._chance
        choice = chance.random()
        if choice < 0.45:
            self._send(dialogue, now)
        elif choice < 0.75:
            self._pull(dialogue, now)
        elif choice < 0.85:
            self._simple(dialogue, now, RequestCode.HEART_BEAT, {}, self._text(300))
        elif choice < 0.92:
            self._simple(
                dialogue, now, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": self._topic}, b""
            )
        elif choice < 0.96:
            fields = {
                "consumerGroup": self._group,
                "topic": self._topic,
                "queueId": "1",
                "commitOffset": "77",
            }
            self._oneway(dialogue, now, RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        else:
            self._from_broker(dialogue, now)

    def _text(self, limit: int) -> bytes:
        count = self._chance.randrange(limit)
        begin = self._chance.randrange(4096)
        return self._filler[begin : begin + count]

    def _body(self) -> bytes:
        low, high = self._profile.body
        return self._filler[: self._chance.randrange(low, high)]

    def _next(self) -> int:
        self._opaque = self._opaque + 1 if self._opaque < (1 << 31) - 1 else -(1 << 31)
        return self._opaque

    def _frame(self, code: int, opaque: int, flag: int = 0, **fields: Any) -> bytes:
        return encode(
            RemotingCommand(
                code=code,
                language=self._language,
                version=_BROKER_VERSION,
                opaque=opaque,
                flag=flag,
                serialize_type=self._binary,
                **fields,
            )
        )

    def _answer(
        self, dialogue: Dialogue, now: int, opaque: int, *, client: bool, code: int = 0,
        body: bytes | None = None, fields: dict[str, str] | None = None, remark: str | None = None,
    ) -> None:  # fmt: skip
        data = self._frame(
            code, opaque, int(CommandFlag.RESPONSE), body=body, ext_fields=fields, remark=remark
        )
        dialogue.utterances.append(Utterance(client, now, data))

    def _send(self, dialogue: Dialogue, now: int) -> None:
        chance = self._chance
        opaque = self._next()
        fields = {
            "a": self._group, "b": self._topic, "c": "TBW102", "d": "4",
            "e": str(chance.randrange(8)), "f": "0", "g": str(now // 1_000_000), "h": "0",
            "j": "0", "k": "false", "m": "false",
            "i": "KEYS\x01order-17\x02UNIQ_KEY\x017F00000100012A139A55\x02WAIT\x01true\x02",
            "n": "broker-a",
        }  # fmt: skip
        code = (
            RequestCode.SEND_BATCH_MESSAGE if chance.random() < 0.1 else RequestCode.SEND_MESSAGE_V2
        )
        dialogue.utterances.append(
            Utterance(True, now, self._frame(code, opaque, ext_fields=fields, body=self._body()))
        )
        later = now + chance.randrange(200_000, 9_000_000)
        if chance.random() < 0.02:
            busy = "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while"
            self._answer(
                dialogue, later, opaque, client=False, code=ResponseCode.SYSTEM_BUSY, remark=busy
            )
            return
        answer = {
            "msgId": "7F00000100002A9F0000000000000A1C",
            "queueId": fields["e"],
            "queueOffset": "1234",
        }
        self._answer(dialogue, later, opaque, client=False, fields=answer)

    def _pull(self, dialogue: Dialogue, now: int) -> None:
        chance = self._chance
        opaque = self._next()
        fields = {
            "consumerGroup": self._group, "topic": self._topic, "queueId": str(chance.randrange(8)),
            "queueOffset": "5120", "maxMsgNums": "32", "sysFlag": "6", "commitOffset": "5119",
            "suspendTimeoutMillis": "15000", "subscription": "*",
            "subVersion": str(now // 1_000_000), "expressionType": "TAG",
        }  # fmt: skip
        dialogue.utterances.append(
            Utterance(True, now, self._frame(RequestCode.PULL_MESSAGE, opaque, ext_fields=fields))
        )
        answer = {
            "suggestWhichBrokerId": "0",
            "nextBeginOffset": "5121",
            "minOffset": "0",
            "maxOffset": "5121",
        }
        if chance.random() < 0.3:
            later = now + chance.randrange(1_000_000_000, 5_000_000_000)
            self._answer(
                dialogue,
                later,
                opaque,
                client=False,
                code=ResponseCode.PULL_NOT_FOUND,
                fields=answer,
            )
            return
        body = b"".join(self._body() for _ in range(chance.randrange(1, self._profile.pulled + 1)))
        later = now + chance.randrange(200_000, 5_000_000)
        self._answer(dialogue, later, opaque, client=False, fields=answer, body=body)

    def _simple(
        self, dialogue: Dialogue, now: int, code: int, fields: dict[str, str], body: bytes
    ) -> None:
        opaque = self._next()
        dialogue.utterances.append(
            Utterance(True, now, self._frame(code, opaque, ext_fields=fields, body=body))
        )
        later = now + self._chance.randrange(100_000, 3_000_000)
        self._answer(dialogue, later, opaque, client=False, body=self._text(900))

    def _oneway(self, dialogue: Dialogue, now: int, code: int, fields: dict[str, str]) -> None:
        data = self._frame(code, self._next(), int(CommandFlag.ONEWAY), ext_fields=fields)
        dialogue.utterances.append(Utterance(True, now, data))

    def _from_broker(self, dialogue: Dialogue, now: int) -> None:
        self._server_opaque += 1
        fields = {"consumerGroup": self._group}
        if self._chance.random() < 0.5:
            code, flag = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, int(CommandFlag.ONEWAY)
            data = self._frame(code, self._server_opaque, flag, ext_fields=fields)
            dialogue.utterances.append(Utterance(False, now, data))
            return
        code = RequestCode.GET_CONSUMER_RUNNING_INFO
        data = self._frame(code, self._server_opaque, ext_fields=fields)
        dialogue.utterances.append(Utterance(False, now, data))
        later = now + self._chance.randrange(1_000_000, 30_000_000)
        self._answer(dialogue, later, self._server_opaque, client=True, body=self._text(2000))


_HTTP = b"GET /metrics HTTP/1.1\r\nHost: broker\r\nAccept: */*\r\n\r\n"
_HTTP_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n"
    b'{"code":1,"flag":"x","o":{}}'
)


def _foreign(chance: random.Random, dialogue: Dialogue, start: int, end: int) -> None:
    for _ in range(chance.randrange(1, 40)):
        now = chance.randrange(start, end)
        if dialogue.server[1] == 10911:
            dialogue.utterances.append(Utterance(True, now, _HTTP, is_frame=False))
            dialogue.utterances.append(
                Utterance(False, now + 900_000, _HTTP_ANSWER, is_frame=False)
            )
            continue
        for client in (True, False):
            record = b"\x16\x03\x01" if not dialogue.utterances else b"\x17\x03\x03"
            text = chance.randbytes(chance.randrange(40, 2000))
            data = record + len(text).to_bytes(2, "big") + text
            dialogue.utterances.append(Utterance(client, now, data, is_frame=False))
    dialogue.utterances.sort(key=lambda utterance: utterance.time_ns)


def dialogues(profile: Profile, seed: int) -> list[Dialogue]:
    """Make up all connections of a capture."""
    chance = random.Random(seed)
    start = 1_700_000_000_000_000_000
    end = start + int(profile.seconds * 1e9)
    result: list[Dialogue] = []
    for number in range(profile.connections):
        six = chance.random() < profile.ipv6
        client = (
            f"2001:db8::{number % 250 + 1:x}:1"
            if six
            else f"10.1.{number // 250}.{number % 250 + 1}"
        )
        host = number % 4
        server = f"2001:db8:1::{host + 1:x}" if six else f"10.9.0.{host + 1}"
        port = chance.choice((10911, 10911, 10911, 9876, 30911))
        dialogue = Dialogue((client, 20_000 + number), (server, port))
        dialogue.has_start = chance.random() >= profile.midway
        begin = start + chance.randrange((end - start) // 3)
        if chance.random() < profile.foreign:
            _foreign(chance, dialogue, begin, end)
        else:
            if dialogue.has_start and chance.random() < 0.03:
                dialogue.opening = b"PROXY TCP4 1.2.3.4 10.9.0.1 4711 10911\r\n"
            Speaker(chance, profile).speak(dialogue, begin, end)
        result.append(dialogue)
    return result

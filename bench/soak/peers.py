"""The peers of a name server: brokers that register each second and are sometimes killed, clients
that come and go, an administrator, and peers that send invalid bytes or stop reading.

Rules of this file: one trio task each; a peer counts its closed connections, and reconnects.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Final

import trio

from bench.namesrv import routes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TOPICS: Final = 5_000
CHANGING: Final = 100
LAYOUTS: Final = 50
REGISTER_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 60.0
KILLED: Final = 1 / 30
"""Share of the registrations after, or in the midst of which a broker is killed."""
HEADERS: Final = 16_384 + 1_000
"""As many topics are asked for at the beginning as fill what the server remembers of headers."""
BATCH: Final = 100
KV_FIELDS: Final = {"namespace": "soak", "key": "k"}

_chance = random.Random()


class LostError(Exception):
    """The server ended the connection, or answered with an error."""


class Wire:
    """A connection to the server."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._received = bytearray()

    @classmethod
    async def open(cls, port: int) -> Wire:
        """Connect."""
        return cls(await trio.open_tcp_stream("127.0.0.1", port))

    async def ask(self, frame: bytes, *fine: int) -> None:
        """Send a request and wait for its answer; raises ``LostError`` unless its code is 0 or
        among ``fine``."""
        header: dict[str, object] = {}
        with trio.move_on_after(ANSWER_SECONDS) as scope:
            await self.stream.send_all(frame)
            header = await self.answer()
        if scope.cancelled_caught:
            raise LostError(f"no answer within {ANSWER_SECONDS:g} s")
        if header["code"] not in {0, *fine}:
            raise LostError(str(header))

    async def answer(self) -> dict[str, object]:
        """The header of the next answer."""
        while True:
            if len(self._received) >= 8:
                length, mark = struct.unpack_from(">II", self._received)
                if len(self._received) >= 4 + length:
                    header: dict[str, object] = json.loads(
                        self._received[8 : 8 + (mark & 0xFFFFFF)]
                    )
                    del self._received[: 4 + length]
                    return header
            data = await self.stream.receive_some(65_536)
            if not data:
                raise LostError("closed")
            self._received += data

    async def die(self) -> str:
        """End without a word: with RST or FIN, as chance has it."""
        how = _chance.choice(("RST", "FIN"))
        if how == "RST":
            linger = struct.pack("ii", 1, 0)
            self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        await self.stream.aclose()
        return how


class Crowd:
    """All peers, with their counts.

    Attributes:
        counts: number of events by their name.
    """

    def __init__(self, port: int) -> None:
        self.counts: Counter[str] = Counter()
        self._port = port

    async def fill_what_is_bounded(self) -> None:
        """Let the server reach its limits of what it remembers, so that this is not taken for
        growth."""
        wire = await Wire.open(self._port)
        for start in range(0, HEADERS, BATCH):
            numbers = range(start, start + BATCH)
            await wire.stream.send_all(
                b"".join(routes.route_request(f"Unknown-{number}") for number in numbers)
            )
            for _ in numbers:
                await wire.answer()
        await wire.stream.aclose()

    def everybody(self, nursery: trio.Nursery, *, brokers: int, clients: int) -> None:
        """Let them all begin."""
        for number in range(brokers):
            nursery.start_soon(self._broker, number, brokers)
        for _ in range(clients):
            nursery.start_soon(self._for_ever, self._client)
        for junk in (_junk_text, _junk_bytes, _junk_tls, _junk_length, _junk_header, _half_a_frame):
            nursery.start_soon(self._nuisance, junk)
        for _ in range(4):
            nursery.start_soon(self._deaf)
        nursery.start_soon(self._for_ever, self._administrator)

    async def _for_ever(self, life: Callable[[Wire], Awaitable[None]]) -> None:
        while True:
            wire = await Wire.open(self._port)
            try:
                await life(wire)
            except (LostError, trio.BrokenResourceError) as error:
                self.counts[f"lost: {error}"] += 1
            self.counts[f"clients killed ({await wire.die()})"] += 1

    async def _broker(self, number: int, brokers: int) -> None:
        broker = routes.wide_brokers(brokers)[number]
        topics = _Topics(packed=number % 4 == 0)
        await trio.sleep(number / brokers * REGISTER_SECONDS)
        while True:
            wire = await Wire.open(self._port)
            try:
                while True:
                    due = trio.current_time() + REGISTER_SECONDS
                    topics.change()
                    frame = routes.registration(broker, topics.body(), 1)
                    if _chance.random() < KILLED / 2:
                        await wire.stream.send_all(frame[: len(frame) // 2])
                        break
                    await wire.ask(frame)
                    self.counts["registrations"] += 1
                    await trio.sleep_until(due)
                    if _chance.random() < KILLED / 2:
                        break
            except (LostError, trio.BrokenResourceError) as error:
                self.counts[f"broker lost: {error}"] += 1
            self.counts[f"brokers killed ({await wire.die()})"] += 1

    async def _client(self, wire: Wire) -> None:
        for _ in range(_chance.randrange(4)):
            topic = routes.topic_name(routes.WIDE.format, _chance.randrange(TOPICS))
            await wire.ask(routes.route_request(topic), 17)
            await trio.sleep(_chance.random())
        if _chance.random() < 0.3:
            await wire.stream.send_all(routes.route_request("half")[:20])

    async def _nuisance(self, junk: Callable[[], bytes]) -> None:
        while True:
            wire = await Wire.open(self._port)
            with trio.move_on_after(2):
                try:
                    await wire.stream.send_all(junk())
                    while await wire.stream.receive_some(65_536):
                        pass
                except trio.BrokenResourceError:
                    pass
            await wire.die()
            self.counts["junk connections"] += 1
            await trio.sleep(_chance.random() / 2)

    async def _deaf(self) -> None:
        """Asks and never listens."""
        frames = b"".join(
            routes.route_request(routes.topic_name(routes.WIDE.format, index))
            for index in range(2_000)
        )
        while True:
            wire = await Wire.open(self._port)
            with trio.move_on_after(5):
                try:
                    await wire.stream.send_all(frames)
                    await trio.sleep_forever()
                except trio.BrokenResourceError:
                    pass
            await wire.die()
            self.counts["stalled readers"] += 1

    async def _administrator(self, wire: Wire) -> None:
        number = 0
        while True:
            number += 1
            topic = {"topic": f"Passing-{number}"}
            queue = {"brokerName": "wide-001", "perm": 6, "readQueueNums": 1, "writeQueueNums": 1}
            for code, fields, body in (
                (100, {**KV_FIELDS, "value": str(number)}, b""),
                (102, KV_FIELDS, b""),
                (217, topic, json.dumps({"queueDatas": [queue]}).encode()),
                (216, topic, b""),
                (205, {"brokerName": "wide-002"}, b""),
                (327, {"brokerName": "wide-002"}, b""),
            ):
                await wire.ask(routes.request(code, fields, 1, body or None))
            self.counts["rounds of the administrator"] += 1
            await trio.sleep(REGISTER_SECONDS)


class _Topics:
    """The topics of a broker, which change a little each time.

    Some hundred layouts exist from the start, and the same topics change each time, so that the
    server's state does not grow.
    """

    def __init__(self, *, packed: bool) -> None:
        self._packed = packed
        self._names = [routes.topic_name(routes.WIDE.format, index) for index in range(TOPICS)]
        self._texts = self._mixed()
        self._counter = 1

    def change(self) -> None:
        """Change nothing, one topic or, seldom, all."""
        dice = _chance.random()
        if dice < 0.6:
            return
        self._counter += 1
        if dice < 0.97:
            index = _chance.randrange(CHANGING)
            self._texts[index] = _topic(self._names[index], _chance.choice((4, 8)))
        else:
            self._texts = self._mixed()

    def _mixed(self) -> list[bytes]:
        queues = [_chance.choice((4, 8)) for _ in range(LAYOUTS)]
        return [_topic(name, queues[index % LAYOUTS]) for index, name in enumerate(self._names)]

    def body(self) -> bytes:
        """The body of a registration."""
        version = b'{"counter":%d,"stateVersion":0,"timestamp":1700000000000}' % self._counter
        if not self._packed:
            return (
                b'{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":%b,'
                b'"topicConfigTable":{%b},'
                b'"topicQueueMappingInfoMap":{}}}' % (version, b",".join(self._texts))
            )
        topics = [json.loads(b"{%b}" % text) for text in self._texts]
        lines = [
            f"{name} {queue['readQueueNums']} {queue['writeQueueNums']} 6 SINGLE_TAG {{}}".encode()
            for topic in topics
            for name, queue in topic.items()
        ]
        sized = b"".join(struct.pack(">i", len(line)) + line for line in lines)
        head = struct.pack(">i", len(version)) + version + struct.pack(">i", len(lines))
        return zlib.compress(head + sized + struct.pack(">i", 2) + b"[]" + struct.pack(">i", 0), 1)


def _topic(name: str, queues: int) -> bytes:
    return (
        f'"{name}":{{"attributes":{{}},"order":false,"perm":6,"readQueueNums":{queues},'
        f'"topicFilterType":"SINGLE_TAG",'
        f'"topicName":"{name}","topicSysFlag":0,"writeQueueNums":{queues}}}'
    ).encode()


def _junk_text() -> bytes:
    return b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def _junk_bytes() -> bytes:
    return _chance.randbytes(_chance.randrange(1, 4_000))


def _junk_tls() -> bytes:
    return b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + _chance.randbytes(100)


def _junk_length() -> bytes:
    return struct.pack(">II", 0x7FFFFFFF, 10)


def _junk_header() -> bytes:
    return struct.pack(">II", 24, 20) + b'{"code":105,"flag":]'


def _half_a_frame() -> bytes:
    frame = routes.route_request("half", body=b"x" * 100_000)
    return frame[: _chance.randrange(1, len(frame))]

"""Simulated brokers: their connections, and registrations at a rate.

A latency counts from the time when its registration was due, as in ``loadgen``.
"""

from __future__ import annotations

import json
import selectors
import socket
import struct
import time
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from bench.namesrv import routes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.namesrv.routes import Broker

ANSWER_SECONDS: Final = 60.0
"""Timeout of an answer; a JVM's first registration of many topics takes seconds."""
DRAIN_SECONDS: Final = 20.0
"""Timeout of the last answers of a measurement."""
BEAT_SECONDS: Final = 20.0
"""Between two heartbeats; the servers close a connection after 120 s of silence."""
_READ_SIZE: Final = 65_536


class FeedError(Exception):
    """The server closed a broker's connection, or rejected its registration."""


class Link:
    def __init__(self, port: int, broker: Broker) -> None:
        self.broker = broker
        self.stream = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.waiting: dict[int, float] = {}
        """Due time of each request without a response, by opaque."""
        self.latencies: list[float] = []
        """Seconds."""
        self._step = 0
        self._opaque = 0
        self._out = bytearray()
        self._in = bytearray()

    def reset(self) -> None:
        self._step, self.latencies = 1, []

    def call(self, frame: bytes) -> None:
        self.stream.setblocking(True)
        self.stream.settimeout(ANSWER_SECONDS)
        self.waiting[self._opaque] = time.monotonic()
        self.stream.sendall(frame)
        while self.waiting:
            self.receive()

    def register(self, body: bytes) -> None:
        self.call(routes.registration(self.broker, body, self._next()))

    def beat(self) -> None:
        self.call(routes.heartbeat(self.broker, self._next()))

    def _next(self) -> int:
        self._opaque += 1
        return self._opaque

    def queue(self, bodies: Sequence[bytes], due: float) -> None:
        body = bodies[self._step % len(bodies)]
        self._step += 1
        opaque = self._next()
        self._out += routes.registration(self.broker, body, opaque)
        self.waiting[opaque] = due

    @property
    def has_output(self) -> bool:
        return bool(self._out)

    def send(self) -> None:
        if self._out:
            try:
                del self._out[: self.stream.send(self._out)]
            except BlockingIOError:
                return

    def receive(self) -> None:
        try:
            data = self.stream.recv(_READ_SIZE)
        except BlockingIOError:
            return
        if not data:
            raise FeedError(f"the server closed the connection of {self.broker.name}")
        self._in += data
        while len(self._in) >= 8:
            length, header = struct.unpack_from(">II", self._in)
            if len(self._in) < 4 + length:
                break
            self._take(bytes(self._in[8 : 8 + header]))
            del self._in[: 4 + length]

    def _take(self, header: bytes) -> None:
        fields = json.loads(header)
        if not int(fields["flag"]) & 1 or int(fields["code"]):
            raise FeedError(f"{self.broker.name} got {header.decode('utf-8', 'replace')}")
        self.latencies.append(time.monotonic() - self.waiting.pop(int(fields["opaque"])))

    def close(self) -> None:
        self.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Fed(NamedTuple):
    answers: int
    p99: float
    """Milliseconds."""


def feed(links: Sequence[Link], bodies: Sequence[bytes], *, rate: float, seconds: float) -> Fed:
    """Register with all links in turn, at a rate; the first of the bodies is registered already."""
    with selectors.DefaultSelector() as selector:
        for link in links:
            link.reset()
            link.stream.setblocking(False)
            selector.register(link.stream, selectors.EVENT_READ, link)
        start = time.monotonic()
        for turn in range(round(rate * seconds)):
            due = start + turn / rate
            while time.monotonic() < due:
                _pump(selector, links, due)
            links[turn % len(links)].queue(bodies, due)
            _pump(selector, links, due)
        limit = time.monotonic() + DRAIN_SECONDS
        while any(link.waiting for link in links):
            if time.monotonic() > limit:
                raise FeedError("not all registrations were answered in time")
            _pump(selector, links, limit)
    latencies = sorted(latency * 1e3 for link in links for latency in link.latencies)
    return Fed(len(latencies), latencies[int(0.99 * (len(latencies) - 1))])


def _pump(selector: selectors.BaseSelector, links: Sequence[Link], until: float) -> None:
    for link in links:
        link.send()
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if link.has_output else 0)
        if selector.get_key(link.stream).events != mask:
            selector.modify(link.stream, mask, link)
    for key, events in selector.select(max(0.0, until - time.monotonic())):
        if events & selectors.EVENT_READ:
            key.data.receive()


class Brokers:
    def __init__(self, port: int) -> None:
        self._port = port
        self._links: list[Link] = []
        self._beaten = time.monotonic()

    def register(self, brokers: Sequence[tuple[Broker, bytes]]) -> None:
        for broker, body in brokers:
            link = Link(self._port, broker)
            self._links.append(link)
            link.register(body)

    def beat(self) -> None:
        """Send heartbeats, if it is time for them; call this between measurements."""
        if time.monotonic() - self._beaten > BEAT_SECONDS:
            self._beaten = time.monotonic()
            for link in self._links:
                link.beat()

    def prime(self, change: str, form: str, count: int) -> list[Link]:
        links = [link for link in self._links if link.broker.name.startswith("wide")][:count]
        for link in links:
            link.register(routes.wide_bodies(change, form)[0])
        return links

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for link in self._links:
            link.close()

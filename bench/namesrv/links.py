"""Connections of brokers that are only pretended: registrations at a rate, and how long their
answers take.

Rules of this file: one thread; sockets do not block while a rate is held; a latency counts from
when its registration was due, as in ``loadgen``.
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
"""For one answer outside a measurement; a JVM's first registration of many topics takes seconds."""
DRAIN_SECONDS: Final = 20.0
"""For the answers that are missing when a measurement's time is up."""
_READ_SIZE: Final = 65_536


class FeedError(Exception):
    """The server closed a broker's connection, or did not take its registration."""


class Fed(NamedTuple):
    """How a feed went.

    Attributes:
        answers: registrations answered with code 0.
        failed: answered with another code.
        unsent: were due, but the socket had not taken their first byte when the time was up.
        missing: sent and not answered in good time.
        seconds: from the first that was due to the last answer.
        p50: of the answers' latencies, in milliseconds.
        p99: the same.
        longest: the same.
    """

    answers: int
    failed: int
    unsent: int
    missing: int
    seconds: float
    p50: float
    p99: float
    longest: float


class Link:
    """The connection of a broker, to which its registrations are bound.

    Attributes:
        broker: the broker that registers over it.
        stream: the socket.
        waiting: due time of each registration without a response, by opaque.
        step: index of its next body.
        latencies: of the responses with code 0, in seconds.
        failed: number of responses with another code.
        refusal: the header of the last of these.
        unsent: registrations that ``forget_unsent`` dropped.
    """

    def __init__(self, port: int, broker: Broker) -> None:
        self.broker = broker
        self.stream = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.waiting: dict[int, float] = {}
        self.step = 0
        self.latencies: list[float] = []
        self.failed = 0
        self.refusal = ""
        self.unsent = 0
        self._out: list[tuple[int, memoryview]] = []
        self._begun = False
        self._in = bytearray()
        self._opaque = 0

    def reset(self) -> None:
        """Begin a measurement."""
        self.step, self.failed, self.unsent, self.latencies = 1, 0, 0, []

    def call(self, frame: bytes) -> None:
        """Send one request and wait for its answer; raises ``FeedError`` unless that is a
        success."""
        self.stream.setblocking(True)
        self.stream.settimeout(ANSWER_SECONDS)
        self.stream.sendall(frame)
        self.waiting[self._opaque] = time.monotonic()
        failed = self.failed
        while self.waiting:
            self.receive()
        if self.failed != failed:
            raise FeedError(f"{self.broker.name} was refused: {self.refusal}")

    def register(self, body: bytes) -> None:
        """Register and wait."""
        self.call(routes.registration(self.broker, body, self._next()))

    def beat(self) -> None:
        """Say that the broker is alive, and wait."""
        self.call(routes.heartbeat(self.broker, self._next()))

    def _next(self) -> int:
        self._opaque += 1
        return self._opaque

    def queue(self, bodies: Sequence[bytes], due: float) -> None:
        """Let the next of these bodies go out when the socket takes it."""
        body = bodies[self.step % len(bodies)]
        self.step += 1
        opaque = self._next()
        self._out.append((opaque, memoryview(routes.registration(self.broker, body, opaque))))
        self.waiting[opaque] = due

    def forget_unsent(self) -> None:
        """Drop what has not begun to go out."""
        kept = 1 if self._begun else 0
        for opaque, _ in self._out[kept:]:
            del self.waiting[opaque]
            self.unsent += 1
        del self._out[kept:]

    @property
    def wants_out(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._out)

    def send(self) -> None:
        """Send what the socket takes."""
        while self._out:
            opaque, frame = self._out[0]
            try:
                sent = self.stream.send(frame)
            except BlockingIOError:
                return
            self._begun = sent < len(frame)
            if self._begun:
                self._out[0] = (opaque, frame[sent:])
            else:
                del self._out[0]

    def receive(self) -> int:
        """Read once; returns how many answers that completed."""
        try:
            data = self.stream.recv(_READ_SIZE)
        except BlockingIOError:
            return 0
        if not data:
            raise FeedError(f"the server closed the connection of {self.broker.name}")
        self._in += data
        count = 0
        while len(self._in) >= 8:
            length, header = struct.unpack_from(">II", self._in)
            if len(self._in) < 4 + length:
                break
            self._take(bytes(self._in[8 : 8 + header]))
            del self._in[: 4 + length]
            count += 1
        return count

    def _take(self, header: bytes) -> None:
        fields = json.loads(header)
        due = self.waiting.pop(int(fields["opaque"]), None)
        if not int(fields["flag"]) & 1:
            raise FeedError(f"{self.broker.name} was sent {fields}, which answers nothing")
        if due is None:  # so late that its measurement is over
            return
        if int(fields["code"]) == 0:
            self.latencies.append(time.monotonic() - due)
        else:
            self.failed += 1
            self.refusal = header.decode("utf-8", "replace")

    def close(self) -> None:
        """Close the connection, at which the server forgets the broker."""
        self.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def feed(links: Sequence[Link], bodies: Sequence[bytes], *, rate: float, seconds: float) -> Fed:
    """Register with all links in turn.

    Args:
        links: each has registered the first of the bodies before.
        bodies: what each registers in turn, from the second on.
        rate: registrations a second over all links; 0 keeps one under way on each.
        seconds: how long.

    Raises:
        FeedError: the server closed a connection.
    """
    with selectors.DefaultSelector() as selector:
        for link in links:
            link.reset()
            link.stream.setblocking(False)
            selector.register(link.stream, selectors.EVENT_READ, link)
        start = time.monotonic()
        if rate > 0:
            _hold_rate(selector, links, bodies, rate, start + seconds)
        else:
            for link in links:
                link.queue(bodies, start)
            while time.monotonic() < start + seconds:
                _pump(selector, links, start + seconds, bodies)
        for link in links:
            link.forget_unsent()
        limit = time.monotonic() + DRAIN_SECONDS
        while any(link.waiting for link in links) and time.monotonic() < limit:
            _pump(selector, links, limit)
        took = time.monotonic() - start
    return _result(links, took)


def _hold_rate(
    selector: selectors.BaseSelector,
    links: Sequence[Link],
    bodies: Sequence[bytes],
    rate: float,
    end: float,
) -> None:
    due, turn = time.monotonic(), 0
    while due < end:
        if time.monotonic() >= due:
            links[turn % len(links)].queue(bodies, due)
            turn += 1
            due += 1 / rate
        _pump(selector, links, due)
    while time.monotonic() < end:
        _pump(selector, links, end)


def _pump(
    selector: selectors.BaseSelector,
    links: Sequence[Link],
    until: float,
    bodies: Sequence[bytes] | None = None,
) -> None:
    """Send and receive what is possible, or wait for that; with ``bodies`` each answer begins the
    next."""
    for link in links:
        link.send()
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if link.wants_out else 0)
        if selector.get_key(link.stream).events != mask:
            selector.modify(link.stream, mask, link)
    for key, events in selector.select(max(0.0, until - time.monotonic())):
        link = key.data
        if events & selectors.EVENT_READ and link.receive() and bodies is not None:
            link.queue(bodies, time.monotonic())


def _result(links: Sequence[Link], seconds: float) -> Fed:
    latencies = sorted(latency * 1e3 for link in links for latency in link.latencies)
    missing = sum(len(link.waiting) for link in links)
    for link in links:
        link.waiting.clear()

    def at(share: float) -> float:
        return latencies[min(len(latencies) - 1, int(share * len(latencies)))] if latencies else 0.0

    failed = sum(link.failed for link in links)
    unsent = sum(link.unsent for link in links)
    return Fed(len(latencies), failed, unsent, missing, seconds, at(0.5), at(0.99), at(1.0))

"""What is counted of requests: how many of each code, how they were answered, their bytes, and how long they took.

Rules of this file: no clock of its own.  Counting costs a few additions per request; the short way
to routes (``route_fast_path``) pays two per batch of requests, and is timed now and then only, by its driver.

Java: ``RemotingMetricsManager`` has the histogram of broker and proxy; its name server counts
nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, TypeVarTuple

from rocketwire.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

__all__ = [
    "BUCKETS_MS",
    "ONEWAY",
    "ROUTE_FOUND",
    "UNKNOWN",
    "Counters",
    "Histogram",
    "RequestKind",
    "TimedWork",
]

BUCKETS_MS: Final = (
    *(0.01, 0.03, 0.1, 0.3),  # ours: most answers take less than Java's first bucket
    *(1.0, 3.0, 5.0, 7.0, 10.0, 100.0, 1000.0, 2000.0, 3000.0),  # Java's
)
"""Upper bounds of the classes of durations, in milliseconds."""

UNKNOWN: Final = -1
"""Stands for every request code that the server has no handler for."""
ONEWAY: Final = -1
"""Stands for the answer that a oneway request does not get."""

_ROUTE: Final = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)


class RequestKind(NamedTuple):
    """What requests are counted by.

    Attributes:
        request: code, or ``UNKNOWN``.
        response: code of the answer, or ``ONEWAY``.
    """

    request: int
    response: int


ROUTE_FOUND: Final = RequestKind(_ROUTE, int(ResponseCode.SUCCESS))


class TimedWork(StrEnum):
    """What is timed beside requests, by the names of its metric; nothing of it is timed unless
    somebody asks for metrics."""

    REGISTRATION_DECODE = "registration_decode_latency"
    EXPIRY_SCAN = "expiry_scan_duration"
    KV_PERSIST = "kv_persist_latency"


class Histogram:
    """Durations of requests, or work, of one kind.

    Attributes:
        counts: per class of ``BUCKETS_MS``, and one for what is above them all.
        total_ms: their sum.
    """

    __slots__ = ("counts", "total_ms")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_MS) + 1)
        self.total_ms = 0.0

    def merge(self, other: Histogram) -> None:
        """Take note of what another one has noted."""
        self.counts = [one + more for one, more in zip(self.counts, other.counts, strict=True)]
        self.total_ms += other.total_ms

    def add(self, seconds: float, weight: int = 1) -> None:
        """Take note of a request, which stands for ``weight`` of them."""
        milliseconds = seconds * 1000
        self.counts[bisect_left(BUCKETS_MS, milliseconds)] += weight
        self.total_ms += milliseconds * weight


class Counters:
    """The counters of one server.

    Attributes:
        clock: gives seconds; None where durations are of no interest.
        routes: route requests answered the short way, all of them successfully.
        route_bytes: of these answers.
        requests: all other requests by kind.
        received: bytes of bodies of these requests by code, where there are any.
        sent: bytes of their answers by request code.
        durations: by kind; of ``routes`` extrapolated from those that were timed.
        works: durations of other work.
    """

    __slots__ = (
        "_routes_timed",
        "clock",
        "durations",
        "received",
        "requests",
        "route_bytes",
        "routes",
        "sent",
        "works",
    )

    def __init__(self) -> None:
        self._routes_timed = 0
        self.clock: Callable[[], float] | None = None
        self.routes = 0
        self.route_bytes = 0
        self.requests: dict[RequestKind, int] = {}
        self.received: dict[int, int] = {}
        self.sent: dict[int, int] = {}
        self.durations: dict[RequestKind, Histogram] = {}
        self.works = {work: Histogram() for work in TimedWork}

    def begin(self) -> float:
        """When a request or work begins; to be given to ``answered`` or ``took``."""
        return 0.0 if self.clock is None else self.clock()

    def took(self, work: TimedWork, began: float) -> None:
        """Take note of work that ends now.

        Args:
            work: what it was.
            began: what ``begin`` gave.
        """
        if self.clock is not None:
            self.works[work].add(self.clock() - began)

    def answered(self, kind: RequestKind, received: int, sent: int, began: float) -> None:
        """Count a request that has been handled in the general way.

        Args:
            kind: codes of request and answer; of few different kinds.
            received: bytes of its body.
            sent: bytes of the answer.
            began: what ``begin`` gave.
        """
        self.requests[kind] = self.requests.get(kind, 0) + 1
        if received:
            self.received[kind.request] = self.received.get(kind.request, 0) + received
        if sent:
            self.sent[kind.request] = self.sent.get(kind.request, 0) + sent
        if self.clock is not None:
            self._histogram(kind).add(self.clock() - began)

    def timed(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Do some work; if it answers route requests the short way and nothing else, take the time.

        It stands for all that were answered so since the last time, so that the histogram counts
        every request.
        """
        if self.clock is None:
            return work(*arguments)
        before, others, began = self.routes, self._others(), self.clock()
        result = work(*arguments)
        batch = self.routes - before
        if batch and self._others() == others:
            weight = self.routes - self._routes_timed
            self._routes_timed = self.routes
            self._histogram(ROUTE_FOUND).add((self.clock() - began) / batch, weight)
        return result

    def all_requests(self) -> dict[RequestKind, int]:
        """All requests by kind."""
        found = self.requests.get(ROUTE_FOUND, 0) + self.routes
        return {**self.requests, **({ROUTE_FOUND: found} if found else {})}

    def all_sent(self) -> dict[int, int]:
        """Bytes of all answers by request code."""
        sent = self.sent.get(_ROUTE, 0) + self.route_bytes
        return {**self.sent, **({_ROUTE: sent} if sent else {})}

    def by_request(self) -> dict[int, Histogram]:
        """Durations by request code, however the requests were answered."""
        found: dict[int, Histogram] = {}
        for kind, histogram in self.durations.items():
            found.setdefault(kind.request, Histogram()).merge(histogram)
        return found

    def _others(self) -> int:
        return sum(self.requests.values())

    def _histogram(self, kind: RequestKind) -> Histogram:
        found = self.durations.get(kind)
        if found is None:
            found = self.durations[kind] = Histogram()
        return found

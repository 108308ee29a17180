"""Statistics of requests: their number by request and response code, their bytes and durations.

Rules of this file: no clock of its own.  Counting costs a few additions per request;
``route_fast_path`` pays two per batch of requests, and only some of its batches are timed, by the
driver.

Java: ``RemotingMetricsManager`` has the histogram of broker and proxy; Java's name server has no
statistics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar, TypeVarTuple

from rocketwire.codes import RequestCode, ResponseCode

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

BUCKETS_MS: Final = (
    *(0.01, 0.03, 0.1, 0.3),  # ours: most answers take less than Java's first bucket
    *(1.0, 3.0, 5.0, 7.0, 10.0, 100.0, 1000.0, 2000.0, 3000.0),  # Java's
)
"""Upper bounds of the histogram's buckets, in milliseconds."""

UNKNOWN: Final = -1
"""Represents every request code without a handler."""
ONEWAY: Final = -1
"""Represents the missing response to a oneway request."""

_ROUTE: Final = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)


class RequestKind(NamedTuple):
    """Request code and response code, by which requests are counted."""

    request: int  #: code, or ``UNKNOWN``
    response: int  #: code of the response, or ``ONEWAY``


ROUTE_FOUND: Final = RequestKind(_ROUTE, int(ResponseCode.SUCCESS))


class TimedWork(StrEnum):
    """Work that is timed in addition to requests, by the names of its metrics; it is only timed if
    metrics are enabled."""

    REGISTRATION_DECODE = "registration_decode_latency"
    EXPIRY_SCAN = "expiry_scan_duration"
    KV_PERSIST = "kv_persist_latency"


class Histogram:
    """Durations of one kind of requests or work."""

    __slots__ = ("counts", "total_ms")

    def __init__(self) -> None:
        #: per bucket of ``BUCKETS_MS``, and one for longer durations
        self.counts = [0] * (len(BUCKETS_MS) + 1)
        self.total_ms = 0.0  #: sum of the durations

    def merge(self, histogram: Histogram) -> None:
        self.counts = [
            count + added for count, added in zip(self.counts, histogram.counts, strict=True)
        ]
        self.total_ms += histogram.total_ms

    def add(self, seconds: float, weight: int = 1) -> None:
        milliseconds = seconds * 1000
        self.counts[bisect_left(BUCKETS_MS, milliseconds)] += weight
        self.total_ms += milliseconds * weight


class Counters:
    """The counters of one server.

    Attributes:
        received: bytes of the bodies of these requests by code; without entries of 0.
    """

    def __init__(self) -> None:
        self._routes_timed = 0
        #: returns seconds; None if durations are not measured
        self.clock: Callable[[], float] | None = None
        self.routes = 0  #: route requests answered by the fast path, all of them successfully
        self.route_bytes = 0  #: bytes of these responses
        self.requests: dict[RequestKind, int] = {}  #: all other requests by kind
        self.receive_filled: dict[int, int] = {}
        self.sent: dict[int, int] = {}  #: bytes of their responses by request code
        #: by kind; those of ``routes`` are extrapolated from the timed batches
        self.durations: dict[RequestKind, Histogram] = {}
        self.works = {work: Histogram() for work in TimedWork}

    def begin(self) -> float:
        return 0.0 if self.clock is None else self.clock()

    def record_duration(self, work: TimedWork, start: float) -> None:
        if self.clock is not None:
            self.works[work].add(self.clock() - start)

    def count_answer(self, kind: RequestKind, received: int, sent: int, start: float) -> None:
        """Count a request that was not answered by the fast path."""
        self.requests[kind] = self.requests.get(kind, 0) + 1
        if received:
            self.receive_filled[kind.request] = self.receive_filled.get(kind.request, 0) + received
        if sent:
            self.sent[kind.request] = self.sent.get(kind.request, 0) + sent
        if self.clock is not None:
            self._histogram(kind).add(self.clock() - start)

    def time_call(self, work: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Call a function; measure it if it answers route requests by the fast path and no other
        requests.

        The duration counts for all route requests since the last measurement, so that the histogram
        counts every request.
        """
        if self.clock is None:
            return work(*arguments)
        routes, other_count, start = self.routes, self._count_others(), self.clock()
        result = work(*arguments)
        batch = self.routes - routes
        if batch and self._count_others() == other_count:
            weight = self.routes - self._routes_timed
            self._routes_timed = self.routes
            self._histogram(ROUTE_FOUND).add((self.clock() - start) / batch, weight)
        return result

    def all_requests(self) -> dict[RequestKind, int]:
        count = self.requests.get(ROUTE_FOUND, 0) + self.routes
        return {**self.requests, **({ROUTE_FOUND: count} if count else {})}

    def all_sent(self) -> dict[int, int]:
        sent = self.sent.get(_ROUTE, 0) + self.route_bytes
        return {**self.sent, **({_ROUTE: sent} if sent else {})}

    def by_request(self) -> dict[int, Histogram]:
        histograms: dict[int, Histogram] = {}
        for kind, histogram in self.durations.items():
            histograms.setdefault(kind.request, Histogram()).merge(histogram)
        return histograms

    def _count_others(self) -> int:
        return sum(self.requests.values())

    def _histogram(self, kind: RequestKind) -> Histogram:
        histogram = self.durations.get(kind)
        if histogram is None:
            histogram = self.durations[kind] = Histogram()
        return histogram

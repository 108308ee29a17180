"""The metrics in the form that Prometheus reads; prometheus_client knows that form.

Rules of this file: values are computed on request, from counters that exist anyway. The set of
labels is bounded and contains no names chosen by peers, except for the brokers of ``last_seen``:
those are few, and names that Java does not allow are left out. The help text explains a metric; a
test compares it with ``docs/guide/observing.md``.

The names that the name servers of others have too mean the same here.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from prometheus_client import GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.registry import Collector, CollectorRegistry

from rocketwire import __version__
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_namesrv.protocol.counters import BUCKETS_MS, ONEWAY, UNKNOWN, Histogram, TimedWork

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from rocketwire_namesrv.admin_http.event_history import Observer
    from rocketwire_namesrv.protocol.counters import RequestKind
    from rocketwire_namesrv.protocol.state import State

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
MAX_BROKERS: Final = 256
"""Maximum number of brokers with their own series."""

_ROUTE: Final = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)
_REGISTER: Final = int(RequestCode.REGISTER_BROKER)
_SUCCESS: Final = int(ResponseCode.SUCCESS)
_BELIEVABLE: Final = re.compile(r"[%|a-zA-Z0-9_.:\[\]-]{1,128}")

_REGISTRATION_EVENTS: Final = {
    "BrokerRegistered": "registered",
    "RegistrationConflict": "conflict",
    "RegistrationRefused": "refused",
    "TopicsRegistered": "topics_changed",
    "UnregistrationIgnored": "unregister_ignored",
}
SECURITY_EVENTS: Final = {
    "AccessRefused": "access_refused",
    "ChecksumMismatch": "checksum_mismatch",
    "ConfigUpdateRefused": "config_update_refused",
    "ConfigUpdated": "config_updated",
    "ForeignHostRefused": "foreign_host_refused",
    "PlainRefused": "tls_missing",
    "ProxyHeaderRefused": "proxy_header_refused",
    "ResponseDropped": "response_dropped",
    "TlsHandshakeFailed": "tls_handshake_failed",
    "TlsRefused": "tls_refused",
    "TopicRouteRefused": "topic_route_refused",
}
_WORKS: Final = {
    TimedWork.REGISTRATION_DECODE: "Milliseconds until the body of a registration was read, other"
    " requests between its steps included.",
    TimedWork.EXPIRY_SCAN: "Milliseconds of a scan for silent brokers.",
    TimedWork.KV_PERSIST: "Milliseconds until a change to the key/value table was on disk.",
}
_KV_EVENTS: Final = {"ConfigItemPut": "put", "ConfigItemDeleted": "delete"}


def request_name(code: int) -> str:
    """Return a request code as in Java's metrics."""
    return "unknown" if code == UNKNOWN else RequestCode(code).name.lower()


def response_name(code: int) -> str:
    return "none" if code == ONEWAY else ResponseCode(code).name.lower()


class Exposition(Collector):
    """The metrics of one server.

    Args:
        now: gives monotonic seconds.
        connections: gives the number of those open.
        opened: gives the number of all that ever were.
        expiry: gives the time until when the certificate is valid, NaN without one.
        driver: how connections are served.
    """

    def __init__(
        self,
        state: State,
        observer: Observer,
        *,
        now: Callable[[], float],
        connections: Callable[[], int],
        opened: Callable[[], int],
        expiry: Callable[[], float],
        driver: str,
    ) -> None:
        self._state = state
        self._observer = observer
        self._now = now
        self._connections = connections
        self._opened = opened
        self._expiry = expiry
        self._driver = driver
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        yield from self._server()
        yield from self._table()
        yield from self._requests()
        yield self._latency()
        yield from self._durations()
        yield from self._events()
        yield from self._endings()

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that families are not compared at registration."""
        return ()

    # ---- the server

    def _server(self) -> Iterator[Metric]:
        now = self._now()
        yield _gauge("rocketmq_nameserver_up", "1 where a name server answers.", 1)
        yield _gauge(
            "rocketmq_namesrv_ready",
            "Whether routes are returned, as in /readyz.",
            int(self._state.is_ready(now)),
        )
        info = InfoMetricFamily("rocketmq_namesrv_build", "Version and driver of this name server.")
        labels = {
            "version": __version__,
            "python": platform.python_version(),
            "driver": self._driver,
        }
        info.add_metric((), labels)
        yield info
        yield _gauge(
            "rocketmq_namesrv_active_connections", "Open connections.", self._connections()
        )
        expiry = self._expiry()
        if not math.isnan(expiry):
            yield _gauge(
                "rocketmq_namesrv_tls_certificate_expiry_timestamp_seconds",
                "Expiry of the certificate.",
                expiry,
            )

    # ---- the table

    def _table(self) -> Iterator[Metric]:
        table, now = self._state.table, self._now()
        sizes = (
            ("active_brokers", "Registered brokers.", table.live),
            ("broker_groups", "Broker names.", table.groups),
            ("clusters", "Clusters.", table.clusters),
            ("topics", "Topics.", table.topics.entries),
            ("unregistration_queue_depth", "Always 0: brokers are unregistered at once.", ()),
        )
        for name, text, what in sizes:
            yield _gauge(f"rocketmq_namesrv_{name}", text, len(what))
        yield _gauge(
            "rocketmq_namesrv_route_age_seconds",
            "Seconds since the last sign of life of the broker that has been silent for longest.",
            max((now - entry.last_update for entry in table.live.values()), default=0.0),
        )
        yield _gauge(
            "rocketmq_namesrv_expiry_scan_age_seconds",
            "Seconds since the last scan for silent brokers, or since the start.",
            now - (self._state.started if self._state.scanned is None else self._state.scanned),
        )
        yield self._last_seen()
        yield from self._peers()

    def _peers(self) -> Iterator[Metric]:
        views = self._state.peers.views
        if not views:
            return
        up = GaugeMetricFamily(
            "rocketmq_namesrv_peer_up",
            "Whether another name server of rocketwire.peers could be compared.",
            labels=("peer",),
        )
        drift = GaugeMetricFamily(
            "rocketmq_namesrv_peer_differences",
            "Lasting differences to the table of another name server, by kind.",
            labels=("peer", "kind"),
        )
        for peer, view in views.items():
            up.add_metric((peer,), view.reached)
            if view.reached:
                drift.add_metric((peer, "brokers"), len(view.drift.brokers))
                drift.add_metric((peer, "versions"), len(view.drift.versions))
                drift.add_metric((peer, "topic_groups"), len(view.drift.topics))
        yield up
        yield drift

    def _last_seen(self) -> Metric:
        family = GaugeMetricFamily(
            "rocketmq_namesrv_broker_last_seen_timestamp_seconds",
            f"Latest registration or heartbeat of a broker, of {MAX_BROKERS} brokers at most.",
            labels=("cluster", "broker", "address"),
        )
        epoch = self._state.epoch_ms / 1000
        series = (
            (cluster, name, address, epoch + entry.last_update)
            for (cluster, address), entry in self._state.table.live.items()
            for name in entry.names
            if all(map(_BELIEVABLE.fullmatch, (cluster, name, address)))
        )
        for *labels, value in islice(series, MAX_BROKERS):
            family.add_metric([str(label) for label in labels], float(value))
        return family

    # ---- requests

    def _requests(self) -> Iterator[Metric]:
        requests = self._state.counters.all_requests()
        yield _counter(
            "rocketmq_namesrv_requests",
            "Handled requests.",
            ("request_code", "response_code"),
            {
                (request_name(codes.request), response_name(codes.response)): count
                for codes, count in requests.items()
            },
        )
        routes = {codes: count for codes, count in requests.items() if codes.request == _ROUTE}
        yield _counter(
            "rocketmq_namesrv_route_request", "Route requests.", (), {(): sum(routes.values())}
        )
        yield _counter(
            "rocketmq_namesrv_route_errors",
            "Route requests without a route.",
            ("response_code",),
            {
                (response_name(codes.response),): count
                for codes, count in routes.items()
                if codes.response != _SUCCESS
            },
        )
        yield _counter(
            "rocketmq_namesrv_broker_registrations",
            "Accepted registrations, including repeated ones.",
            (),
            {(): _count_accepted(requests)},
        )
        yield from self._bytes()

    def _bytes(self) -> Iterator[Metric]:
        counters = self._state.counters
        sent = counters.all_sent()
        yield _counter(
            "rocketmq_namesrv_request_body_bytes",
            "Bytes of request bodies.",
            ("request_code",),
            {(request_name(code),): count for code, count in counters.receive_filled.items()},
        )
        yield _counter(
            "rocketmq_namesrv_response_bytes",
            "Bytes of responses.",
            ("request_code",),
            {(request_name(code),): count for code, count in sent.items()},
        )
        yield _counter(
            "rocketmq_namesrv_route_response_bytes",
            "Bytes of responses to route requests.",
            (),
            {(): sent.get(_ROUTE, 0)},
        )
        yield _counter(
            "rocketmq_namesrv_registration_body_bytes",
            "Bytes of registration bodies.",
            (),
            {(): counters.receive_filled.get(_REGISTER, 0)},
        )

    def _latency(self) -> Metric:
        family = HistogramMetricFamily(
            "rocketmq_rpc_latency",
            "Milliseconds of requests; route requests are sampled.",
            labels=(
                *("protocol_type", "request_code", "response_code"),
                *("is_long_polling", "result"),
            ),
        )
        for codes, histogram in self._state.counters.durations.items():
            result = "oneway" if codes.response == ONEWAY else "success"
            names = request_name(codes.request), response_name(codes.response)
            family.add_metric(
                ("remoting", *names, "false", result), _buckets(histogram), histogram.total_ms
            )
        return family

    def _durations(self) -> Iterator[Metric]:
        by_request = self._state.counters.by_request()
        family = HistogramMetricFamily(
            "rocketmq_namesrv_request_handler_latency",
            "Milliseconds of requests, as in rocketmq_rpc_latency.",
            labels=("request_code",),
        )
        for code, histogram in by_request.items():
            family.add_metric((request_name(code),), _buckets(histogram), histogram.total_ms)
        yield family
        routes = by_request.get(_ROUTE, Histogram())
        named = {"route_request_latency": ("Milliseconds of route requests.", routes)}
        for work, histogram in self._state.counters.works.items():
            named[work] = (_WORKS[work], histogram)
        for name, (text, histogram) in named.items():
            yield HistogramMetricFamily(
                f"rocketmq_namesrv_{name}",
                text,
                buckets=_buckets(histogram),
                sum_value=histogram.total_ms,
            )

    # ---- events

    def _events(self) -> Iterator[Metric]:
        observer = self._observer
        counts = observer.events
        registrations = _rename_counts(counts, _REGISTRATION_EVENTS)
        for reason, count in observer.departures.items():
            registrations[f"left_{reason}",] = count
        for name, text, events in (
            ("registration_events", "Results of registrations.", registrations),
            ("kv_events", "Changes to the key/value table.", _rename_counts(counts, _KV_EVENTS)),
            (
                "security_events",
                "Forbidden actions of peers, and changes to the configuration.",
                _rename_counts(counts, SECURITY_EVENTS),
            ),
        ):
            yield _counter(f"rocketmq_namesrv_{name}", text, ("event",), events)
        yield _counter(
            "rocketmq_namesrv_expiry_events",
            "Brokers that expired.",
            (),
            {(): counts["BrokerExpired"]},
        )
        yield _counter(
            "rocketmq_namesrv_limit_hits",
            "Number of exceeded limits.",
            ("limit",),
            {(name,): count for name, count in observer.limits.items()},
        )
        yield _counter(
            "rocketmq_namesrv_occurrences",
            "Events in the log, by kind.",
            ("kind",),
            {(name,): count for name, count in counts.items()},
        )

    def _endings(self) -> Iterator[Metric]:
        endings = self._observer.endings
        events: dict[tuple[str, ...], int] = {("opened", ""): self._opened()}
        events |= {("closed", reason): count for reason, count in endings.items()}
        yield _counter(
            "rocketmq_namesrv_connection_events",
            "Opened connections, and closed connections by reason.",
            ("event", "reason"),
            events,
        )


def _rename_counts(
    counts: Mapping[str, int], names: Mapping[str, str]
) -> dict[tuple[str, ...], int]:
    return {(name,): counts.get(event_name, 0) for event_name, name in names.items()}


def _count_accepted(requests: Mapping[RequestKind, int]) -> int:
    # a oneway registration has no response: it counts as accepted
    return sum(
        count
        for codes, count in requests.items()
        if codes.request == _REGISTER and codes.response in {_SUCCESS, ONEWAY}
    )


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _counter(
    name: str, text: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], int]
) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    # the exposition format requires cumulative counts
    buckets: list[tuple[str, float]] = []
    total = 0
    for bound, count in zip((*map(str, BUCKETS_MS), "+Inf"), histogram.counts, strict=True):
        total += count
        buckets.append((bound, total))
    return buckets

"""The metrics, read back by the parser of Prometheus' own library, and the guide's table of them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rocketwire.codes import RequestCode
from rocketwire.serving.events import Event, Level, LimitExceeded
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.admin_http.metrics import MAX_BROKERS, SECURITY_EVENTS, Exposition
from rocketwire_namesrv.events import BrokerUnregistered
from rocketwire_namesrv.protocol.counters import TimedWork
from rocketwire_namesrv.routes.peer_views import PeerView
from rocketwire_namesrv.routes.table_digest import Drift
from tests.support.fakes.sansio_server import BROKER, Server, request

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "observing.md"
Series = dict[tuple[str, ...], float]


class Site:
    def __init__(self) -> None:
        self.server = Server(started=1000.0, epoch_ms=5_000_000)
        self.observer = Observer(lambda: 17.0)
        self.expiry = math.nan
        self.exposition = Exposition(
            self.server.state,
            self.observer,
            now=lambda: self.server.now,
            connections=lambda: 2,
            opened=lambda: 5,
            expiry=lambda: self.expiry,
            driver="portable",
        )

    def families(self) -> dict[str, Metric]:
        text = self.exposition.text().decode()
        return {family.name: family for family in text_string_to_metric_families(text)}

    def series(self, name: str) -> Series:
        return {
            tuple(value for _, value in sorted(sample.labels.items())): sample.value
            for family in self.families().values()
            for sample in family.samples
            if sample.name == name
        }


@pytest.fixture
def site() -> Site:
    return Site()


def test_an_empty_server_has_metrics_too(site: Site) -> None:
    assert site.series("rocketmq_nameserver_up") == {(): 1}
    assert site.series("rocketmq_namesrv_ready") == {(): 1}
    assert site.series("rocketmq_namesrv_route_age_seconds") == {(): 0}
    assert site.series("rocketmq_namesrv_active_connections") == {(): 2}
    assert site.series("process_open_fds").keys() == {()}
    assert site.series("rocketmq_namesrv_tls_certificate_expiry_timestamp_seconds") == {}


def test_the_table_is_measured(site: Site) -> None:
    site.server.register()
    site.server.now += 12

    assert site.series("rocketmq_namesrv_active_brokers") == {(): 1}
    assert site.series("rocketmq_namesrv_topics") == {(): 2}
    assert site.series("rocketmq_namesrv_route_age_seconds") == {(): 12}
    assert site.series("rocketmq_namesrv_expiry_scan_age_seconds") == {(): 12}
    site.server.state.expire(site.server.now)
    assert site.series("rocketmq_namesrv_expiry_scan_age_seconds") == {(): 0}
    assert site.series("rocketmq_namesrv_broker_last_seen_timestamp_seconds") == {
        (BROKER, "b1", "C"): 6000
    }


def test_requests_are_counted_by_code_and_answer(site: Site) -> None:
    site.server.register()
    site.server.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"})
    site.server.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "nowhere"})
    site.server.receive(request(RequestCode.GET_BROKER_CLUSTER_INFO, flag=2))
    site.server.ask(4711)

    assert site.series("rocketmq_namesrv_requests_total") == {
        ("register_broker", "success"): 1,
        ("get_routeinfo_by_topic", "success"): 1,
        ("get_routeinfo_by_topic", "topic_not_exist"): 1,
        ("get_broker_cluster_info", "none"): 1,
        ("unknown", "request_code_not_supported"): 1,
    }
    assert site.series("rocketmq_namesrv_route_request_total") == {(): 2}
    assert site.series("rocketmq_namesrv_route_errors_total") == {("topic_not_exist",): 1}
    assert site.series("rocketmq_namesrv_broker_registrations_total") == {(): 1}
    routes = site.series("rocketmq_namesrv_route_response_bytes_total")[()]
    sent = site.series("rocketmq_namesrv_response_bytes_total")
    assert routes == sent["get_routeinfo_by_topic",] > 0
    bodies = site.series("rocketmq_namesrv_request_body_bytes_total")
    assert bodies == {
        ("register_broker",): site.series("rocketmq_namesrv_registration_body_bytes_total")[()]
    }


def test_durations_have_the_labels_of_javas_histogram(site: Site) -> None:
    ticks = iter(range(100))
    site.server.state.counters.clock = lambda: next(ticks) * 0.002
    site.server.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    site.server.receive(request(RequestCode.GET_BROKER_CLUSTER_INFO, flag=2))

    key = ("false", "remoting", "get_broker_cluster_info", "success", "success")
    assert site.series("rocketmq_rpc_latency_count") == {
        key: 1,
        ("false", "remoting", "get_broker_cluster_info", "none", "oneway"): 1,
    }
    assert site.series("rocketmq_rpc_latency_sum")[key] == pytest.approx(2)
    buckets = site.series("rocketmq_rpc_latency_bucket")
    bounds = {labels[1]: value for labels, value in buckets.items() if labels[0] == "false"}
    assert (bounds["1.0"], bounds["3.0"], bounds["+Inf"]) == (0, 1, 1)


def test_durations_are_shown_by_request_code_and_of_other_work(site: Site) -> None:
    clock = iter([0.0, 0.002, 1.0, 1.004, 2.0, 2.5])
    site.server.state.counters.clock = clock.__next__
    site.server.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    site.server.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "nowhere"})
    counters = site.server.state.counters
    counters.record_duration(TimedWork.KV_PERSIST, counters.begin())

    name = "rocketmq_namesrv_request_handler_latency"
    assert site.series(f"{name}_count") == {
        ("get_broker_cluster_info",): 1,
        ("get_routeinfo_by_topic",): 1,
    }
    assert site.series(f"{name}_sum")["get_routeinfo_by_topic",] == pytest.approx(4)
    assert site.series("rocketmq_namesrv_route_request_latency_sum") == {(): pytest.approx(4)}
    assert site.series("rocketmq_namesrv_kv_persist_latency_sum") == {(): pytest.approx(500)}
    assert site.series("rocketmq_namesrv_expiry_scan_duration_count") == {(): 0}


def test_events_are_counted(site: Site) -> None:
    departure = BrokerUnregistered(cluster="C", address="a", broker_name="b", reason="idle")
    site.observer.record_event(departure, None)
    site.observer.record_event(LimitExceeded(limit="topics", allowed=1, what="two"), None)
    site.observer.endings["idle"] += 3

    events = site.series("rocketmq_namesrv_registration_events_total")
    assert events["left_idle",] == 1
    assert site.series("rocketmq_namesrv_limit_hits_total") == {("topics",): 1}
    assert site.series("rocketmq_namesrv_connection_events_total") == {
        ("opened", ""): 5,
        ("closed", "idle"): 3,
    }
    assert site.series("rocketmq_namesrv_occurrences_total") == {
        ("BrokerUnregistered",): 1,
        ("LimitExceeded",): 1,
    }


HOSTILE = ("../../x", "T\x00", "x" * 300, 'a"b', "a\r\nb", "a{b}", "\u2028", "käse")


@pytest.mark.parametrize("name", HOSTILE)
def test_brokers_with_names_that_java_forbids_have_no_series(site: Site, name: str) -> None:
    site.server.register(name=name)
    site.server.register("1.2.3.4:6", cluster=name)
    site.server.register(name)

    assert site.series("rocketmq_namesrv_broker_last_seen_timestamp_seconds") == {}


def test_series_of_brokers_have_a_limit(site: Site) -> None:
    for number in range(MAX_BROKERS + 10):
        site.server.register(f"10.0.0.1:{number}", name=f"b{number}")

    series = site.series("rocketmq_namesrv_broker_last_seen_timestamp_seconds")
    assert len(series) == MAX_BROKERS


def leaf_classes(base: type[Event] = Event) -> set[type[Event]]:
    below = [
        event_class
        for event_class in base.__subclasses__()
        if event_class.__module__.startswith(("rocketwire.", "rocketwire_namesrv."))
    ]
    result: set[type[Event]] = set() if below else {base}
    return result.union(*map(leaf_classes, below))


COUNTED_ELSEWHERE = {
    *("BrokerExpired", "RegistrationConflict", "RegistrationRefused", "UnregistrationIgnored"),
    *("Exposed", "RequestFailed", "TlsUnavailable"),  # the operator's or the server's own matter
}


def test_every_warning_about_a_peer_is_a_security_event_or_a_metric(site: Site) -> None:
    warnings = {
        event_class.__name__
        for event_class in leaf_classes()
        if event_class.level >= Level.WARNING and not issubclass(event_class, LimitExceeded)
    }

    assert warnings - set(SECURITY_EVENTS) == COUNTED_ELSEWHERE
    assert set(SECURITY_EVENTS) - warnings == set()
    assert site.series("rocketmq_namesrv_security_events_total") == {
        (event,): 0 for event in SECURITY_EVENTS.values()
    }


def test_the_guide_lists_every_security_event() -> None:
    text = GUIDE.read_text("utf-8")
    table = text.partition("| Security event |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == sorted(SECURITY_EVENTS.values())


def test_the_guide_has_each_metric_with_its_kind_and_labels(site: Site) -> None:
    site.server.state.counters.clock = lambda: 0.0
    site.expiry = 1.0
    site.server.register()
    site.server.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "nowhere"})
    site.server.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    site.observer.record_event(LimitExceeded(limit="topics", allowed=1, what="two"), None)
    site.server.state.peers.views["a:1"] = PeerView(reached=True)

    row = re.compile(r"^\| `(rocketmq_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
    documented = {
        name: (metric_type, set(re.findall(r"`(\w+)`", labels)))
        for name, metric_type, labels in row.findall(GUIDE.read_text("utf-8"))
    }
    real = {
        (f"{family.name}_total" if family.type == "counter" else family.name): (
            family.type,
            set(family.samples[0].labels) - {"le"},
        )
        for family in site.families().values()
        if family.name.startswith("rocketmq_")
    }
    assert documented == real


def test_comparisons_with_peers_have_series(site: Site) -> None:
    views = site.server.state.peers.views
    drift = Drift(brokers=frozenset({"b"}), topics=frozenset({1, 2}))
    views.update({"a:1": PeerView(reached=True, drift=drift), "b:1": PeerView(fault="none")})

    assert site.series("rocketmq_namesrv_peer_up") == {("a:1",): 1, ("b:1",): 0}
    assert site.series("rocketmq_namesrv_peer_differences") == {
        ("brokers", "a:1"): 1,
        ("versions", "a:1"): 0,
        ("topic_groups", "a:1"): 2,
    }

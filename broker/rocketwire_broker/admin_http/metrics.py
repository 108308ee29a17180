"""The metrics in the form that Prometheus reads; prometheus_client knows that form.

Rules of this file: values are computed on request. Topics and groups with their own series are
bounded, and names that Java does not allow are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from prometheus_client import GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from rocketwire_broker.admin_http.status import Status, status_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from rocketwire_broker.state.broker import Broker

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

_BELIEVABLE: Final = re.compile(r"[%|a-zA-Z0-9_-]{1,255}")

_TOTALS: Final = {
    "messages": "Messages that are kept.",
    "bytes": "Bytes of the messages that are kept.",
    "delayed": "Messages that wait for the end of a delay level.",
    "timed": "Messages that wait for a time of delivery.",
    "transactions": "Open transactions.",
    "hidden": "Messages that were popped and are not acknowledged.",
    "waiting": "Requests that wait for messages.",
    "connections": "Open connections.",
    "topics": "Topics, those of the system included.",
    "groups": "Consumer groups, those of the system included.",
}
_COUNTERS: Final = {
    "stored": "Messages stored since the start.",
    "read": "Messages pulled or popped since the start.",
    "slow": "Times when requests, or what was due, took more than 100 ms, since the start.",
}
_GROUP_GAUGES: Final = {
    "lag": "Messages that a group has not committed, retries included.",
    "retries": "Messages that wait in the retry topics of a group.",
    "dead": "Messages in the dead-letter topic of a group.",
    "member_count": "Members of a group.",
}


class Exposition(Collector):
    def __init__(self, brokers: Callable[[], Sequence[tuple[Broker, int]]]) -> None:
        self._brokers = brokers
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that families are not compared at registration."""
        return ()

    def collect(self) -> Iterator[Metric]:
        all_status = [status_of(broker, now) for broker, now in self._brokers()]
        for name, text in _TOTALS.items():
            gauge = GaugeMetricFamily(f"rocketwire_broker_{name}", text, labels=["broker"])
            for status in all_status:
                gauge.add_metric([status.broker], getattr(status.totals, name))
            yield gauge
        for name, text in _COUNTERS.items():
            counter = CounterMetricFamily(f"rocketwire_broker_{name}", text, labels=["broker"])
            for status in all_status:
                counter.add_metric([status.broker], getattr(status.totals, name))
            yield counter
        yield self._limit_hits()
        yield _topic_messages(all_status)
        yield from _groups(all_status)

    def _limit_hits(self) -> Metric:
        family = CounterMetricFamily(
            "rocketwire_broker_limit_hits",
            "Exceeded limits of connections, by setting.",
            labels=["broker", "limit"],
        )
        for broker, _ in self._brokers():
            for limit, count in broker.statistics.limit_hits.items():
                family.add_metric([broker.config.broker_name, limit], count)
        return family


def _topic_messages(all_status: list[Status]) -> Metric:
    labels = ["broker", "topic"]
    name = "rocketwire_broker_topic_stored"
    family = CounterMetricFamily(name, "Messages of a topic since its creation.", labels=labels)
    for status in all_status:
        for line in status.topics:
            if _BELIEVABLE.fullmatch(line.name):
                family.add_metric([status.broker, line.name], line.stored)
    return family


def _groups(all_status: list[Status]) -> Iterator[Metric]:
    for name, text in _GROUP_GAUGES.items():
        metric = f"rocketwire_broker_group_{name.removesuffix('_count')}"
        family = GaugeMetricFamily(metric, text, labels=["broker", "group"])
        for status in all_status:
            for line in status.groups:
                if _BELIEVABLE.fullmatch(line.name):
                    family.add_metric([status.broker, line.name], getattr(line, name))
        yield family

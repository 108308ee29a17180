"""Samples in the forms that Prometheus reads; and ``Collector``, which collects at each scrape.

Rules of this file: some series are rendered at a time, so that the objects of these alone are in
memory. A collection consists of gauges, whose text is the same in both forms.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import trio
from prometheus_client import exposition as plain
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector as RegistryCollector
from prometheus_client.registry import CollectorRegistry

from rocketwire_tools.exporter.collection import MIN_INTERVAL, WAIT
from rocketwire_tools.exporter.families import FAMILIES

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from rocketwire_tools.exporter.families import Labels, Samples


PLAIN: Final = plain.CONTENT_TYPE_PLAIN_0_0_4
OPENMETRICS: Final = openmetrics.CONTENT_TYPE_LATEST
PART: Final = 1000  # series that are rendered at a time
HEAD_LINES: Final = 2  # lines of a family before its series: its help text and its type


class _Families(RegistryCollector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics

    def describe(self) -> Iterable[Metric]:
        return ()


def gauges_text(samples: Samples) -> bytes:
    text = BytesIO()
    for name, values in samples.values.items():
        pairs = iter(values.items())
        lines = 0  # the head of a family stands before its first series alone
        while part := list(islice(pairs, PART)):
            text.write(_text_of(name, part).split(b"\n", lines)[-1])
            lines = HEAD_LINES
    return text.getvalue()


def _text_of(name: str, pairs: Iterable[tuple[Labels, float]]) -> bytes:
    try:
        return text_of((_gauge(name, pairs),), PLAIN)
    except UnicodeEncodeError:  # a name from a broker with half of a surrogate pair
        return text_of((_gauge(name, ((_valid(k), v) for k, v in pairs)),), PLAIN)


def _valid(labels: Labels) -> Labels:
    return tuple(label.encode("utf-8", "replace").decode() for label in labels)


def _gauge(name: str, pairs: Iterable[tuple[Labels, float]]) -> Metric:
    family = FAMILIES[name]
    metric = GaugeMetricFamily(name, family.text, labels=family.labels)
    for labels, value in pairs:
        metric.add_metric(labels, value)
    return metric


def text_of(metrics: Iterable[Metric], content_type: str) -> bytes:
    """Return the text of families; that of ``OPENMETRICS`` has its last line."""
    registry = CollectorRegistry()
    registry.register(_Families(metrics))
    if content_type == OPENMETRICS:
        return bytes(openmetrics.generate_latest(registry))  # type: ignore[no-untyped-call]  # it has no types
    return plain.generate_latest(registry)


def content_type_for(accept: str) -> str:
    """Return the form for an ``Accept`` header: OpenMetrics for a client that names it."""
    return OPENMETRICS if "application/openmetrics-text" in accept else PLAIN


_LOG: Final = logging.getLogger("rocketwire.exporter")

AGE: Final = "rocketmq_exporter_collection_age_seconds"
COLLECTIONS: Final = "rocketmq_exporter_collections"


class Result(NamedTuple):
    gauges: bytes  # text of its gauges
    ended: float  # time of its end, in trio's seconds


class Collector:
    """Collects when a scrape asks for it; scrapes at the same time share one collection."""

    def __init__(
        self,
        collect: Callable[[], Awaitable[bytes]],  # returns the text of the gauges of a collection
        *,
        # seconds that a scrape waits for a collection, before it gets the last result
        wait: float = WAIT,
        min_interval: float = MIN_INTERVAL,  # seconds after a collection in which no other begins
    ) -> None:
        self._collect = collect
        self._wait = wait
        self._min_interval = min_interval
        self._result: Result | None = None
        self._requested = trio.Event()
        self._running: trio.Event | None = None
        self._collections: Counter[str] = Counter({"complete": 0, "error": 0})

    async def serve(self) -> None:
        while True:
            await self._requested.wait()
            self._requested = trio.Event()
            await self._collect_once()
            if self._running is not None:
                self._running.set()
            self._running = None

    async def _collect_once(self) -> None:
        try:
            gauges = await self._collect()
        except Exception:  # noqa: BLE001 - an unforeseen answer must not end the exporter
            self._collections["error"] += 1
            _LOG.exception("a collection failed")
        else:
            self._collections["complete"] += 1
            self._result = Result(gauges, trio.current_time())

    async def refresh(self) -> None:
        """Begin a collection, unless one runs or has just ended, and wait for its end."""
        now = trio.current_time()
        if self._result is not None and now < self._result.ended + self._min_interval:
            return
        if self._running is None:
            self._running = trio.Event()
            self._requested.set()
        with trio.move_on_after(self._wait):
            await self._running.wait()

    def text(self, content_type: str) -> bytes:
        """Return the last complete result and the metrics of the exporter."""
        gauges = b"" if self._result is None else self._result.gauges
        return gauges + text_of(self._own_metrics(), content_type)

    def _own_metrics(self) -> Iterator[Metric]:
        counter = CounterMetricFamily(COLLECTIONS, "Collections by result.", labels=("result",))
        for result, count in self._collections.items():
            counter.add_metric((result,), count)
        yield counter
        if self._result is not None:
            age = trio.current_time() - self._result.ended
            yield GaugeMetricFamily(AGE, "Age of these values in seconds.", value=age)

"""Samples in the forms that Prometheus reads; prometheus_client knows these forms.

Rules of this file: some series are rendered at a time, so that the objects of these alone are in
memory. A collection consists of gauges, whose text is the same in both forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Final

from prometheus_client import exposition as plain
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector, CollectorRegistry

from rocketwire_tools.exporter.families import FAMILIES

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from rocketwire_tools.exporter.samples import Labels, Samples

PLAIN: Final = plain.CONTENT_TYPE_PLAIN_0_0_4
OPENMETRICS: Final = openmetrics.CONTENT_TYPE_LATEST
PART: Final = 1000
"""Series that are rendered at a time."""
HEAD_LINES: Final = 2
"""Lines of a family before its series: its help text and its type."""


class _Families(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics

    def describe(self) -> Iterable[Metric]:
        return ()


def gauges_text(samples: Samples) -> bytes:
    """Return the text of all families of a collection that have values."""
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

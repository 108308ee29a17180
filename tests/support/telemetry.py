"""A hook of OpenTelemetry whose spans and metrics are kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rocketwire.client import OpenTelemetryHook

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


class Telemetry:
    def __init__(self, **settings: Any) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = tracers.get_tracer("application")
        defaults: dict[str, Any] = {
            "tracer_provider": tracers,
            "meter_provider": MeterProvider([self._reader]),
            "environment": {},
        }
        self.hook = OpenTelemetryHook(**{**defaults, **settings})

    def spans(self, name: str | None = None) -> list[ReadableSpan]:
        spans = self._exporter.get_finished_spans()
        return [span for span in spans if name is None or span.name == name]

    def points(self, metric: str) -> list[tuple[dict[str, Any], Any]]:
        data = self._reader.get_metrics_data()
        return [
            (dict(point.attributes or {}), getattr(point, "count", getattr(point, "value", None)))
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for series in scope.metrics
            if series.name == metric
            for point in series.data.data_points
        ]

    def count(self, metric: str) -> int:
        return sum(int(count or 0) for _, count in self.points(metric))

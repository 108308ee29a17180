"""``Collector``: begins a collection at each scrape, and keeps the last complete result."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import trio
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

from rocketwire_tools.exporter.collection import MIN_INTERVAL, WAIT
from rocketwire_tools.exporter.exposition import text_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

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

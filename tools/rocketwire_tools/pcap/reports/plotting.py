"""Plots a capture: frame rate over time, latencies over time, and the distribution of latencies.

Only ``--plot`` imports matplotlib. Memory does not grow with the capture: latencies are counted in
classes of equal ratio, frames in at most ``_MAX_SLOTS`` time slots, which widen together.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.reports.reports import is_poll_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.decode.decoder import Totals
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.reports.reports import Report, Table

SUFFIXES: Final = (".png", ".svg")
KINDS: Final = ("request", "oneway", "response")
_MAX_SLOTS: Final = 256
_SECOND: Final = 1_000_000_000
_NARROWEST: Final = _SECOND // 100
_MIN_NS: Final = 1e4
_CLASSES: Final = 160
_PER_DECADE: Final = 20  # Classes of latencies in a decade, from 10 microseconds to 1000 seconds
_PERCENTILES: Final = (50, 90, 99)


class PlotError(ValueError):
    """The plot cannot be drawn."""


class PlottedReport:
    def __init__(self, report: Report, path: str) -> None:
        if Path(path).suffix.lower() not in SUFFIXES:
            raise PlotError(f"{path}: the name of a picture must end in {' or '.join(SUFFIXES)}")
        if importlib.util.find_spec("matplotlib") is None:
            raise PlotError("--plot needs matplotlib: pip install 'rocketwire[plot]'")
        self._report = report
        self._path = path
        self.fields = tuple(
            dict.fromkeys((*report.fields, "time_ns", "kind", "code", "latency_ns", "held"))
        )
        self._start: int | None = None
        self._width = _NARROWEST
        self._frames = np.zeros((len(KINDS), _MAX_SLOTS), np.int64)
        self._latencies = np.zeros((_MAX_SLOTS, _CLASSES), np.int64)

    def take(self, batch: Batch) -> None:
        self._report.take(batch)
        if not batch.num_rows:
            return
        time_ns = np.asarray(batch.column("time_ns").to_pylist(), np.int64)
        self._extend(int(time_ns.min()), int(time_ns.max()))
        slot = (time_ns - (self._start or 0)) // self._width
        kinds = np.asarray(
            [_PLACES.get(frame_kind, 0) for frame_kind in batch.column("kind").to_pylist()]
        )
        np.add.at(self._frames, (kinds, slot), 1)
        columns = (
            batch.column(name).to_pylist() for name in ("kind", "code", "latency_ns", "held")
        )
        latency = np.asarray(
            [
                -1 if value is None or held or is_poll_end(frame_kind, code) else value
                for frame_kind, code, value, held in zip(*columns, strict=True)
            ],
            np.int64,
        )
        answered = np.flatnonzero(latency >= 0)
        np.add.at(self._latencies, (slot[answered], _class_of(latency[answered])), 1)

    def _extend(self, low: int, high: int) -> None:
        start = low if self._start is None else self._start
        if low < start:
            start = low
        end = max(high, (self._start or start) + self._last() * self._width)
        width = self._width
        while (end - start) // width >= _MAX_SLOTS:
            width *= 2
        if self._start is not None and (width != self._width or start != self._start):
            self._rescale(start, width)
        self._start, self._width = start, width

    def _last(self) -> int:
        used = np.flatnonzero(self._frames.any(axis=0))
        return int(used[-1]) if used.size else 0

    def _rescale(self, start: int, width: int) -> None:
        slots = np.arange(_MAX_SLOTS)
        goal = ((self._start or 0) + slots * self._width - start) // width
        used = np.flatnonzero(self._frames.any(axis=0))
        frames, latencies = np.zeros_like(self._frames), np.zeros_like(self._latencies)
        for slot in used.tolist():
            frames[:, goal[slot]] += self._frames[:, slot]
            latencies[goal[slot]] += self._latencies[slot]
        self._frames, self._latencies = frames, latencies

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        self._draw()
        return self._report.tables(totals)

    def counts(self, frame_kind: str) -> Array:
        """Number of frames of a kind in each slot up to the last slot in use."""
        return self._frames[_PLACES[frame_kind], : self._last() + 1]

    # ---- drawing

    def _draw(self) -> None:
        figures: Any = importlib.import_module("matplotlib.figure")
        figure = figures.Figure(figsize=(10, 10), layout="constrained")
        rate, over_time, spread = figure.subplots(3, 1)
        count = self._last() + 1
        seconds = np.arange(count) * self._width / _SECOND
        for name, row in zip(KINDS, self._frames, strict=True):
            rate.step(seconds, row[:count] * _SECOND / self._width, where="post", label=name)
        rate.set(title="frames a second", xlabel="seconds", ylabel="frames/s")
        rate.legend()
        self._draw_latencies(over_time, seconds, count)
        total = self._latencies.sum(axis=0)
        edges = _edges()
        spread.stairs(total, edges, fill=True)
        spread.set(title="latencies", xscale="log", xlabel="milliseconds", ylabel="answers")
        if total.any():
            used = np.flatnonzero(total)
            spread.set_xlim(edges[used[0]], edges[used[-1] + 1])
        figure.savefig(self._path)

    def _draw_latencies(self, axes: Any, seconds: Array, count: int) -> None:
        for percent in _PERCENTILES:
            values = [percentile(row, percent) for row in self._latencies[:count]]
            axes.plot(seconds, values, ".-", label=f"{percent} %", markersize=3, linewidth=0.8)
        axes.set(title="latency percentiles", xlabel="seconds", ylabel="milliseconds", yscale="log")
        axes.legend()


_PLACES: Final = {name: number for number, name in enumerate(KINDS)}


def _class_of(latency_ns: Array) -> Array:
    decades = np.log10(np.maximum(latency_ns, _MIN_NS) / _MIN_NS)
    return np.minimum((decades * _PER_DECADE).astype(np.int64), _CLASSES - 1)


def _edges() -> Array:
    return _MIN_NS / 1e6 * 10 ** (np.arange(_CLASSES + 1) / _PER_DECADE)


def percentile(counts: Array, percent: float) -> float:
    """A percentile of class counts, in milliseconds; NaN if all are 0."""
    total = int(counts.sum())
    if not total:
        return float("nan")
    number = int(np.searchsorted(np.cumsum(counts), total * percent / 100))
    return float(_edges()[number : number + 2].mean())

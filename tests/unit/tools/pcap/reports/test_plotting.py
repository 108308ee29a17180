"""The data and the file of a picture that ``--plot`` draws."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.reports.plotting import PlotError, PlottedReport, percentile
from rocketwire_tools.pcap.reports.reports import ColumnReport
from rocketwire_tools.pcap.rows.rows import EVERY, schema
from tests.support.captures.fixtures import Made
from tests.support.file_programs import run_pcap

drawn = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed"
)
FIELDS = ("topic", "kind", "code", "frame_length", "time_ns", "latency_ns", "held")


def batch(*rows: dict[str, Any]) -> Any:
    columns = [arrow.column([row.get(name) for row in rows], EVERY[name]) for name in FIELDS]
    return arrow.batch(columns, schema(FIELDS))


def frame(second: float, latency_ms: float | None = None) -> dict[str, Any]:
    latency = None if latency_ms is None else int(latency_ms * 1e6)
    kind = "request" if latency is None else "response"
    times = {"time_ns": int(second * 1e9), "latency_ns": latency}
    return {**times, "kind": kind, "code": 0, "frame_length": 9}


@drawn
def test_frames_are_counted_in_slots_that_get_wider_with_the_capture(tmp_path: Path) -> None:
    plotted = PlottedReport(ColumnReport("topic", 3), str(tmp_path / "a.png"))
    plotted.take(batch(frame(100), frame(100.005), frame(101)))
    assert plotted.counts("request")[0] == 2
    plotted.take(batch(frame(100 + 7200, 5)))
    plotted.take(batch(frame(50)))
    assert plotted.counts("request").sum() == 4
    assert plotted.counts("response").sum() == 1
    assert plotted.counts("request")[0] == 1
    assert len(plotted.counts("request")) <= 256


def test_percentiles_of_classes_are_within_a_class_of_the_truth() -> None:
    counts = np.zeros(160, np.int64)
    assert np.isnan(percentile(counts, 50))
    counts[[40, 60]] = 90, 10
    assert percentile(counts, 50) == pytest.approx(1.06, rel=0.01)
    assert percentile(counts, 99) == pytest.approx(10.6, rel=0.01)


@drawn
@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_picture_is_drawn(suffix: str, magic: bytes, sample: Made, tmp_path: Path) -> None:
    picture = tmp_path / f"picture{suffix}"
    run_pcap("slow", sample.path, "--plot", picture, "--json")
    assert picture.read_bytes().startswith(magic)


def test_missing_matplotlib_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", dict[str, object]().get)
    with pytest.raises(PlotError, match=r"pip install 'rocketwire\[plot\]'"):
        PlottedReport(ColumnReport("topic", 3), "a.png")

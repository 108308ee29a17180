"""The data source, compared with the exact frames of generated captures, alone or rotated."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.peers.foreign.captures import PROFILES, Capture, capture
from tests.peers.foreign.files import Writer
from tests.peers.foreign.rows import COLUMNS, NONE, PAIRS, content, differences
from tests.spark.test_readers import schema, source
from tests.support.spark_sources import read_partitions

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.peers.foreign.tcp import Packet

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")
MODES: Final = {
    "parts": {"splitSize": "150001"},
    "shares": {"mode": "exact", "shares": "3"},
    "whole files": {"splitSize": "0"},
}


@pytest.fixture(scope="module")
def traffic() -> Capture:
    return capture(
        replace(PROFILES["mixed"], connections=30, frames=700, reused=0.3, ongoing=0.3), 7
    )


def write(path: Path, packets: list[Packet], **form: Any) -> None:
    with path.open("wb") as file:
        Writer(file, **form).write(packets)


def rotate(traffic: Capture, folder: Path, count: int, **form: Any) -> None:
    size = len(traffic.packets) // count + 1
    for number in range(count):
        packets = traffic.packets[number * size : (number + 1) * size]
        write(folder / f"trace.pcap{number or ''}", packets, **form)


def rows(folder: Path, **options: str) -> list[dict[str, Any]]:
    reader = source(path=str(folder), **options).reader(schema())
    return read_partitions(reader, reader.partitions())


@pytest.mark.parametrize("mode", MODES)
def test_file_is_the_truth_of_all_but_pairs(mode: str, traffic: Capture, tmp_path: Path) -> None:
    write(tmp_path / "trace.pcap", traffic.packets)
    decoded = rows(tmp_path, **MODES[mode])
    but = PAIRS if mode == "parts" else ()
    assert NONE == differences(traffic.truth, decoded, but=but)


@pytest.mark.parametrize("form", [{}, {"pcapng": True}], ids=["pcap", "pcapng"])
@pytest.mark.parametrize("mode", MODES)
def test_rotated_files_are_the_truth_of_all_but_pairs(
    mode: str, form: dict[str, Any], traffic: Capture, tmp_path: Path
) -> None:
    rotate(traffic, tmp_path, 3, **form)
    assert NONE == differences(traffic.truth, rows(tmp_path, **MODES[mode]), but=PAIRS)


def test_compressed_rotated_files_are_the_truth_too(traffic: Capture, tmp_path: Path) -> None:
    rotate(traffic, tmp_path, 3)
    for path in list(tmp_path.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    missing, spurious = differences(traffic.truth, rows(tmp_path), but=PAIRS)
    # a task cannot look back into a compressed file, so it does not know repeated segments
    assert missing.total() <= 2
    assert spurious.total() <= 2


def test_unjoined_files_lose_frames_across_their_borders(traffic: Capture, tmp_path: Path) -> None:
    rotate(traffic, tmp_path, 3)
    unjoined = rows(tmp_path, join="none")
    missing, _ = differences(traffic.truth, unjoined, but=PAIRS)
    assert missing.total() > 0
    assert NONE == differences(traffic.truth, rows(tmp_path, join="all"), but=PAIRS)


def test_captures_of_two_hosts_at_one_time_are_not_joined(traffic: Capture, tmp_path: Path) -> None:
    write(tmp_path / "host1.pcap", traffic.packets[: len(traffic.packets) * 2 // 3])
    write(tmp_path / "host2.pcap", traffic.packets[len(traffic.packets) // 3 :])
    for mode in MODES.values():
        joined = content(rows(tmp_path, **mode), but=PAIRS)
        assert content(rows(tmp_path, join="none", **mode), but=PAIRS) == joined


@pytest.mark.java
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "mode", ["parts", *(pytest.param(mode, marks=pytest.mark.full) for mode in (*MODES,)[1:])]
)
def test_correlate_finds_the_pairs_of_rotated_files(
    mode: str, spark: SparkSession, traffic: Capture, tmp_path: Path
) -> None:
    from pyspark_rocketwire import correlate

    rotate(traffic, tmp_path, 3)
    reader = spark.read.format("rocketmq-pcap").options(path=str(tmp_path), **MODES[mode])
    decoded = [row.asDict() for row in correlate(reader.load()).select(*COLUMNS).collect()]
    assert NONE == differences(traffic.truth, decoded)


@pytest.mark.java
@pytest.mark.filterwarnings("default")
@pytest.mark.full
def test_correlate_within_files_keeps_the_pairs_of_each(
    spark: SparkSession, traffic: Capture, tmp_path: Path
) -> None:
    from pyspark_rocketwire import correlate

    for name in ("host1.pcap", "host2.pcap"):
        write(tmp_path / name, traffic.packets)
    frames = spark.read.format("rocketmq-pcap").options(path=str(tmp_path), join="none").load()
    decoded = correlate(frames, within_file=True).select(*COLUMNS).collect()
    assert NONE == differences([*traffic.truth] * 2, [row.asDict() for row in decoded])

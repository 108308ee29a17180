"""The decoder, compared with the exact frames of a generator that shares no code with it."""

import gzip
import io
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import zstandard

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.files.series import Series, series
from tests.peers.foreign.captures import PROFILES, Capture, capture
from tests.peers.foreign.files import NULL, RAW, SLL, SLL2, Writer
from tests.peers.foreign.profiles import Profile
from tests.peers.foreign.rows import NONE, PAIRS, content, differences
from tests.peers.foreign.tcp import Packet

Row = dict[str, Any]

MODES: Final = {
    "usual": Options(),
    "careful": Options(careful=True),
    "small chunks": Options(chunk_size=20_000),
}
NETWORKS: Final[dict[str, dict[str, float]]] = {
    "ordinary": {},
    "ports used again": {"reused": 0.4},
    "lossy": {"reused": 0.2, "lost": 0.01, "repeated": 0.02, "reordered": 0.02},
    "ongoing": {"reused": 0.2, "ongoing": 0.6},
    "cut oddly": {
        "odd_sized": 0.5,
        "merged": 0.6,
        "binary": 0.6,
        "repeated": 0.03,
        "reordered": 0.03,
    },
}
FILES: Final[dict[str, dict[str, Any]]] = {
    "big-endian": {"order": ">"},
    "nanoseconds": {"nanoseconds": True},
    "pcapng": {"pcapng": True},
    "big-endian pcapng with nanoseconds": {"pcapng": True, "order": ">", "nanoseconds": True},
    "cooked": {"link": SLL},
    "cooked, version 2": {"link": SLL2},
    "loopback": {"link": NULL},
    "raw": {"link": RAW},
    "pcapng of two interfaces": {"pcapng": True, "link": SLL},
    "big-endian pcapng of two interfaces": {"pcapng": True, "order": ">", "link": RAW},
}
LONGER: Final = int(os.environ.get("ROCKETWIRE_FOREIGN_SEEDS", "6"))


def small(profile: str, **network: Any) -> Profile:
    return replace(PROFILES[profile], connections=30, frames=600, **network)


def file_bytes(packets: Iterable[Packet], **form: Any) -> bytes:
    file = io.BytesIO()
    Writer(file, **form).write(packets)
    return file.getvalue()


def decode(captures: str | Series, options: Options | None = None) -> list[Row]:
    return [row for batch in Decoder(captures, options) for row in batch.to_pylist()]


def decode_series(paths: list[str]) -> list[Row]:
    """Rows of all files, as the command takes them together."""
    rows: list[Row] = []
    waiting = series(paths, "auto")
    while waiting:
        captures = waiting.pop(0)
        decoder = Decoder(captures)
        rows += [row for batch in decoder for row in batch.to_pylist()]
        remaining = captures.rest(decoder.totals.files)
        waiting[:0] = [remaining] if remaining else []
    return rows


@pytest.fixture(scope="module")
def traffic() -> Capture:
    return capture(small("mixed", reused=0.3, repeated=0.01, reordered=0.01), 5)


def rotate(traffic: Capture, folder: Path, count: int, suffix: str = "", **form: Any) -> list[str]:
    """Write the packets to this number of files, named as ``tcpdump -C`` does."""
    size = len(traffic.packets) // count + 1
    paths: list[str] = []
    for number in range(count):
        data = file_bytes(traffic.packets[number * size : (number + 1) * size], **form)
        path = folder / f"trace.pcap{number or ''}{suffix}"
        if suffix == ".gz":
            data = gzip.compress(data)
        elif suffix == ".zst":
            data = zstandard.ZstdCompressor().compress(data)
        path.write_bytes(data)
        paths.append(str(path))
    return paths


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("profile", PROFILES)
def test_columns_of_every_frame_are_true(
    profile: str, network: str, mode: str, tmp_path: Path
) -> None:
    traffic = capture(small(profile, **NETWORKS[network]), 1)
    path = tmp_path / "foreign.pcap"
    path.write_bytes(file_bytes(traffic.packets))
    assert NONE == differences(traffic.truth, decode(str(path), MODES[mode]))


@pytest.mark.chaos
@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 2 + LONGER))
def test_every_column_is_the_truth_for_each_seed(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "foreign.pcap"
    for profile in PROFILES:
        for name, network in NETWORKS.items():
            traffic = capture(small(profile, **network), seed)
            path.write_bytes(file_bytes(traffic.packets))
            for mode, options in MODES.items():
                rows = decode(str(path), options)
                assert NONE == differences(traffic.truth, rows), (profile, name, mode)


@pytest.mark.parametrize("form", FILES)
def test_every_column_is_the_truth_in_each_form_of_file(form: str, tmp_path: Path) -> None:
    unit = 1 if FILES[form].get("nanoseconds") else 1000
    traffic = capture(small("mixed", reused=0.3), 4, unit=unit)
    path = tmp_path / "foreign.pcap"
    path.write_bytes(file_bytes(traffic.packets, **FILES[form]))
    assert NONE == differences(traffic.truth, decode(str(path)))


# ---- rotated files


@pytest.mark.parametrize(
    ("suffix", "form"), [("", {}), (".gz", {}), (".zst", {}), ("", {"pcapng": True})]
)
@pytest.mark.parametrize("count", [2, 7, 13])
def test_rotated_files_have_the_truth_in_any_order(
    count: int, suffix: str, form: dict[str, Any], traffic: Capture, tmp_path: Path
) -> None:
    paths = rotate(traffic, tmp_path, count, suffix, **form)
    rows = decode_series(sorted(paths, reverse=True))
    assert NONE == differences(traffic.truth, rows)
    assert set(paths) == {row["file"] for row in rows}


def test_missing_file_among_rotated_ones_is_a_loss(traffic: Capture, tmp_path: Path) -> None:
    paths = rotate(traffic, tmp_path, 30)
    del paths[14]
    series_rows = decode_series(paths)
    single_rows = [row for path in paths for row in decode(path)]
    assert content(single_rows, but=(*PAIRS, "body_ok", "gap", "end_time_ns")) <= content(
        series_rows, but=(*PAIRS, "body_ok", "gap", "end_time_ns")
    )
    paired = sum(row["latency_ns"] is not None for row in series_rows)
    assert paired > sum(row["latency_ns"] is not None for row in single_rows)

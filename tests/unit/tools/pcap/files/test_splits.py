"""Parts of captures: cuts at any byte, and the frames that begin between two of them."""

import gzip
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.pcap.decode.decoder import Options
from rocketwire_tools.pcap.decode.split_decoder import Reach, SplitDecoder
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.splits import Split, find_record, plan, read_head
from rocketwire_tools.pcap.rows.rows import COLUMNS
from tests.peers.foreign.captures import capture
from tests.peers.foreign.files import save
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import LARGE, Made

FORMS: list[dict[str, Any]] = [
    {},
    {"nanoseconds": False},
    {"order": ">"},
    {"pcapng": True},
    {"pcapng": True, "order": ">"},
]
ALONE = Options(fields=[name for name in COLUMNS if name not in ("request_code", "latency_ns")])
"""The rows of a part that do not depend on other parts."""


def content(decoded: Iterable[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in decoded)


def of_splits(splits: Iterable[Split], reach: Reach | None = None) -> Counter[tuple[Any, ...]]:
    return content(
        row
        for split in splits
        for batch in SplitDecoder(split, ALONE, reach)
        for row in batch.to_pylist()
    )


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_from_any_byte_the_next_record_is_found(
    form: dict[str, Any], sample: Made, tmp_path: Path
) -> None:
    path = str(save(tmp_path / "capture", sample.packets[:120], **form))
    head = read_head(path)
    assert head is not None
    size = (tmp_path / "capture").stat().st_size
    ends: list[int] = [head.end]
    while ends[-1] < size:
        ends.append(find_record(path, head, ends[-1] + 1))
    assert 121 == len(ends)
    for begin, end in zip(ends[::20], ends[1::20], strict=False):
        offsets = range(begin + 1, end + 1, 97)
        assert {end} == {find_record(path, head, offset) for offset in (*offsets, end)}


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_parts_hold_every_frame_once_wherever_the_cuts_are(
    form: dict[str, Any], sample: Made, tmp_path: Path
) -> None:
    path = save(tmp_path / "capture", sample.packets, **form)
    splits = plan(str(path), 350_001)
    assert len(splits) > 8
    assert content(rows(path, ALONE)) == of_splits(splits)


def test_frames_that_are_larger_than_a_part_are_found_once(tmp_path: Path) -> None:
    profile = replace(LARGE, lost=0.01, repeated=0.02, reordered=0.02)
    path = save(tmp_path / "large.pcap", capture(profile, 8).packets)
    splits = plan(str(path), 300_000)
    assert len(splits) > 4
    assert any(row["frame_length"] > 600_000 for row in rows(path, ALONE))
    assert content(rows(path, ALONE)) == of_splits(splits)


def test_a_part_that_looks_at_nothing_in_front_of_it_still_finds_where_frames_begin(
    sample: Made,
) -> None:
    all_rows = content(rows(sample.path, ALONE))
    parts = of_splits(plan(str(sample.path), 500_000), Reach(backward=0))
    assert sum((all_rows - parts).values()) <= 2
    assert sum((parts - all_rows).values()) <= 8  # segments sent again right after a cut


def test_frames_of_the_last_part_end_in_the_next_file(tmp_path: Path) -> None:
    packets = capture(LARGE, 8).packets
    capture_path = save(tmp_path / "whole.pcap", packets)
    middle = len(packets) // 2
    first, second = (
        str(save(tmp_path / f"{number}.pcap", part))
        for number, part in enumerate((packets[:middle], packets[middle:]))
    )
    splits = [replace(split, after=second) for split in plan(first, 100_001)]
    splits += [replace(split, before=first) for split in plan(second, 100_001)]
    assert len(splits) > 8
    nameless = Options(fields=[name for name in ALONE.fields if name != "file"])
    ours = content(
        row
        for split in splits
        for batch in SplitDecoder(split, nameless)
        for row in batch.to_pylist()
    )
    assert content(rows(capture_path, nameless)) == ours


def test_compressed_capture_and_an_empty_one_are_one_part(sample: Made, tmp_path: Path) -> None:
    packed = tmp_path / "usual.pcap.gz"
    packed.write_bytes(gzip.compress(sample.path.read_bytes(), 1))
    assert [Split(str(packed))] == plan(str(packed), 10_000)
    empty = tmp_path / "empty.pcap"
    empty.touch()
    assert [Split(str(empty))] == plan(str(empty), 10_000)
    assert [Split(str(sample.path))] == plan(str(sample.path), 0)
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(sample.path.read_bytes()[:20])
    assert [Split(str(cut))] == plan(str(cut), 10)


def test_file_that_is_no_capture_cannot_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind, and longer than a header")
    with pytest.raises(CaptureError, match=r"notes\.txt at byte 0: this is neither"):
        plan(str(path), 10)
    with pytest.raises(CaptureError, match="No such file"):
        plan(str(tmp_path / "missing.pcap"), 10)


def test_bytes_that_are_no_records_cannot_be_cut(sample: Made, tmp_path: Path) -> None:
    data = sample.path.read_bytes()
    path = tmp_path / "bad.pcap"
    path.write_bytes(data[:200_000] + bytes(8 << 20))
    with pytest.raises(CaptureError, match="no records in the next 4194304 bytes"):
        plan(str(path), 1 << 20)


def test_truncated_last_record_belongs_to_the_last_part(sample: Made, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(sample.path.read_bytes()[:-7])
    decoders = [SplitDecoder(split, ALONE) for split in plan(str(path), 1_000_000)]
    decoded = content(row for decoder in decoders for batch in decoder for row in batch.to_pylist())
    assert content(rows(path, ALONE)) == decoded
    assert [False] * (len(decoders) - 1) + [True] == [
        decoder.totals.truncated for decoder in decoders
    ]


def test_pcapng_with_later_interfaces_cannot_be_split(sample: Made, tmp_path: Path) -> None:
    path = tmp_path / "two.pcapng"
    save(path, sample.packets[:3000], pcapng=True)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(CaptureError, match="a section or an interface that begins midway"):
        of_splits(plan(str(path), 100_000))
    assert rows(path, ALONE)

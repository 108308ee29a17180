"""Captures recorded from real peers: every frame is found that tshark and the length words show, and nothing else."""

import gzip
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.dissector.dissector import dissector
from tests.peers import manifest
from tests.support.captures.decoded_rows import rows
from tests.support.captures.record import GIVES_AWAY
from tests.support.captures.tshark_frames import Counted
from tests.support.tshark import needs_tshark
from tests.support.tshark import rows as tshark_rows

CAPTURES = sorted((manifest.FIXTURES / "captures").glob("*.pcap.gz"))
every_capture = pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)

Frames = dict[tuple[str, str], list[tuple[int, int, int, int]]]


def read_counts(capture: Path) -> list[Counted]:
    result: list[Counted] = json.loads(capture.with_name(capture.name[:-8] + ".json").read_text())
    return result


def frames_of(counted: list[Counted]) -> Frames:
    return {
        (item["src"], item["dst"]): [(*frame,) for frame in item["frames"]]
        for item in counted
        if item["frames"]
    }


def decode_frames(capture: Path) -> Frames:
    result: defaultdict[tuple[str, str], list[tuple[int, int, int, int]]] = defaultdict(list)
    for row in rows(capture):
        ends = f"{row['src']}:{row['src_port']}", f"{row['dst']}:{row['dst_port']}"
        result[ends].append((row["frame_length"] - 4, row["code"], row["opaque"], row["flag"]))
    return dict(result)


@every_capture
def test_exactly_the_frames_are_found_that_were_counted(capture: Path) -> None:
    assert frames_of(read_counts(capture)) == decode_frames(capture)
    assert all(row["header_ok"] and row["body_ok"] and not row["gap"] for row in rows(capture))


@pytest.mark.process
@every_capture
@needs_tshark
@pytest.mark.parametrize("form", ["pcap", "nsecpcap", "modpcap", "pcapng", "twice"])
def test_they_are_found_in_copies_by_wireshark(capture: Path, form: str, tmp_path: Path) -> None:
    copy = tmp_path / "made.pcap"
    if form == "twice":  # each packet was captured two times
        command: list[str | Path] = ["mergecap", "-w", copy, capture, capture]
    else:
        command = ["editcap", "-F", form, capture, copy]
    subprocess.run(command, check=True)
    assert frames_of(read_counts(capture)) == decode_frames(copy)


@pytest.mark.process
@every_capture
@needs_tshark
def test_the_dissector_shows_them_too(capture: Path, tmp_path: Path) -> None:
    script = tmp_path / "rocketmq.lua"
    script.write_text(dissector(), "utf-8")
    result: Counter[tuple[str, str]] = Counter()
    fields = ["rocketmq.length", "rocketmq.opaque"]
    for lengths, opaques in tshark_rows(capture, fields, script=script, only="rocketmq.length"):
        result.update(zip(lengths.split(","), opaques.split(","), strict=True))
    expected = Counter((str(row["frame_length"] - 4), str(row["opaque"])) for row in rows(capture))
    assert expected == result
    assert [] == tshark_rows(
        capture, fields, script=script, only="rocketmq.bad_header || rocketmq.bad_length"
    )


@every_capture
def test_every_response_has_its_request(capture: Path) -> None:
    for row in rows(capture):
        if row["kind"] == "response":
            assert row["latency_ns"] is not None
            assert row["latency_ns"] > 0


def test_bodies_of_java_are_decoded(capfd: pytest.CaptureFixture[str]) -> None:
    capture = str(next(path for path in CAPTURES if path.name == "java-5.5.0.pcap.gz"))
    assert main(["decode", capture, "--format", "jsonl", "--body", "decoded"]) == 0
    result: list[dict[str, Any]] = [
        json.loads(line) for line in capfd.readouterr().out.splitlines()
    ]
    unknown = {
        (row["request_code"], row["code"])
        for row in result
        if row["body_length"] and not row["body"]
    }
    assert set() == unknown
    registrations = [
        json.loads(row["body"]) for row in result if row["code"] == 103 and row["kind"] == "request"
    ]
    assert any("orders" in json.dumps(item) for item in registrations)


@every_capture
def test_no_capture_gives_the_machine_away(capture: Path) -> None:
    data = gzip.decompress(capture.read_bytes())
    assert GIVES_AWAY.search(data) is None

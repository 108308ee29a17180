"""The command line: formats, columns, masks, reports and exit statuses."""

import csv
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.rows.rows import COLUMNS
from rocketwire_tools.terminal import csv_cell
from tests.peers.foreign.files import save
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import Made
from tests.support.file_programs import run_pcap

parquet: Any = importlib.import_module("pyarrow.parquet")


def read_table(path: Path) -> list[dict[str, Any]]:
    """Rows of a Parquet file."""
    table: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return table


def decode_lines(sample: Made, *options: str) -> list[dict[str, Any]]:
    """The rows that ``decode`` writes as lines of JSON."""
    return run_pcap("decode", sample.path, "--format", "jsonl", *options).lines


def test_all_formats_hold_the_same_rows(sample: Made, tmp_path: Path) -> None:
    engine = rows(sample.path)
    assert engine == decode_lines(sample)
    run_pcap("decode", sample.path, "-o", tmp_path / "rows.parquet")
    assert engine == read_table(tmp_path / "rows.parquet")
    run_pcap("decode", sample.path, "-o", tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        of_csv = list(csv.DictReader(file))
    assert list(COLUMNS) == list(of_csv[0])
    for row, text in zip(engine, of_csv, strict=True):
        assert {name: _csv(value) for name, value in row.items()} == text


def _csv(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else csv_cell(str(value))


def test_reader_of_parquet_can_pass_over_rows_by_their_time(sample: Made, tmp_path: Path) -> None:
    run_pcap("decode", sample.path, "-o", tmp_path / "rows.parquet")
    file = parquet.ParquetFile(tmp_path / "rows.parquet")
    times = [row["time_ns"] for row in rows(sample.path)]
    bounds = file.metadata.row_group(0).column(list(COLUMNS).index("time_ns")).statistics
    assert (min(times), max(times)) == (bounds.min, bounds.max)
    assert file.schema_arrow == pa.schema(list(COLUMNS.items()))


def test_file_name_without_a_known_format_is_refused(sample: Made, tmp_path: Path) -> None:
    path = tmp_path / "rows.foo"

    error = run_pcap("decode", sample.path, "-o", path, status=2).err

    assert ".parquet, .jsonl, .json, .csv, .txt, or choose one by --format" in error
    assert not path.exists()
    run_pcap("decode", sample.path, "-o", path, "--format", "csv")
    assert path.read_text().startswith('"file",')


def test_text_has_both_ends_codes_and_latencies(sample: Made) -> None:
    lines = run_pcap("decode", sample.path).text.splitlines()
    assert len(rows(sample.path)) == len(lines)
    assert any(" > " in line and "request SEND_MESSAGE_V2(310)" in line for line in lines)
    assert any(re.search(r"response SUCCESS\(0\) .* latency=[0-9.]+ms$", line) for line in lines)
    assert not any("_ns=" in line for line in lines)


def test_text_names_a_time_without_a_unit_and_shows_it_as_one(sample: Made) -> None:
    fields = "end_time_ns,body_length"
    line = run_pcap("decode", sample.path, "--fields", fields).text.splitlines()[0]
    assert re.match(r"end_time=\d{4}-\d\d-\d\dT[0-9:.]+Z body_length=\d+$", line)


def test_columns_are_those_of_the_option_in_its_order(sample: Made) -> None:
    fields = "topic, time_ns,ext_fields"
    lines = decode_lines(sample, "--fields", fields)
    assert all(["topic", "time_ns", "ext_fields"] == list(row) for row in lines)
    assert any(json.loads(row["ext_fields"] or "{}").get("b") for row in lines)


def test_filter_may_read_columns_that_are_not_shown(sample: Made) -> None:
    lines = decode_lines(sample, "--fields", "opaque", "--filter", "code == 310")
    expected = [{"opaque": row["opaque"]} for row in rows(sample.path) if row["code"] == 310]
    assert expected == lines


def test_bodies_are_shown_only_on_request(sample: Made) -> None:
    by_default = decode_lines(sample)[0]
    assert "body" not in by_default
    without = decode_lines(sample, "--body", "none")[0]
    assert set(by_default) - set(without) == {"body_length"}


def test_masks_are_the_same_for_the_same_name_and_hide_it(sample: Made) -> None:
    clear = decode_lines(sample)
    masked = decode_lines(sample, "--redact", "secret")
    for name in ("topic", "group", "src", "dst", "connection"):
        masks: dict[str, str] = {}
        for row, masked_row in zip(clear, masked, strict=True):
            text, mask = row[name], masked_row[name]
            if text is None:
                assert mask is None
                continue
            assert text != mask
            assert masks.setdefault(text, mask) == mask
        assert len(set(masks.values())) == len(masks)
    assert masked == decode_lines(sample, "--redact", "secret")
    assert masked != decode_lines(sample, "--redact", "another")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("decode --fields nonsense", "no column 'nonsense'"),
        ("decode --filter code==", "invalid syntax"),
        ("decode -o /nowhere/at/all.csv", "no such file or directory"),
        ("decode --redact=", "an empty secret hides nothing"),
        ("decode --redact secret --fields ext_fields", "has no masks: leave it out, or --redact"),
        ("decode --redact secret --body decoded", "has no masks: leave it out, or --redact"),
        ("summary --top -3", "argument --top: '-3': must be a positive integer"),
        ("topics --top x", "argument --top: 'x': must be a positive integer"),
        ("summary --plot picture.gif", "must end in .png or .svg"),
    ],
)
def test_invalid_option_is_status_2(command: str, reason: str, sample: Made) -> None:
    output = run_pcap(*command.split(), sample.path, status=2)

    assert (b"", True) == (output.out, reason in output.err)


def test_unreadable_capture_is_status_1_and_others_decode(sample: Made, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"nothing of the kind, and longer than a header")

    output = run_pcap("decode", bad, sample.path, "--format", "jsonl", status=1)

    assert len(rows(sample.path)) == len(output.lines)
    reason = "this is neither a pcap nor a pcapng file"
    assert output.err == f"rocketwire-pcap: {bad} at byte 0: {reason}\n"


@pytest.mark.process
def test_reader_that_stops_ends_the_command_silently(sample: Made) -> None:
    command = [sys.executable, "-m", "rocketwire_tools.pcap", "decode", str(sample.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"" == process.stderr.read()
        assert process.wait() == 0


@pytest.mark.process
def test_closed_output_is_an_error_only_if_it_is_needed(sample: Made, tmp_path: Path) -> None:
    def decode(*options: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "rocketwire_tools.pcap", "decode", str(sample.path)]
        shell = ["sh", "-c", 'exec "$@" >&-', "sh", *command, *options]
        process = subprocess.run(shell, check=False, stderr=subprocess.PIPE, text=True)
        return process.returncode, process.stderr

    assert decode() == (2, "rocketwire-pcap: bad file descriptor\n")
    written = tmp_path / "rows.jsonl"
    assert decode("-o", str(written)) == (0, "")
    assert len(written.read_bytes().splitlines()) == len(rows(sample.path))


@pytest.mark.parametrize("name", ["summary", "slow", "topics", "connections"])
def test_reports_are_printed_for_people_and_for_programs(name: str, sample: Made) -> None:
    text = run_pcap(name, sample.path, "--top", "3").text
    tables = run_pcap(name, sample.path, "--top", "3", "--json").report

    for title, table in tables.items():
        assert (title.upper() in text) == bool(table)
        assert len(table) <= 3 or title in ("overall", "oddities")


def test_unknown_link_type_is_named(sample: Made, tmp_path: Path) -> None:
    data = bytearray(sample.path.read_bytes())
    data[20:24] = (147).to_bytes(4, "little")
    path = tmp_path / "strange.pcap"
    path.write_bytes(data)

    error = run_pcap("decode", path).err

    reason = f"packets that were not decoded: link type 147: {len(sample.packets):,}"
    assert error == f"{path}: {reason}\n"


def test_capture_without_frames_differs_from_an_empty_one(sample: Made, tmp_path: Path) -> None:
    silent = [packet._replace(data=b"") for packet in sample.packets[:200]]
    path = save(tmp_path / "silent.pcap", silent)
    empty = save(tmp_path / "empty.pcap", [])

    def decode(*words: object) -> tuple[bytes, str]:
        output = run_pcap("decode", *words, "--format", "jsonl")
        return output.out, output.err

    assert decode(path, empty) == (b"", f"{path}: no frames in 200 packets\n")
    path.write_bytes(path.read_bytes()[:24] + bytes(16 * 3))
    assert decode(path) == (b"", f"{path}: no frames in 3 packets (not IP: 3)\n")
    assert decode(path, "--filter", "code == 1") == (b"", "")


def test_file_without_a_byte_is_named(sample: Made, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.touch()

    output = run_pcap("decode", empty, sample.path, "--format", "jsonl")

    assert (True, f"{empty}: the file is empty\n") == (bool(output.out), output.err)


def test_summary_counts_the_rows(sample: Made) -> None:
    table = run_pcap("summary", sample.path, "--json").report["overall"]

    overall = {row["what"]: row["value"] for row in table}
    kinds = Counter(row["kind"] for row in rows(sample.path))
    assert kinds.total() == overall["frames"]
    for kind in ("request", "oneway", "response"):
        assert kinds[kind] == overall[f"{kind} frames"]

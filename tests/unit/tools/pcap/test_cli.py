"""The command line: formats, columns, masks, reports and exit statuses."""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.rows.output import JsonLines
from rocketwire_tools.pcap.rows.rows import COLUMNS, schema
from rocketwire_tools.terminal import csv_cell
from tests.peers.foreign.files import save
from tests.support.captures.decoded_rows import rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.captures.fixtures import Made


def table(path: Path) -> list[dict[str, Any]]:
    """Rows of a Parquet file."""
    parquet: Any = importlib.import_module("pyarrow.parquet")
    found: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return found


def json_lines(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def decode(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    """Runs ``decode`` with arguments; gives what it printed."""

    def run(*arguments: str, status: int = 0) -> bytes:
        assert status == main(["decode", *arguments])
        return capfdbinary.readouterr().out

    return run


def test_all_formats_hold_the_same_rows(usual: Made, tmp_path: Path, decode: Any) -> None:
    engine = rows(usual.path)
    assert engine == json_lines(decode(str(usual.path), "--format", "jsonl"))
    decode(str(usual.path), "-o", str(tmp_path / "rows.parquet"))
    assert engine == table(tmp_path / "rows.parquet")
    decode(str(usual.path), "-o", str(tmp_path / "rows.csv"))
    with (tmp_path / "rows.csv").open(newline="") as file:
        of_csv = list(csv.DictReader(file))
    assert list(COLUMNS) == list(of_csv[0])
    for row, text in zip(engine, of_csv, strict=True):
        assert {name: _csv(value) for name, value in row.items()} == text


def _csv(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else csv_cell(str(value))


def test_reader_of_parquet_can_pass_over_rows_by_their_time(
    usual: Made, tmp_path: Path, decode: Any
) -> None:
    parquet: Any = importlib.import_module("pyarrow.parquet")
    decode(str(usual.path), "-o", str(tmp_path / "rows.parquet"))
    file = parquet.ParquetFile(tmp_path / "rows.parquet")
    times = [row["time_ns"] for row in rows(usual.path)]
    bounds = file.metadata.row_group(0).column(list(COLUMNS).index("time_ns")).statistics
    assert (min(times), max(times)) == (bounds.min, bounds.max)
    assert file.schema_arrow == pa.schema(list(COLUMNS.items()))


def test_file_whose_name_asks_for_no_known_format_is_refused(
    usual: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.foo"
    assert main(["decode", str(usual.path), "-o", str(path)]) == 2
    assert (
        ".parquet, .jsonl, .json, .csv, .txt, or choose one by --format" in capsys.readouterr().err
    )
    assert not path.exists()
    assert main(["decode", str(usual.path), "-o", str(path), "--format", "csv"]) == 0
    assert path.read_text().startswith('"file",')


def test_text_says_who_asked_whom_for_what(usual: Made, decode: Any) -> None:
    lines = decode(str(usual.path)).decode().splitlines()
    assert len(rows(usual.path)) == len(lines)
    assert any(" > " in line and "request SEND_MESSAGE_V2(310)" in line for line in lines)
    assert any(re.search(r"response SUCCESS\(0\) .* latency=[0-9.]+ms$", line) for line in lines)
    assert not any("_ns=" in line for line in lines)


def test_text_names_a_time_without_a_unit_and_shows_it_as_one(usual: Made, decode: Any) -> None:
    line = decode(str(usual.path), "--fields", "end_time_ns,body_length").decode().splitlines()[0]
    assert re.match(r"end_time=\d{4}-\d\d-\d\dT[0-9:.]+Z body_length=\d+$", line)


def test_columns_come_as_they_were_asked_for(usual: Made, decode: Any) -> None:
    fields = "topic,time_ns,ext_fields"
    found = json_lines(decode(str(usual.path), "--format", "jsonl", "--fields", fields))
    assert all(["topic", "time_ns", "ext_fields"] == list(row) for row in found)
    assert any(json.loads(row["ext_fields"] or "{}").get("b") for row in found)


def test_filter_may_read_columns_that_are_not_shown(usual: Made, decode: Any) -> None:
    text = decode(
        str(usual.path), "--format", "jsonl", "--fields", "opaque", "--filter", "code == 310"
    )
    expected = [{"opaque": row["opaque"]} for row in rows(usual.path) if row["code"] == 310]
    assert expected == json_lines(text)


def test_bodies_are_not_shown_unless_asked_for(usual: Made, decode: Any) -> None:
    usually = json_lines(decode(str(usual.path), "--format", "jsonl"))[0]
    assert "body" not in usually
    without = json_lines(decode(str(usual.path), "--format", "jsonl", "--body", "none"))[0]
    assert set(usually) - set(without) == {"body_length"}


def test_masks_are_the_same_for_the_same_name_and_hide_it(usual: Made, decode: Any) -> None:
    plain = json_lines(decode(str(usual.path), "--format", "jsonl"))
    masked = json_lines(decode(str(usual.path), "--format", "jsonl", "--redact", "secret"))
    for name in ("topic", "group", "src", "dst", "connection"):
        masks: dict[str, str] = {}
        for before, after in zip(plain, masked, strict=True):
            if before[name] is None:
                assert after[name] is None
                continue
            assert before[name] != after[name]
            assert masks.setdefault(before[name], after[name]) == after[name]
        assert len(set(masks.values())) == len(masks)
    again = json_lines(decode(str(usual.path), "--format", "jsonl", "--redact", "secret"))
    other = json_lines(decode(str(usual.path), "--format", "jsonl", "--redact", "another"))
    assert masked == again
    assert masked != other


@pytest.mark.parametrize(
    "arguments",
    [["--fields", "nonsense"], ["--filter", "code =="], ["-o", "/nowhere/at/all.csv"]],
    ids=lambda arguments: arguments[0],
)
def test_what_makes_no_sense_is_said_and_ends_with_two(
    arguments: list[str], usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", str(usual.path), *arguments]) == 2
    assert capfd.readouterr().err.startswith("rocketwire-pcap: ")


@pytest.mark.parametrize("arguments", [["summary", "--top", "-3"], ["topics", "--top", "x"]])
def test_fewer_than_one_line_is_refused(
    arguments: list[str], usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, str(usual.path)]) == 2
    refused = f"argument {arguments[1]}: {arguments[2]!r}: must be a positive integer"
    assert refused in capfd.readouterr().err


def test_empty_secret_is_refused(usual: Made, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", str(usual.path), "--redact", ""]) == 2
    printed = capfd.readouterr()
    assert ("", True) == (printed.out, "an empty secret hides nothing" in printed.err)


def test_capture_that_cannot_be_read_ends_with_one_and_the_others_are_decoded(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"nothing of the kind, and longer than a header")
    assert main(["decode", str(bad), str(usual.path), "--format", "jsonl"]) == 1
    printed = capfd.readouterr()
    assert len(rows(usual.path)) == len(printed.out.splitlines())
    assert (
        f"rocketwire-pcap: {bad} at byte 0: this is neither a pcap nor a pcapng file\n"
        == printed.err
    )


@pytest.mark.process
def test_who_stops_reading_ends_it_silently(usual: Made) -> None:
    command = [sys.executable, "-m", "rocketwire_tools.pcap", "decode", str(usual.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"" == process.stderr.read()
        assert process.wait() == 0


@pytest.mark.process
def test_closed_output_is_told_of_where_something_is_to_be_written(
    usual: Made, tmp_path: Path
) -> None:
    def decode(*options: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "rocketwire_tools.pcap", "decode", str(usual.path)]
        shell = ["sh", "-c", 'exec "$@" >&-', "sh", *command, *options]
        done = subprocess.run(shell, check=False, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stderr

    assert decode() == (2, "rocketwire-pcap: bad file descriptor\n")
    written = tmp_path / "rows.jsonl"
    assert decode("-o", str(written)) == (0, "")
    assert len(written.read_bytes().splitlines()) == len(rows(usual.path))


@pytest.mark.parametrize("name", ["summary", "slow", "topics", "connections"])
def test_reports_are_printed_for_people_and_for_programs(
    name: str, usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([name, str(usual.path), "--top", "3"]) == 0
    text = capfd.readouterr().out
    assert main([name, str(usual.path), "--top", "3", "--json"]) == 0
    tables = json.loads(capfd.readouterr().out)
    for title, found in tables.items():
        assert (title.upper() in text) == bool(found)
        assert len(found) <= 3 or title in ("overall", "oddities")


def test_summary_counts_what_the_rows_say(usual: Made, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(usual.path), "--json"]) == 0
    overall = {
        row["what"]: row["value"]
        for row in json.load(io.StringIO(capfd.readouterr().out))["overall"]
    }
    found = rows(usual.path)
    assert len(found) == overall["frames"]
    for kind in ("request", "oneway", "response"):
        assert sum(row["kind"] == kind for row in found) == overall[f"{kind} frames"]


def test_slow_requests_carry_the_topic_that_they_asked_for(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["slow", str(usual.path), "--json", "--top", "1000"]) == 0
    found = json.loads(capfd.readouterr().out)["latencies"]
    answered = sum(
        row["latency_ns"] is not None and row["code_name"] != "PULL_NOT_FOUND"
        for row in rows(usual.path)
    )
    assert answered == sum(row["answers"] for row in found)
    assert all(row["topic"] for row in found if row["request"] == "PULL_MESSAGE")


def test_link_type_that_is_not_known_is_named(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(usual.path.read_bytes())
    data[20:24] = (147).to_bytes(4, "little")
    path = tmp_path / "strange.pcap"
    path.write_bytes(data)
    assert main(["decode", str(path)]) == 0
    said = f"{path}: packets that were not decoded: link type 147: {len(usual.packets):,}\n"
    assert said == capfd.readouterr().err


def test_capture_without_frames_is_told_from_an_empty_one(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    silent = [one._replace(data=b"") for one in usual.packets[:200]]
    path = save(tmp_path / "silent.pcap", silent)
    empty = save(tmp_path / "empty.pcap", [])
    assert main(["decode", str(path), str(empty), "--format", "jsonl"]) == 0
    assert capfd.readouterr() == ("", f"{path}: no frames in 200 packets\n")
    path.write_bytes(path.read_bytes()[:24] + bytes(16 * 3))
    assert main(["decode", str(path), "--format", "jsonl"]) == 0
    assert capfd.readouterr() == ("", f"{path}: no frames in 3 packets (not IP: 3)\n")
    assert main(["decode", str(path), "--filter", "code == 1", "--format", "jsonl"]) == 0
    assert capfd.readouterr() == ("", "")


def test_file_without_a_byte_is_named(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capture, empty = save(tmp_path / "capture.pcap", usual.packets), tmp_path / "empty.pcap"
    empty.touch()
    assert main(["decode", str(empty), str(capture), "--format", "jsonl"]) == 0
    printed = capfd.readouterr()
    assert (True, f"{empty}: the file is empty\n") == (bool(printed.out), printed.err)


def test_row_is_one_line_to_every_reader() -> None:
    topics = ["a\x85b", "c\u2028\u2029d", "\u4e2d\n"]
    written = io.BytesIO()

    JsonLines(written, schema(("topic",))).write(
        arrow.batch([arrow.column(topics, COLUMNS["topic"])], schema(("topic",)))
    )

    text = written.getvalue().decode()
    assert topics == [json.loads(line)["topic"] for line in text.splitlines()]


def test_blanks_between_the_names_of_columns_mean_nothing(usual: Made, decode: Any) -> None:
    first = json_lines(decode(str(usual.path), "--format", "jsonl", "--fields", "opaque, code"))[0]

    assert ["opaque", "code"] == list(first)

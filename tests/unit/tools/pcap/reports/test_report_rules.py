"""The errors that reports count, and their topics: recorded and generated captures, against the rows."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.reports import protocols
from rocketwire_tools.pcap.reports.plotting import PlottedReport
from rocketwire_tools.pcap.reports.reports import (
    REPORTS,
    ColumnReport,
    Seconds,
    SlowReport,
    SummaryReport,
    as_text,
)
from rocketwire_tools.pcap.reports.run import CaptureRun
from rocketwire_tools.pcap.rows.rows import EVERY, schema
from rocketwire_tools.pcap.rows.selection import Selection
from tests.peers import manifest
from tests.peers.foreign.files import Writer
from tests.peers.foreign.repeated import read_recorded
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import Made
from tests.support.file_programs import run_pcap

RECORDED = manifest.FIXTURES / "captures"
JAVA = ["java-4.9.4", "java-5.5.0", "java-5.5.0-binary"]
POLLS = {
    "PULL_NOT_FOUND": 19,
    "PULL_RETRY_IMMEDIATELY": 20,
    "POLLING_FULL": 209,
    "POLLING_TIMEOUT": 210,
}


def report(name: str, path: Path) -> dict[str, Any]:
    return run_pcap(name, path, "--json", "--top", "1000").report


def responses(fields: Sequence[str], *answers: tuple[int, int, int, str]) -> Any:
    """Responses of code, request code, latency in nanoseconds, and topic of the request."""
    columns: dict[str, list[Any]] = {name: [1] * len(answers) for name in fields}
    columns |= {name: ["x"] * len(answers) for name in fields if EVERY[name] == arrow.pa.string()}
    columns |= {name: [True] * len(answers) for name in fields if EVERY[name] == arrow.pa.bool_()}
    columns |= {
        "kind": ["response"] * len(answers),
        "code": [code for code, *_ in answers],
        "code_name": [ResponseCode(code).name for code, *_ in answers],
        "request_code": [request_code for _, request_code, *_ in answers],
        "latency_ns": [latency for *_, latency, _ in answers],
        "request_topic": [topic for *_, topic in answers],
        "topic": [None] * len(answers),
        "held": [False] * len(answers),
    }
    arrays = [arrow.column(columns[name], EVERY[name]) for name in fields]
    return arrow.batch(arrays, schema(fields))


@pytest.mark.parametrize("name", JAVA)
def test_responses_and_errors_belong_to_the_topic_of_their_request(name: str) -> None:
    path = RECORDED / f"{name}.pcap.gz"
    requests = {
        (row["connection"], row["opaque"], row["time_ns"]): row["topic"]
        for row in rows(path)
        if row["kind"] == "request"
    }
    expected: Counter[tuple[str | None, str]] = Counter()
    for row in rows(path):
        if row["kind"] == "response" and row["latency_ns"] is not None:
            topic = requests[row["connection"], row["opaque"], row["time_ns"] - row["latency_ns"]]
            expected[topic, "responses"] += 1
            expected[topic, "errors"] += row["code"] not in (0, *POLLS.values())

    by_topic = {row["topic"]: row for row in report("topics", path)["topics"]}

    assert by_topic["orders"]["responses"] > 0
    assert by_topic["NoSuchTopic"]["errors"] == 1
    for (topic, column), count in expected.items():
        assert by_topic[topic][column] == count, (topic, column)


@pytest.mark.parametrize("code", POLLS.values(), ids=POLLS)
def test_end_of_a_poll_is_no_error_and_no_latency(code: int, tmp_path: Path) -> None:
    pull = (code, RequestCode.PULL_MESSAGE, 15_000_000_000, "T")
    lost = (ResponseCode.PULL_OFFSET_MOVED, RequestCode.PULL_MESSAGE, 2_000_000, "T")
    for name, make in REPORTS.items():
        report = make(10)
        report.take(responses(report.fields, pull, lost))
        tables = {table.name: table for table in report.tables([])}
        if name == "summary":
            assert tables["errors"].rows == [("PULL_MESSAGE", "PULL_OFFSET_MOVED", 1)]
            assert ("answers that are errors", 1) in tables["overall"].rows
            assert tables["talkers"].rows[0][-1] == 1
        elif name == "slow":
            assert [row[2:] for row in tables["latencies"].rows] == [(1, 2.0, 2.0, 2.0, 2.0)]
            assert len(tables["slowest"].rows) == 1
        else:
            assert [row[-1] for row in tables[name].rows] == [1]
        if name in ("summary", "slow"):
            ((request, answer, count, reason),) = tables["poll_ends"].rows
            assert (request, answer, count) == ("PULL_MESSAGE", ResponseCode(code).name, 1)
            assert reason
    plotted = PlottedReport(ColumnReport("topic", 1), str(tmp_path / "a.svg"))
    plotted.take(responses(plotted.fields, pull, lost))
    assert plotted._latencies.sum() == 1  # pyright: ignore[reportPrivateUsage] - what is drawn


@pytest.mark.parametrize("name", JAVA)
def test_pull_that_java_held_until_a_message_came_is_not_slow(name: str, tmp_path: Path) -> None:
    path = RECORDED / f"{name}.pcap.gz"
    tables = report("slow", path)
    pulls = [row for row in rows(path) if row["request_code"] == 11 and row["code"] == 0]
    latency_ms = max(pulls, key=lambda row: row["time_ns"])["latency_ns"] / 1e6

    assert [(row["answers"], row["max_ms"]) for row in tables["held"]] == [(1, latency_ms)]
    assert latency_ms not in [row["latency_ms"] for row in tables["slowest"]]
    (answered_at_once,) = (row for row in tables["latencies"] if row["request"] == "PULL_MESSAGE")
    assert answered_at_once["answers"] == len(pulls) - 1
    drawn = PlottedReport(SlowReport(1), str(tmp_path / "a.svg"))
    for batch in CaptureRun([str(path)], Selection(drawn.fields, report=True)).batches():
        drawn.take(batch)
    answered = sum(row["answers"] for row in tables["latencies"])
    assert drawn._latencies.sum() == answered  # pyright: ignore[reportPrivateUsage] - what is drawn


def test_times_have_units_and_versions_and_codes_have_names() -> None:
    slow, summary = SlowReport(5), SummaryReport(5)
    answer = (0, RequestCode.SEND_MESSAGE_V2, 1_234_567_891, "T")
    slow.take(responses(slow.fields, answer))

    text = as_text(slow.tables([]))

    assert text.splitlines()[1].split() == ["request", "topic", "answers", "p50", "p90", "p99", "max"]  # fmt: skip
    assert "SEND_MESSAGE_V2  T            1  1234.568ms" in text
    assert "1970-01-01T00:00:00.000000001Z" in text
    assert "," not in text
    summary.take(responses(summary.fields, answer, (4711, 4711, 1, "T")))
    assert ("?", "4711", 1) not in (tables := summary.tables([]))[2].rows
    assert tables[2].rows == [("4711", "4711", 1)]
    assert f"{Seconds(123456.7891):.3f}" == "123456.789"
    text = run_pcap("summary", RECORDED / "java-5.5.0.pcap.gz").text
    assert "JAVA      V5_5_0 " in text
    assert "12.029s" in text
    clients = report("summary", RECORDED / "java-4.9.4.pcap.gz")["clients"]
    assert {"V4_9_4"} == {row["version"] for row in clients}


@pytest.mark.process
@pytest.mark.parametrize("ports", [[41240], [41240, 41256]])
def test_a_capture_of_encrypted_connections_says_so(ports: list[int], tmp_path: Path) -> None:
    path = tmp_path / "tls.pcap"
    chosen = [
        packet
        for packet in read_recorded(RECORDED / "java-5.5.0-tls.pcap.gz")
        if {packet.source[1], packet.target[1]}.intersection(ports)
    ]
    with path.open("wb") as file:
        Writer(file, nanoseconds=True).write(chosen)

    hint = "1 connection uses TLS" if len(ports) == 1 else "2 connections use TLS"
    assert hint in run_pcap("decode", path).err


def test_a_capture_without_frames_and_without_tls_has_no_hint_and_a_long_one_is_not_read_twice(
    sample: Made,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert protocols.tls_hint("-") is None
    assert protocols.tls_hint(str(sample.path)) is None
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(sample.path.read_bytes()[:60])
    assert protocols.tls_hint(str(cut)) is None
    monkeypatch.setattr(protocols, "MAX_PACKETS", 1)
    hint = protocols.tls_hint(str(RECORDED / "java-5.5.0-tls.pcap.gz"))
    assert hint is not None
    assert hint.startswith("at least 2 connections use TLS")
    assert not capsys.readouterr().err


def test_frame_that_cannot_be_read_has_no_code_language_or_version() -> None:
    summary = SummaryReport(10)
    fields = summary.fields
    columns: dict[str, list[Any]] = {name: [1] for name in fields}
    columns |= {name: ["x"] for name in fields if EVERY[name] == arrow.pa.string()}
    columns |= {name: [True] for name in fields if EVERY[name] == arrow.pa.bool_()}
    missing = ("kind", "code", "code_name", "request_code", "latency_ns", "language", "version")
    columns |= {name: [None] for name in missing}
    summary.take(
        arrow.batch([arrow.column(columns[name], EVERY[name]) for name in fields], schema(fields))
    )
    tables = {table.name: table for table in summary.tables([])}

    assert tables["requests"].objects() == [{"kind": None, "code": None, "frames": 1}]
    assert tables["clients"].objects() == [{"language": None, "version": None, "requests": 1}]
    assert as_text([tables["requests"]]).endswith("   -     -       1")

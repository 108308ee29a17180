"""``rocketwire-conformance`` on the command line: what it lists, and how it ends against servers that are none."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rocketwire_tools.conformance import broker_cases
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case
from rocketwire_tools.conformance.run import target
from tests.integration.conformance.runs import OURS
from tests.integration.conformance.servers import (
    AnswersOnce,
    answers_as_a_broker,
    answers_rubbish,
    closes_at_once,
    find_closed_address,
    listening,
    says_nothing,
    status_of,
)


@pytest.mark.parametrize("words", [(), ("broker",)], ids=["name server", "broker"])
def test_a_target_that_is_not_there_ends_it_with_3(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, find_closed_address()]) == 3
    assert capsys.readouterr().err.startswith("unreachable: 127.0.0.1:")


@pytest.mark.parametrize(
    ("words", "handler", "reason"),
    [
        ((), says_nothing, "does not respond within 0.25 s"),
        ((), closes_at_once, "accepts connections, but closes them"),
        ((), answers_rubbish, "responds with an invalid frame"),
        (("broker",), says_nothing, "does not respond within 0.25 s"),
        (("broker",), answers_rubbish, "does not respond"),
    ],
)
async def test_a_target_of_another_protocol_fails_with_a_reason(
    words: tuple[str, ...], handler: Any, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(handler) as address:
        status = await status_of(*words, address, "--quiet", "--patience", "0.05")

    assert status == 1
    assert reason in capsys.readouterr().err


async def test_a_target_that_stops_answering_ends_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with listening(AnswersOnce()) as address:
        status = await status_of(address, "--quiet", "--only", "ns/100", "--patience", "0.05")

    assert status == 1
    details = capsys.readouterr().out
    assert "nothing arrived within 0.25 s" in details
    assert "the target accepts connections, but does not respond within 0.25 s" in details


@pytest.mark.process
@pytest.mark.parametrize("patience", ["1", "3"])
def test_a_server_that_never_listens_is_started_once(
    patience: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(target, "START_SECONDS", 0.1)
    tried = tmp_path / "tried"
    command = f"sh -c 'echo >> {tried}; echo waiting for Godot; exec sleep 60'"

    status = main(["--start", command, "--patience", patience])

    assert status == 3
    assert len(tried.read_text().splitlines()) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert (
        f"after {0.1 * int(patience):g} s; its last output:\n    waiting for Godot" in printed.err
    )
    assert printed.err.count("Godot") == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "status", "details"),
    [
        ("nonexist -c {config}", 2, "cannot run 'nonexist': No such file or directory"),
        ("/ -c {config}", 2, "cannot run '/': Permission denied"),
        ("sh -c 'echo no port; exit 7'", 3, "ended with status 7 before it listened"),
        ("sh -c 'kill -9 $$'", 3, "was killed by SIGKILL before it listened"),
    ],
)
@pytest.mark.parametrize("prefix", ["ns/105/15", "ns"])
def test_a_start_that_fails_is_one_message_and_no_case(
    command: str, status: int, details: str, prefix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if prefix == "ns":
        words = ["--start", command, "--only", prefix]
    else:
        words = ["diff", "--start", command, command, "--only", prefix]

    assert main(words) == status

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count(details) == 1
    assert printed.err.count("no port") == ("no port" in command)


@pytest.mark.process
def test_a_server_that_refuses_some_options_has_one_message_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    picky = f"""sh -c 'if grep -q clusterTest {{config}}; then echo I am picky; exit 5; fi; exec {OURS}'"""
    words = ["--only", "ns/105/1", "--only", "ns/105/15", "--patience", "4", "--quiet"]

    status = main(
        [
            "--start",
            picky.replace("clusterTest", "orderMessageEnable"),
            *words,
            "--json",
            str(report),
        ]
    )

    printed = capsys.readouterr().out
    assert status == 1
    assert "1 pass, 1 error; no MUST failed, 1 not run" in printed
    assert printed.count("I am picky") == 1
    (details,) = json.loads(report.read_text())
    assert (details["failed"], details["errors"]) == (0, 1)
    assert details["by_severity"] == {"MUST": {"pass": 1, "error": 1}}
    assert details["problems"][0].count("I am picky") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--start", ""],
        ["--start", "sh -c 'open"],
        ["--start", "x", "--home", "not there"],
        ["localhost:9876", "--patience", "0"],
        ["localhost:9876", "--patience", "-1"],
        ["localhost:9876", "--patience", "nan"],
        ["localhost:9876", "--json", "/not/there/report.json"],
        ["localhost:9876", "--html", "/"],
        ["diff", "--start", "", "x"],
        ["diff", "a:1", "b:1", "--patience", "inf"],
        ["diff", "a:1", "b:1", "--only", "nothing/here"],
    ],
)
def test_an_unusable_value_ends_it_with_2_before_any_request(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert "Traceback" not in capsys.readouterr().err


async def test_a_broker_is_recognised_and_no_case_is_carried_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with listening(answers_as_a_broker) as address:
        status = await status_of(address)

    printed = capsys.readouterr()
    assert status == 1
    assert "is a broker, not a name server" in printed.err
    assert printed.out == ""


async def test_two_targets_of_which_one_does_not_answer_cannot_be_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with listening(closes_at_once) as address:
        status = await status_of("diff", address, address)

    assert status == 3
    assert "closes them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], ""),
        (["localhost"], ""),
        (["localhost:0"], ""),
        (["--only", "nothing/here", "--list"], ""),
        (["--profile", "java-3"], ""),
        (["localhost:9876", "--start", "x"], ""),
        (["--explain", "ns/0/0"], ""),
        (["diff", "localhost:9876"], ""),
        (["diff", "a:1", "b:1", "--known", "not there"], ""),
        (["diff", "a:1", "b:1", "--option", "x"], ""),
        (["matrix"], ""),
        (["matrix", "not there"], ""),
        (["broker"], "HOST:PORT is required"),
        (["broker", "--explain", "broker/1/1"], "unknown case"),
    ],
)
def test_a_wrong_command_line_ends_it_with_2(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error
    assert reason in error


def test_the_list_selects_by_address_and_tag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "ns/100", "--tag", "needs-start"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert {line.split("/")[1] for line in lines} == {"100"}
    assert all("needs-start" in line for line in lines)


def test_a_case_is_explained_with_its_evidence_frames_and_accepted_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--explain", "transport/5"]) == 0

    details = capsys.readouterr().out
    assert "evidence  RemotingCommand.encodeHeader" in details
    assert "accepted: a response with code 22 QUERY_NOT_FOUND, remark " in details


def test_an_explained_registration_shows_json_header_and_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--explain", "ns/103/1"]) == 0

    details = capsys.readouterr().out
    header = json.loads(details.partition("header (JSON): ")[2].splitlines()[0])
    assert header["extFields"]["brokerName"].startswith("broker-example-")
    lines = details.partition(" bytes:\n")[2].splitlines()
    data = bytes.fromhex(
        "".join(line for line in lines[:11] if re.fullmatch(r" +[0-9a-f ]+", line))
    )
    assert json.loads(data[8 : 8 + int.from_bytes(data[5:8])]) == header


@pytest.mark.parametrize(
    ("words", "cases", "texts"),
    [((), ALL, ()), (("broker",), broker_cases.ALL, ("accepted: ", "bytes"))],
    ids=["name server", "broker"],
)
def test_every_case_is_explained_without_python(
    words: tuple[str, ...],
    cases: Sequence[Case],
    texts: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    python = re.compile(
        r"\b(?:Answer|Has|Mark|Request|Like|Json|Call|frozenset)\(|<\w+ object|mappingproxy"
    )
    wrong: list[str] = []
    for case in cases:
        assert main([*words, "--explain", case.id]) == 0
        text = capsys.readouterr().out
        if python.search(text) or not all(expected in text for expected in texts):
            wrong.append(case.id)

    assert wrong == []


@pytest.mark.process
def test_a_server_that_does_not_start_is_one_error_in_every_report(tmp_path: Path) -> None:
    files = {suffix: tmp_path / f"report.{suffix}" for suffix in ("json", "junit", "html")}
    words = [word for suffix, path in files.items() for word in (f"--{suffix}", str(path))]

    status = main(["--start", "false", "--only", "transport/5", "--name", "a <b>", *words])

    assert status == 3
    (report,) = json.loads(files["json"].read_text())
    assert report["cases"] == []
    assert report["problems"] == [
        "the server did not start: the program ended with status 1 before it listened"
    ]
    suites = ElementTree.fromstring(files["junit"].read_text())
    assert (suites[0].get("tests"), suites[0].get("errors")) == ("1", "1")
    page = files["html"].read_text()
    assert "a &lt;b&gt;" in page
    assert "the program ended with status 1" in page
    assert "<script" not in page
    assert 'src="' not in page


@pytest.mark.process
def test_reports_are_put_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / name) for name in ("one.json", "two.json")]
    for path, profile in zip(paths, ("java-5.5", "java-4.9"), strict=True):
        words = ["--only", "transport/5", "--name", "none", "--profile", profile]
        main(["--start", "false", *words, "--json", path])
    capsys.readouterr()
    page = tmp_path / "page.html"

    assert main(["matrix", *paths]) == 0
    table = capsys.readouterr().out
    assert main(["matrix", *paths, "--html", str(page)]) == 0

    assert table.splitlines()[0] == "| cases | none (java-5.5) | none (java-4.9) |"
    assert table.splitlines()[-1] == "| all | not run | not run |"
    assert page.read_text().count('class="error">not run') == 2

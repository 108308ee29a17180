"""``rocketwire-conformance`` on the command line: what it lists, and how it ends against servers that are none."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from rocketwire_tools.conformance import target
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.runner import SERVERS_AT_ONCE
from tests.conformance.servers import (
    AnswersOnce,
    answers_rubbish,
    closes_at_once,
    listening,
    says_nothing,
    status_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def nobody() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_a_target_that_is_not_there_ends_it_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([nobody()]) == 3
    assert capsys.readouterr().err.startswith("unreachable: 127.0.0.1:")


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (says_nothing, "answers nothing within 0.25 s"),
        (closes_at_once, "takes connections, but ends them"),
        (answers_rubbish, "answers what is no frame"),
    ],
)
async def test_a_target_that_does_not_speak_the_protocol_fails_at_once_and_says_why(
    handler: object, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(handler) as address:  # type: ignore[arg-type]
        status = await status_of(address, "--quiet", "--patience", "0.05")

    assert status == 1
    assert told in capsys.readouterr().err


async def test_a_target_that_stops_answering_ends_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with listening(AnswersOnce()) as address:
        status = await status_of(address, "--quiet", "--only", "ns/100", "--patience", "0.05")

    assert status == 1
    told = capsys.readouterr().out
    assert "nothing came within 0.25 s" in told
    assert "the target takes connections, but answers nothing within 0.25 s" in told


def test_a_command_whose_server_never_listens_is_tried_no_more_often_than_servers_run_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(target, "START_SECONDS", 0.1)
    report = tmp_path / "report.json"
    tried = tmp_path / "tried"

    status = main(
        ["--start", f"sh -c 'echo >> {tried}; exec sleep 60'", "--quiet", "--json", str(report)]
    )

    assert status == 1
    assert len(tried.read_text().splitlines()) <= SERVERS_AT_ONCE
    reasons = [case["reason"] for case in json.loads(report.read_text())[0]["cases"]]
    assert {reason.partition(" on ")[0] for reason in reasons} == {
        "the server did not start: nobody listens"
    }


async def test_two_targets_of_which_one_does_not_answer_cannot_be_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with listening(closes_at_once) as address:
        status = await status_of("diff", address, address)

    assert status == 3
    assert "ends them" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["localhost"],
        ["localhost:0"],
        ["--only", "nothing/here", "--list"],
        ["--profile", "java-3"],
        ["localhost:9876", "--start", "x"],
        ["--explain", "ns/0/0"],
        ["diff", "localhost:9876"],
        ["diff", "a:1", "b:1", "--known", "not there"],
        ["diff", "a:1", "b:1", "--option", "x"],
        ["matrix"],
        ["matrix", "not there"],
    ],
)
def test_a_wrong_command_line_ends_it_with_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err != ""


def test_the_list_has_what_is_under_an_address_and_with_a_tag(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--list", "--only", "ns/100", "--tag", "needs-start"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert {line.split("/")[1] for line in lines} == {"100"}
    assert all("needs-start" in line for line in lines)


def test_a_case_is_explained_with_its_evidence_and_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--explain", "transport/5"]) == 0

    told = capsys.readouterr().out
    assert "evidence  RemotingCommand.encodeHeader" in told
    assert "Expect(outcomes=[Answer(code=22, remark=" in told


def test_a_server_that_does_not_start_is_an_error_of_its_cases_in_every_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "junit", "html")}
    words = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]

    status = main(["--start", "false", "--only", "transport/5", "--name", "a <b>", *words])

    assert status == 1
    assert "1 error; 1 of MUST failed" in capsys.readouterr().out
    (report,) = json.loads(files["json"].read_text())
    assert report["failed"] == 1
    assert report["cases"][0]["reason"].startswith("the server did not start: ended with 1")
    suites = ElementTree.fromstring(files["junit"].read_text())  # noqa: S314 - our own
    assert suites[0].get("errors") == "1"
    page = files["html"].read_text()
    assert "a &lt;b&gt;" in page
    assert "<script" not in page
    assert 'src="' not in page


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
    assert "0/1 (not transport/5)" in table
    assert page.read_text().count('class="error"') == 2

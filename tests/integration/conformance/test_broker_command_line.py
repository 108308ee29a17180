"""``rocketwire-conformance broker``: what it lists and explains, its reports, and how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.broker_cases import ALL
from tests.integration.conformance.broker_runs import our_broker
from tests.integration.conformance.servers import (
    answers_rubbish,
    find_closed_address,
    listening,
    says_nothing,
    status_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_all_cases_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(ALL)


def test_every_case_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    unexplained: list[str] = []
    for case in ALL:
        assert main(["broker", "--explain", case.id]) == 0
        text = capsys.readouterr().out
        if "accepted: " not in text or "bytes" not in text:
            unexplained.append(case.id)

    assert unexplained == []


def test_an_unknown_case_ends_it_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "--explain", "broker/1/1"]) == 2
    assert "unknown case" in capsys.readouterr().err


def test_a_target_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker"]) == 2
    assert "HOST:PORT is required" in capsys.readouterr().err


def test_a_broker_that_is_not_there_ends_it_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", find_closed_address()]) == 3
    assert capsys.readouterr().err.startswith("unreachable: 127.0.0.1:")


@pytest.mark.parametrize(
    ("handler", "details"),
    [(says_nothing, "does not respond within 0.25 s"), (answers_rubbish, "does not respond")],
)
async def test_a_target_that_is_no_broker_fails_with_a_reason(
    handler: Any, details: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(handler) as address:
        status = await status_of("broker", address, "--quiet", "--patience", "0.05")

    assert status == 1
    assert details in capsys.readouterr().err


async def test_a_run_writes_all_reports_and_removes_its_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"report.{suffix}" for suffix in ("json", "junit", "html")]
    options = [f"--{file.suffix[1:]}={file}" for file in files]
    async with our_broker() as server:
        topics = {topic.topic_name for topic in server.broker.topics}
        address = f"127.0.0.1:{server.broker.config.listen_port}"
        status = await status_of(
            "broker", address, "--only", "broker/10", "--only", "broker/36/7", *options
        )
        remaining = {topic.topic_name for topic in server.broker.topics} - topics

    assert status == 0
    assert remaining == set()
    assert "4 pass; no MUST failed" in capsys.readouterr().out
    [report] = json.loads(files[0].read_text("utf-8"))
    assert report["verdicts"] == {"pass": 4}
    assert report["server_version"] == "V5_5_0"
    suite = ElementTree.fromstring(files[1].read_text("utf-8"))[0]
    assert suite.get("failures") == "0"
    assert "broker/36/7" in files[2].read_text("utf-8")


async def test_a_case_that_needs_another_configuration_is_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with our_broker(property_filter=False) as server:
        address = f"127.0.0.1:{server.broker.config.listen_port}"
        status = await status_of("broker", address, "--only", "broker/sql/1")

    assert status == 0
    assert "the broker has not enablePropertyFilter=true" in capsys.readouterr().out


async def test_two_brokers_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("--only", "broker/11/10", "--only", "broker/15")
    async with our_broker() as first, our_broker() as second:
        addresses = [f"127.0.0.1:{server.broker.config.listen_port}" for server in (first, second)]
        status = await status_of("broker", "diff", *addresses, *only)

    assert status == 0
    assert "11 cases: 0 differences" in capsys.readouterr().out


async def test_a_difference_of_two_brokers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("--only", "broker/26")
    async with our_broker() as first, our_broker(auto_create_groups=False) as second:
        addresses = [f"127.0.0.1:{server.broker.config.listen_port}" for server in (first, second)]
        status = await status_of("broker", "diff", *addresses, "--only", "broker/11/1", *only)

    assert status == 1
    assert "DIFFERENT broker/11/1" in capsys.readouterr().out

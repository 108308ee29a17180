"""``rocketwire-conformance broker``: what it lists and explains, its reports, and how it ends."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketwire_broker.server.server import BrokerServer
from rocketwire_tools.conformance.__main__ import main
from rocketwire_tools.conformance.broker_cases import ALL
from tests.integration.conformance.broker_runs import our_broker
from tests.integration.conformance.servers import status_of


def address_of(server: BrokerServer) -> str:
    return f"127.0.0.1:{server.broker.config.listen_port}"


def test_all_cases_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(ALL)


async def test_a_run_writes_all_reports_and_removes_its_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"report.{suffix}" for suffix in ("json", "junit", "html")]
    options = [f"--{file.suffix[1:]}={file}" for file in files]
    async with our_broker() as server:
        topics = {topic.topic_name for topic in server.broker.topics}
        only = ("--only", "broker/10", "--only", "broker/36/7")
        status = await status_of("broker", address_of(server), *only, *options)
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
        status = await status_of("broker", address_of(server), "--only", "broker/sql/1")

    assert status == 0
    assert "the broker has not enablePropertyFilter=true" in capsys.readouterr().out


async def test_two_brokers_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("--only", "broker/11/10", "--only", "broker/15")
    async with our_broker() as first, our_broker() as second:
        status = await status_of("broker", "diff", address_of(first), address_of(second), *only)

    assert status == 0
    assert "11 cases: 0 differences" in capsys.readouterr().out


async def test_a_difference_of_two_brokers_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    only = ("--only", "broker/11/1", "--only", "broker/26")
    async with our_broker() as first, our_broker(auto_create_groups=False) as second:
        status = await status_of("broker", "diff", address_of(first), address_of(second), *only)

    assert status == 1
    assert "DIFFERENT broker/11/1" in capsys.readouterr().out

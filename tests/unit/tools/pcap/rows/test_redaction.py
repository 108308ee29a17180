"""Masks: no name of a recorded capture gets through in any command, and the same name always has the same mask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.rows.redaction import Redaction
from tests.peers import manifest

if TYPE_CHECKING:
    from collections.abc import Callable

CAPTURE = str(manifest.FIXTURES / "captures" / "java-5.5.0.pcap.gz")
NAMES = (
    "orders",
    "bookkeeping",
    "shop",
    "broker-a",
    "DefaultCluster",
    "127.0.0.1",
    "TBW102",
    "SPACE",
    "java-5",
)


@pytest.fixture
def printed(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command on the capture, with masks; gives what it printed."""

    def run(command: str, *options: str) -> str:
        assert main([command, *options, CAPTURE, "--redact", "secret"]) == 0
        return capfd.readouterr().out

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["decode"],
        ["decode", "--format", "csv"],
        ["decode", "--format", "jsonl", "--fields", "file,remark,topic,group,connection"],
        ["summary"],
        ["slow", "--json"],
        ["topics"],
        ["connections", "--json"],
    ],
    ids=" ".join,
)
def test_no_name_gets_through(words: list[str], printed: Callable[..., str]) -> None:
    text = printed(*words)
    assert len(text) > 200
    assert [] == [name for name in NAMES if name in text]


@pytest.mark.parametrize("words", [["--fields", "ext_fields"], ["--body", "decoded"]])
def test_json_texts_are_refused_because_they_have_no_masks(
    words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", CAPTURE, "--redact", "secret", *words]) == 2
    assert "has no masks: leave it out, or --redact" in capfd.readouterr().err


def test_name_has_the_same_mask_in_all_rows_and_a_remark_has_one(
    printed: Callable[..., str],
) -> None:
    topic = Redaction("secret").name("topic", "NoSuchTopic")
    rows = [json.loads(line) for line in printed("decode", "--format", "jsonl").splitlines()]
    assert any(row["topic"] == topic for row in rows)
    assert all((row["remark"] or "remark-").startswith("remark-") for row in rows)

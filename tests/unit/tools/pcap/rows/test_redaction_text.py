"""Masks: no name of a recorded capture gets through in any command, and the same name always has the same mask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.rows.redaction import Redaction
from tests.support import manifest

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
        [
            "decode",
            "--format",
            "jsonl",
            "--body",
            "decoded",
            "--fields",
            "file,remark,ext_fields,topic,body",
        ],
        ["summary"],
        ["slow", "--json"],
        ["topics"],
        ["connections", "--json"],
        ["routes", "--lookups", "--all"],
        ["routes", "--lookups", "--format", "jsonl"],
    ],
    ids=" ".join,
)
def test_no_name_gets_through(words: list[str], printed: Callable[..., str]) -> None:
    text = printed(*words)
    assert len(text) > 200
    assert [] == [name for name in NAMES if name in text]


def test_no_name_gets_through_when_one_connection_is_followed(printed: Callable[..., str]) -> None:
    connection = json.loads(printed("connections", "--json"))["connections"][0]["connection"]
    text = printed("follow", connection, "--ext-fields", "--body", "decoded")
    assert "topic-" in text
    assert [] == [name for name in NAMES if name in text]


def test_a_name_has_the_same_digits_wherever_it_is(printed: Callable[..., str]) -> None:
    digits = Redaction("secret").name("topic", "NoSuchTopic").removeprefix("topic-")
    rows = [json.loads(line) for line in printed("decode", "--format", "jsonl").splitlines()]
    assert any(row["topic"] == f"topic-{digits}" for row in rows)
    assert any(f"topic: text-{digits}\n" in (row["remark"] or "") for row in rows)


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        (
            "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 203ms",
            None,
        ),
        ("the consumer's group info not exist", None),
        ("connect to 10.1.2.3:10911 failed", "{connect} to <10.1.2.3>:10911 failed"),
        ("no route to card-4711-2222!", "no route to {card-4711-2222}!"),
    ],
)
def test_plain_words_of_a_remark_stay_and_all_else_is_masked(
    remark: str, expected: str | None
) -> None:
    redaction = Redaction("secret")
    shown = remark if expected is None else expected
    for word in ("connect", "card-4711-2222"):
        shown = shown.replace(f"{{{word}}}", redaction.name("text", word))
    shown = shown.replace("<10.1.2.3>", redaction.host("10.1.2.3"))
    assert shown == redaction.within.remark(remark)


def test_numbers_stay_where_numbers_belong_and_nowhere_else() -> None:
    within = Redaction("secret").within
    fields = {
        "queueOffset": "12345678901",
        "value": "4711",
        "a": "4111111111111111",
        "unknown": "x",
    }
    masked = json.loads(within.ext_fields(json.dumps(fields)))
    assert masked["queueOffset"] == "12345678901"
    assert masked["value"].startswith("text-")
    assert masked["a"].startswith("group-")
    assert "x" not in masked.values()
    assert "unknown" not in masked

"""``--why`` names the file, the byte and the rule behind what a verb shows, and the bytes agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.reasons import Reason, place_of, write_reasons
from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


def lines_of(output: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Lines of the verb, and reasons."""
    lines = [json.loads(line) for line in output.splitlines()]
    return [line for line in lines if "why" not in line], [line for line in lines if "why" in line]


def number(store: BrokerStore, reason: dict[str, Any], size: int) -> int:
    """The number at the place of a reason."""
    data = (store.root / reason["file"]).read_bytes()
    return int.from_bytes(data[reason["byte"] :][:size], "big", signed=True)


@pytest.mark.parametrize(
    "verb",
    [
        ("info",),
        ("stat", "--by", "queue"),
        ("messages", "--system"),
        ("get", "--physical", "0"),
        ("pending",),
        ("check",),
    ],
    ids=" ".join,
)
def test_every_verb_that_shows_numbers_has_the_option(
    verb: tuple[str, ...], plain: BrokerStore, run: Callable[..., Any]
) -> None:
    shorter, longer = run(*verb, plain.root).out, run(*verb, "--why", plain.root).out

    assert len(longer) >= len(shorter)
    assert b"Traceback" not in longer


def test_info_names_the_bytes_of_times(plain: BrokerStore, run: Callable[..., Any]) -> None:
    (report,), reasons = lines_of(run("info", "--json", "--why", plain.root).out)
    by_name = {reason["why"]: reason for reason in reasons}

    first = min(message.store_timestamp for message in plain.truth.pulled)
    assert number(plain, by_name["first_stored"], 8) == first
    assert by_name["newest_flushed"]["file"] == "checkpoint"
    assert all(reason["value"] == report[reason["why"]] for reason in reasons)
    assert all(reason["rule"] for reason in reasons)


def test_stat_names_what_was_counted_and_what_was_not(
    plain: BrokerStore, run: Callable[..., Any]
) -> None:
    groups, reasons = lines_of(run("stat", "--system", "--json", "--why", plain.root).out)

    left = sum(reason["value"] for reason in reasons if reason["why"] == "not counted")
    read = sum(reason["value"] for reason in reasons if reason["why"] == "file")
    assert sum(group["bytes"] for group in groups) == read - left


def test_messages_names_the_byte_of_each_column(
    plain: BrokerStore, run: Callable[..., Any]
) -> None:
    lines, reasons = lines_of(run("messages", "--system", "--json", "--why", plain.root).out)
    at = {reason["why"]: reason["byte"] for reason in reasons if reason["byte"] is not None}

    for line in lines[:20]:
        byte = line["physical_offset"] - int(line["file"][-20:])
        for name, size in (("size", 4), ("queue_id", 4), ("queue_offset", 8)):
            place = {"file": line["file"], "byte": byte + at[name]}
            assert number(plain, place, size) == line[name]


def test_get_names_the_byte_of_each_field(plain: BrokerStore, run: Callable[..., Any]) -> None:
    message = plain.truth.pulled[5]
    found = run("get", "--json", "--why", "--physical", message.physical_offset, plain.root)
    _, reasons = lines_of(found.out)
    by_name = {reason["why"]: reason for reason in reasons}

    assert number(plain, by_name["total size"], 4) == message.size
    assert number(plain, by_name["queue offset"], 8) == message.queue_offset
    assert by_name["source"]["value"] == "physical offset"


def test_pending_names_the_byte_of_each_message(
    packed_store: Callable[[str, str], BrokerStore], run: Callable[..., Any]
) -> None:
    store = packed_store(CURRENT, "features")
    lines, _ = lines_of(run("pending", "--json", "--why", store.root).out)

    assert {line["what"] for line in lines} >= {"lag", "delayed", "transaction"}
    for line in lines:
        assert line["rule"]
        if "physical_offset" in line:
            place = {"file": line["file"], "byte": line["byte"] + 28}
            assert number(store, place, 8) == line["physical_offset"]


def test_an_offset_beyond_the_files_has_no_place() -> None:
    assert place_of([], 7) == {"file": None, "byte": None}
    assert place_of([], None) == {"file": None, "byte": None}


def test_reasons_are_a_table_or_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    reason = Reason(why="size", value=7, file="f", byte=3, rule="it is so")

    write_reasons([reason], is_json=False)
    assert (
        capfdbinary.readouterr().out.split()
        == b"why value file byte rule size 7 f 3 it is so".split()
    )

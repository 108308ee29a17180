"""Counts of groups and sizes, and what the next deletion takes."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store import retention
from tests.support.java.peers import CURRENT
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore

FILE_SIZE = 256 * 1024
HOUR = 3600


def lines_of(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.out.splitlines()]


def test_bodies_are_counted_by_size(copy: BrokerStore, run: Callable[..., Any]) -> None:
    lines = lines_of(run("stat", "--json", "--by", "size", copy.root))

    sizes = Counter(
        next(most for most in [0, *(1 << bits for bits in range(30))] if message.body_size <= most)
        for message in copy.truth.pulled
    )
    assert {line["body up to"]: line["messages"] for line in lines} == sizes
    assert [line["body up to"] for line in lines] == sorted(sizes)


def put(copy: BrokerStore, number: int, place: int, data: bytes) -> None:
    """Overwrite bytes of a message's head, which no checksum covers."""
    message = copy.truth.pulled[number]
    path = next(iter(sorted((copy.root / "commitlog").iterdir())))
    damage.put(path, message.physical_offset + place, data)


def test_hours_that_no_clock_shows_come_last(copy: BrokerStore, run: Callable[..., Any]) -> None:
    for number, time_ in enumerate((0, -1, (1 << 63) - 1)):
        put(copy, number, 56, time_.to_bytes(8, "big", signed=True))

    table = run("stat", "--by", "hour", copy.root).out.decode().splitlines()
    lines = lines_of(run("stat", "--by", "hour", "--json", copy.root))

    hours: list[str | None] = [line["hour"] for line in lines]
    assert (hours[-1], hours[:-1]) == (None, sorted(hour for hour in hours if hour))
    assert len(table) == len(lines) + 2


def test_a_negative_queue_is_counted_as_it_is(copy: BrokerStore, run: Callable[..., Any]) -> None:
    put(copy, 0, 12, b"\xff\xff\xff\xfe")

    lines = lines_of(run("stat", "--by", "queue", "--json", copy.root))

    assert [line["messages"] for line in lines if line["queue"] == -2] == [1]


def test_transactions_are_counted_by_producer_group(
    packed_store: Callable[[str, str], BrokerStore], run: Callable[..., Any]
) -> None:
    store = packed_store(CURRENT, "features")

    lines = lines_of(run("stat", "--json", "--system", "--by", "group", store.root))

    groups = Counter(message.properties.get("PGROUP") for message in store.truth.pulled)
    counts = {line["producer group"]: line["messages"] for line in lines}
    assert counts["transactors"] == groups["transactors"]
    assert set(counts) == {None, "transactors"}


@pytest.fixture
def aged(copy: BrokerStore) -> BrokerStore:
    """A store whose files of the log were changed 80, 79, ... hours ago."""
    for number, path in enumerate(sorted((copy.root / "commitlog").iterdir())):
        changed = time.time() - (80 - number) * HOUR
        os.utime(path, (changed, changed))
    return copy


ALL_HOURS = ";".join(map(str, range(24)))


def test_the_next_deletion_takes_the_files_that_expire_until_then(
    aged: BrokerStore, run: Callable[..., Any]
) -> None:
    options = ("--expiring", "--reserved", "77.5", "--delete-when", ALL_HOURS, "--disk-used", "50")

    deletion, *lines = lines_of(run("stat", "--json", *options, aged.root))

    gone = [message for message in aged.truth.pulled if message.physical_offset < 3 * FILE_SIZE]
    assert (deletion["files"], deletion["file_bytes"]) == (3, 3 * FILE_SIZE)
    assert deletion["rule"] == "files are kept for 77.5 hours"
    assert {line["topic"]: line["messages"] for line in lines} == Counter(
        message.topic for message in gone
    )
    assert sum(line["bytes"] for line in lines) == sum(message.size for message in gone)


@pytest.mark.parametrize(
    ("used", "files", "rule"),
    [
        ("74", 0, "files are kept for 110 hours"),
        ("76", 0, "the hour does not count"),
        ("86", 5, "the age does not count"),
    ],
)
def test_a_fuller_disk_takes_more(
    used: str, files: int, rule: str, aged: BrokerStore, run: Callable[..., Any]
) -> None:
    options = ("--expiring", "--reserved", "110", "--disk-used", used)

    deletion, *_ = lines_of(run("stat", "--json", *options, aged.root))

    assert deletion["files"] == files
    assert rule in deletion["rule"]


def test_the_hour_of_the_next_deletion_is_that_of_the_settings(
    aged: BrokerStore, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    hour = (time.gmtime().tm_hour + 2) % 24

    deletion, *_ = lines_of(
        run(
            "stat",
            "--json",
            "--expiring",
            "--delete-when",
            f"{hour}",
            "--disk-used",
            "0",
            aged.root,
        )
    )

    assert deletion["deletion"].split()[1] == f"{hour:02d}:00:00.000"
    table = run("stat", "--expiring", "--disk-used", "0", aged.root).out.decode()
    assert "next_file_expires" in table


@pytest.mark.slow
def test_the_next_deletion_is_of_one_store_with_files(
    packed_store: Callable[[str, str], BrokerStore], run: Callable[..., Any]
) -> None:
    roots = [packed_store(CURRENT, kind).root for kind in ("plain", "ipv6", "dledger")]

    assert b"takes one store" in run("stat", "--expiring", *roots[:2], status=2).err
    assert b"takes one store" in run("stat", "--expiring", roots[2], status=2).err


@pytest.mark.parametrize(
    "option",
    ["--reserved=x", "--reserved=-1", "--delete-when=24", "--delete-when=", "--disk-used=101"],
)
def test_wrong_settings_are_refused(option: str, run: Callable[..., Any]) -> None:
    with pytest.raises(SystemExit) as status:
        run("stat", "--expiring", option, "store")
    assert status.value.code == 2


@pytest.mark.slow
def test_a_picture_is_drawn_beside_the_table(
    copy: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    picture = tmp_path / "topics.svg"

    assert b"orders" in run("stat", "--plot", picture, copy.root).out
    assert b"<svg" in picture.read_bytes()
    assert b"must end in" in run("stat", "--plot", "topics.pdf", copy.root, status=2).err


def test_defaults_are_those_of_java() -> None:
    assert (retention.RESERVED_HOURS, retention.DELETE_WHEN) == (72.0, (4,))

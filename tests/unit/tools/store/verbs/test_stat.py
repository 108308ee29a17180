"""Counts of groups and sizes."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.peers.peers import CURRENT
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


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


def test_no_groups_have_a_sum(store: BrokerStore, run: Callable[..., Any]) -> None:
    lines = run("stat", "--by", "queue", "--end", "2020-01-01", store.root).out.splitlines()

    assert lines[-1].split() == [b"total", b"0", b"0"]


@pytest.mark.parametrize("by", ["tag", "queue", "hour"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_report_of_many_groups_is_that_of_few(
    form: tuple[str, ...],
    by: str,
    plain: BrokerStore,
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = run("stat", "--by", by, "--system", *form, plain.root).out

    monkeypatch.setattr("rocketwire_tools.store.verbs.stat.MAX_IN_MEMORY", 2)
    monkeypatch.setattr("rocketwire_tools.store.verbs.stat._GROUPS_AT_ONCE", 1)

    assert run("stat", "--by", by, "--system", *form, plain.root).out == few

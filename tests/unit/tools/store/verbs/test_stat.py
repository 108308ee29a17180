"""Counts of groups and sizes."""

from collections import Counter

import pytest

from rocketwire_tools.store.verbs import stat
from tests.peers.peers import CURRENT
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage
from tests.support.stores.fixtures import OpenStore


def test_bodies_are_counted_by_size(store: BrokerStore) -> None:
    lines = run_store("stat", "--json", "--by", "size", store.root).lines

    limits = [0, *(1 << bits for bits in range(30))]
    sizes = Counter(
        next(limit for limit in limits if message.body_size <= limit)
        for message in store.truth.pulled
    )
    assert {line["body up to"]: line["messages"] for line in lines} == sizes
    assert [line["body up to"] for line in lines] == sorted(sizes)


def put(store: BrokerStore, number: int, place: int, data: bytes) -> None:
    """Overwrite bytes of a message's head, which no checksum covers."""
    message = store.truth.pulled[number]
    damage.put(damage.log_files(store.root)[0], message.physical_offset + place, data)


def test_hours_that_no_clock_shows_come_last(store: BrokerStore) -> None:
    for number, time in enumerate((0, -1, (1 << 63) - 1)):
        put(store, number, 56, time.to_bytes(8, "big", signed=True))

    table = run_store("stat", "--by", "hour", store.root).text.splitlines()
    lines = run_store("stat", "--by", "hour", "--json", store.root).lines

    hours: list[str | None] = [line["hour"] for line in lines]
    assert (hours[-1], hours[:-1]) == (None, sorted(hour for hour in hours if hour))
    assert len(table) == len(lines) + 2


def test_negative_queue_is_counted_as_it_is(store: BrokerStore) -> None:
    put(store, 0, 12, b"\xff\xff\xff\xfe")

    lines = run_store("stat", "--by", "queue", "--json", store.root).lines

    assert [line["messages"] for line in lines if line["queue"] == -2] == [1]


def test_transactions_are_counted_by_producer_group(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "features")

    lines = run_store("stat", "--json", "--system", "--by", "group", store.root).lines

    groups = Counter(message.properties.get("PGROUP") for message in store.truth.pulled)
    counts = {line["producer group"]: line["messages"] for line in lines}
    assert counts["transactors"] == groups["transactors"]
    assert set(counts) == {None, "transactors"}


def test_no_groups_have_a_sum(store: BrokerStore) -> None:
    lines = run_store("stat", "--by", "queue", "--end", "2020-01-01", store.root).out.splitlines()

    assert lines[-1].split() == [b"total", b"0", b"0"]


def test_too_many_groups_are_an_error(store: BrokerStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stat, "MAX_GROUPS", 1)

    result = run_store("stat", "--by", "queue", store.root, status=2)

    assert "more than 1 groups by queue" in result.err

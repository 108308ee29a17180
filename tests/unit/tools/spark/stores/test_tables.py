"""The tables beside the messages say what the broker and the command say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.stores.columns import COLUMNS
from rocketwire_tools.spark.stores.tables import read_table
from rocketwire_tools.store.__main__ import main
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.damage import flip_body, zero_page
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def table_of(root: Path, table: str) -> list[dict[str, Any]]:
    batches = read_table(table, "s", OpenedStore([root]), list(COLUMNS[table]))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert {row["store"] for row in rows} <= {"s"}
    return rows


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_queues_has_the_units_that_the_broker_answers(
    packed_store: Callable[[str, str], BrokerStore], release: str
) -> None:
    store = packed_store(release, "plain")
    expected = [
        (queue.topic, queue.queue_id, unit.index, unit.physical_offset, unit.size, unit.tags_code)
        for queue in store.truth.queues
        for unit in queue.units
    ]

    rows = [tuple(row.values())[1:-1] for row in table_of(store.root, "queues")]

    assert expected
    assert set(expected) <= set(rows)
    assert len(rows) == len(set(rows)) == len(store.truth.pulled)


def test_offsets_has_those_of_groups(packed_store: Callable[[str, str], BrokerStore]) -> None:
    store = packed_store(CURRENT, "features")

    rows = table_of(store.root, "offsets")

    offsets = {
        (row["topic"], row["consumer_group"], row["queue_id"]): row["consumer_offset"]
        for row in rows
    }
    for name, queues in store.truth.consumer_offsets.items():
        topic, _, group = name.partition("@")
        for queue_id, offset in queues.items():
            assert offsets.get((topic, group, queue_id), offset) == offset
    assert offsets
    assert all(row["lag"] == max(0, row["max_offset"] - row["consumer_offset"]) for row in rows)


def test_offsets_are_there_without_queues_in_files(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path
) -> None:
    root = unpack(CURRENT, "features", tmp_path / "copy").root
    expected = table_of(packed_store(CURRENT, "features").root, "offsets")
    for file in (root / "consumequeue").glob("*/*/*"):
        file.unlink()

    assert table_of(root, "offsets") == expected


@pytest.mark.slow
def test_timers_has_the_messages_that_are_due(
    packed_store: Callable[[str, str], BrokerStore], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = packed_store(CURRENT, "timers").root
    main(["pending", "--json", str(root)])
    lines = map(json.loads, capfdbinary.readouterr().out.splitlines())
    expected = [line for line in lines if line["what"] == "timer"]

    rows = table_of(root, "timers")

    assert len(rows) == len(expected) > 0
    for row, line in zip(rows, expected, strict=True):
        assert int(row["due"].timestamp() * 1000) == line["due"]
        assert (row["topic"], str(row["queue_id"])) == (line["topic"], line["queue_id"])
        assert (row["uniq_key"], row["rolled"]) == (line["unique_key"], line["rolled"])


def test_damage_has_each_region_and_each_wrong_checksum(tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    assert table_of(root, "damage") == []
    zero_page(root)
    flip_body(root)

    rows = table_of(root, "damage")

    assert [row["kind"] for row in rows if row["kind"] == "checksum"] == ["checksum"]
    assert len(rows) > 1
    assert all(row["size"] > 0 and row["file"].startswith("commitlog/") for row in rows)
    assert all(row["reason"] for row in rows)
    places = [row["physical_offset"] for row in rows]
    assert places == sorted(places)

"""Units lead to messages; a unit that is wrong costs time and no message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.store import consume_queue
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import parts
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.queued.blocks import UnitBlocks
from rocketwire_tools.store.queued.parts import scan_of
from tests.support.java.peers import CURRENT
from tests.support.stores.damage import put
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire.store.consume_queue import QueueUnit
    from tests.unit.tools.spark.stores.conftest import ReadRows

FIELDS = ("physical_offset", "topic", "queue_id", "queue_offset", "tags")
PLACE = 5
"""The unit that is changed, of queue 0 of the topic."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return unpack(CURRENT, "plain", tmp_path / "copy").root


def units_of(root: Path, queue_id: int) -> list[QueueUnit]:
    (file, *_) = OpenedStore([root]).folder.queues["orders", queue_id]
    return list(consume_queue.decode_units(file.path.read_bytes()))


def change(root: Path, unit: QueueUnit) -> None:
    (file, *_) = OpenedStore([root]).folder.queues["orders", 0]
    put(file.path, PLACE * consume_queue.UNIT_SIZE, consume_queue.encode_unit(unit))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("physical_offset", -1),
        ("physical_offset", 1 << 60),
        ("size", 40),
        ("size", 0),
        ("size", -1),
        ("size", 0x7FFFFFFF),
    ],
)
def test_a_wrong_unit_costs_no_message(
    root: Path, read_rows: ReadRows, field: str, value: int
) -> None:
    check_that_nothing_is_missed(
        root, read_rows, units_of(root, 0)[PLACE]._replace(**{field: value})
    )


def test_a_unit_that_is_wrong_by_one_costs_no_message(root: Path, read_rows: ReadRows) -> None:
    unit = units_of(root, 0)[PLACE]
    offset = unit.physical_offset + 1
    check_that_nothing_is_missed(root, read_rows, unit._replace(physical_offset=offset))
    check_that_nothing_is_missed(root, read_rows, unit._replace(size=unit.size + 1))


def test_a_unit_of_another_queue_costs_no_message(root: Path, read_rows: ReadRows) -> None:
    check_that_nothing_is_missed(root, read_rows, units_of(root, 1)[PLACE])


def check_that_nothing_is_missed(root: Path, read_rows: ReadRows, wrong: QueueUnit) -> None:
    _, expected = read_rows(FIELDS, path=str(root), topic="orders", useQueues="false")
    change(root, wrong)

    for size in ("1g", "20000"):
        planned, rows = read_rows(FIELDS, path=str(root), topic="orders", splitSize=size)
        assert any(part.units for part in planned)
        assert sorted(rows, key=str) == sorted(expected, key=str)


def test_messages_that_stand_near_each_other_are_read_together(root: Path) -> None:
    settings = read_options({"path": str(root), "topic": "orders"})
    part = parts(settings, FIELDS)[0]
    blocks = UnitBlocks(part, scan_of(part), ())

    messages = [len(block.messages) for block in blocks]

    assert len(messages) < sum(messages) / 4


def test_the_code_of_a_tag_leaves_out_messages_before_they_are_read(root: Path) -> None:
    settings = read_options({"path": str(root), "topic": "orders"})
    part = parts(settings, FIELDS)[0]
    every, paid = (UnitBlocks(part, scan_of(part), tags) for tags in ((), ("paid",)))

    count = sum(len(block.messages) for block in every)
    count_paid = sum(len(block.messages) for block in paid)

    assert 0 < count_paid < count
    assert paid.bytes_read < every.bytes_read


def test_the_log_is_read_if_a_queue_became_shorter_after_planning(
    root: Path, read_rows: ReadRows
) -> None:
    _, expected = read_rows(FIELDS, path=str(root), topic="orders", useQueues="false")
    part = parts(read_options({"path": str(root), "topic": "orders"}), FIELDS)[0]
    (file, *_) = OpenedStore([root]).folder.queues["orders", 0]
    file.path.write_bytes(file.path.read_bytes()[: 3 * consume_queue.UNIT_SIZE])

    offsets = {
        block.base + position
        for block in UnitBlocks(part, scan_of(part), ())
        for position in block.messages.positions.tolist()
    }

    assert {row["physical_offset"] for row in expected} <= offsets

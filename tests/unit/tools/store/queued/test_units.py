"""Units of a queue are those that the broker answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.queued.units import QueueUnits
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_units_point_where_the_broker_says(
    packed_store: Callable[[str, str], BrokerStore], release: str
) -> None:
    store = packed_store(release, "plain")
    folder = OpenedStore([store.root]).folder
    for queue in store.truth.queues:
        if not queue.messages:
            continue
        files = folder.queues[queue.topic, queue.queue_id]
        units = QueueUnits(queue.topic, queue.queue_id, files)
        offsets = [message.physical_offset for message in queue.messages]
        assert (units.start, units.stop, len(units)) == (0, queue.max_offset, len(offsets))
        assert units.is_contiguous
        assert units.read(0, units.stop)["physical_offset"].tolist() == offsets
        assert [units.unit(i).physical_offset for i in range(len(units))] == offsets
        for number, offset in enumerate(offsets):
            assert units.offset_at(offset) == number
            assert units.offset_at(offset + 1) == number + 1


def test_a_queue_ends_at_its_last_unit_also_if_its_file_is_cut(tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    files = OpenedStore([root]).folder.queues["orders", 0]
    os.truncate(files[-1].path, files[-1].size - 7)
    files = OpenedStore([root]).folder.queues["orders", 0]

    units = QueueUnits("orders", 0, files)
    stop = units.stop
    assert units.unit(stop - 1).size > 0
    assert units.unit(1 << 40).size == 0
    assert len(units.read(stop - 2, 1 << 20)) >= 2


def test_a_missing_file_is_noticed(tmp_path: Path) -> None:
    paths = [tmp_path / f"{offset:020d}" for offset in (0, 400, 1200)]
    for path in paths:
        path.write_bytes(bytes(7) + b"\x01" * 393)
    files = OpenedStore([tmp_path]).folder.commit_log

    assert QueueUnits("t", 0, files[:2]).is_contiguous
    assert not QueueUnits("t", 0, files).is_contiguous


def test_no_file_of_a_queue_stays_open(tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    files = OpenedStore([root]).folder.queues["ledger", 0]

    units = QueueUnits("ledger", 0, files)
    assert len(units.read(0, units.stop)) == units.stop
    descriptors = Path("/proc/self/fd")
    targets = [os.path.realpath(each) for each in descriptors.iterdir()]
    assert len(files) > 1
    assert [each for each in targets if each.startswith(str(root))] == []

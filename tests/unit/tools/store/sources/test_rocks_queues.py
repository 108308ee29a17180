"""Queues in RocksDB are those that the broker answers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.sources.rocksdb import RocksQueues
from tests.peers.peers import CURRENT, MIDDLE
from tests.support.stores.fixtures import OpenStore


@pytest.mark.parametrize(
    ("release", "kind"), [(CURRENT, "rocksdb"), (CURRENT, "rocksv2"), (MIDDLE, "rocksboth")]
)
def test_every_unit_is_that_of_the_broker(release: str, kind: str, open_store: OpenStore) -> None:
    store = open_store(release, kind)
    queues = OpenedStore([store.root]).rocks_queues
    assert queues is not None
    answered = {
        (queue.topic, queue.queue_id): queue for queue in store.truth.queues if queue.messages
    }

    assert queues.ends == {
        name: (queue.min_offset, queue.max_offset) for name, queue in answered.items()
    }
    for name, queue in answered.items():
        expected = [(unit.physical_offset, unit.size, unit.tags_code) for unit in queue.units]
        units = queues.queue(*name)
        assert units.read(0, queue.max_offset).tolist() == expected
        assert units.read(1, queue.max_offset).tolist() == [*expected[1:], (0, 0, 0)]
        ((file, first, run),) = units.runs()
        assert (file.name, file.size, first, run.tolist()) == ("consumequeue", 0, 0, expected)
        assert queues.unit(*name, 0) == expected[0]
        assert queues.unit(*name, queue.max_offset) is None


class Records:
    """A RocksDB of given records."""

    name = "consumequeue"

    def __init__(self, records: dict[bytes, bytes]) -> None:
        self.records = dict(sorted(records.items()))

    def items(self, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        return (item for item in self.records.items() if item[0] >= start)

    def get(self, key: bytes) -> bytes | None:
        return self.records.get(key)

    def key_before(self, key: bytes) -> bytes | None:
        return max((record for record in self.records if record <= key), default=None)


def queues_of(records: dict[bytes, bytes]) -> RocksQueues:
    database: Any = Records(records)
    return RocksQueues(database)


def test_gap_parts_runs_and_units_of_another_length_are_left_out() -> None:
    key = rocksdb_records.queue_key
    value = bytes(7) + b"\x01" + bytes(3) + b"\x64" + bytes(16)
    queues = queues_of(
        {
            key("t", 0, 5): value,
            key("t", 0, 6): value,
            key("t", 0, 8): value,
            key("t", 0, 9): b"short",
            key("t", 1, 0): value,
        }
    )

    assert queues.ends == {("t", 0): (5, 10), ("t", 1): (0, 1)}
    assert [(first, len(units)) for _, first, units in queues.queue("t", 0).runs()] == [
        (5, 2),
        (8, 1),
    ]
    assert np.flatnonzero(queues.queue("t", 0).read(0, 10)["size"]).tolist() == [5, 6, 8]
    assert queues.unit("t", 0, 9) is None


def test_keys_that_are_no_text_or_no_units_do_not_stop_the_search() -> None:
    broken = rocksdb_records.queue_key("t\xff", 0, 0).replace("ÿ".encode(), b"\xff\xfe")
    queues = queues_of({b"\0": b"", broken: b"", rocksdb_records.queue_key("u" * 9, 0, 3): b""})

    assert queues.ends["u" * 9, 0] == (3, 4)

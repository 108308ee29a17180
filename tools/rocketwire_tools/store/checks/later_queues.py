"""Queues that a store with queues in files and in RocksDB has in RocksDB alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.store.checks.queue_files import UNIT, QueueFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.sources.rocks_queues import RocksQueue, RocksQueues


def later_queues(
    rocksdb: RocksQueues, files: Mapping[tuple[str, int], Sequence[StoreFile]]
) -> dict[tuple[str, int], RocksQueue]:
    """The queues of a RocksDB that are later than all queues in files.

    A broker with ``rocksdbCQDoubleWriteEnable`` writes each unit to both.  So a queue that is only
    in RocksDB has lost its files, unless its messages are later than all that the files know: then
    the broker had begun to write to RocksDB alone.
    """
    newest = max(map(_newest_offset, files.values()), default=-1)
    queues: dict[tuple[str, int], RocksQueue] = {}
    for name, (first, _) in rocksdb.ends.items():
        place = rocksdb.place(name, first)
        if place is None or place[0] > newest:
            queues[name] = rocksdb.queue(*name)
    return queues


def _newest_offset(files: Sequence[StoreFile]) -> int:
    """The largest physical offset in the last file of a queue; -1 without a message."""
    runs = QueueFiles(files[-1:], UNIT).runs()
    try:
        return max((int(units["physical_offset"].max()) for _, _, units in runs), default=-1)
    except OSError:  # which is told when the queue is compared
        return -1

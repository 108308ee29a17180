"""The files of the queues: for each message where it is in the log.

Our broker reads the log alone. The files are for Java brokers that open the folder: with them, a
topic that was deleted does not come back, and a log of any length is served at once.

Java: ``ConsumeQueue``, ``ConsumeQueueStore``.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rocketwire.store.consume_queue import UNIT_SIZE, QueueUnit, encode_unit
from rocketwire.store.folder import offset_of_name
from rocketwire.store.writer import Stream, pre_blank, queue_folder

if TYPE_CHECKING:
    from rocketwire_broker.files.disk import Disk
    from rocketwire_broker.files.log_store import LogStore
    from rocketwire_broker.storage.queue import UnitQueue

FOLDER: Final = "consumequeue"
_AT_ONCE: Final = 4_096  # units that are laid out before they are written


class QueueFiles:
    """Writes the queues of a store; existing files decide the size of new ones."""

    def __init__(self, disk: Disk, file_size: int) -> None:
        self._disk = disk
        size = _size_of_files(disk) or file_size
        self._file_size = -(-size // UNIT_SIZE) * UNIT_SIZE
        self._first_files: dict[tuple[str, int], int] = {}

    def write(self, store: LogStore) -> None:
        for topic in sorted(store.deleted):
            with suppress(ValueError):  # it had no folder
                self._disk.remove_folder(queue_folder(topic, 0).rpartition("/")[0])
            store.deleted.discard(topic)
        for queue_key in sorted(store.changed):
            queue = store.unit_queue(*queue_key)
            if queue is not None:
                self._write(queue)
            store.changed.discard(queue_key)

    def _write(self, queue: UnitQueue) -> None:
        try:
            folder = queue_folder(queue.topic, queue.queue_id)
        except ValueError:  # Java has no such queue either
            return
        if queue.written < 0:  # what an earlier broker has left is not known
            self._disk.remove_folder(folder)
        offset = max(queue.written, queue.min_offset)
        stream = Stream(self._disk, folder, self._file_size)
        per_file = self._file_size // UNIT_SIZE
        if queue.written < queue.min_offset and offset % per_file:
            start = offset - offset % per_file
            stream.write(start * UNIT_SIZE, pre_blank() * (offset - start))
        units = bytearray()
        for unit in queue.units(offset):
            units += encode_unit(QueueUnit(*unit)) if unit[1] else pre_blank()
            if len(units) >= _AT_ONCE * UNIT_SIZE:
                stream.write(offset * UNIT_SIZE, units)
                offset += len(units) // UNIT_SIZE
                units.clear()
        if units:
            stream.write(offset * UNIT_SIZE, units)
        last = queue.store_time(queue.max_offset - 1)
        if last is not None:  # brokers up to 4.9 find a time by the times of files
            stream.set_time((queue.max_offset - 1) * UNIT_SIZE, last)
        queue.written = queue.max_offset
        self._remove_first(queue, folder)

    def _remove_first(self, queue: UnitQueue, folder: str) -> None:
        # the last file stays, so that the queue keeps its offset
        queue_key = (queue.topic, queue.queue_id)
        position = min(queue.min_offset, max(0, queue.max_offset - 1)) * UNIT_SIZE
        first = position - position % self._file_size
        if self._first_files.get(queue_key) == first:
            return
        for name in os.listdir(self._disk.root / folder):
            start = offset_of_name(name)
            if start is not None and start < first:
                self._disk.remove(f"{folder}/{name}")
        self._first_files[queue_key] = first


def _size_of_files(disk: Disk) -> int:
    for path in (disk.root / FOLDER).glob("*/*/*"):
        if offset_of_name(path.name) is not None:
            return path.stat().st_size
    return 0

"""Tables beside the messages: units of queues, offsets of groups, timed messages, damage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.spark.stores.columns import batch_of, schema_of
from rocketwire_tools.spark.stores.reading import BLOCK_SIZE
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.formats.arrow_rows import pa
from rocketwire_tools.store.queued.units import UNIT, QueueUnits
from rocketwire_tools.store.unfinished import UnfinishedWork
from rocketwire_tools.store.verbs import pending

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.store.opened import OpenedStore

_UNITS: Final = 1 << 18
"""Units of one batch."""


def read_table(table: str, name: str, store: OpenedStore, fields: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a table.

    Args:
        table: its name.
        name: path of the store.
        store: the store.
        fields: columns, in this order.

    Raises:
        OSError: a file cannot be read.
    """
    if table == "queues":
        yield from _units(name, store, fields)
        return
    rows: list[dict[str, Any]] = []
    for row in _READERS[table](store):
        rows.append({"store": name, **row})
        if len(rows) == _UNITS:
            yield batch_of(table, fields, rows)
            rows = []
    yield batch_of(table, fields, rows)


def _units(name: str, store: OpenedStore, fields: Sequence[str]) -> Iterator[Any]:
    schema = schema_of("queues", fields)
    for (topic, queue_id), files in sorted(store.folder.queues.items()):
        for file in files:
            queue = QueueUnits(topic, queue_id, [file])
            for start in range(queue.start, queue.stop, _UNITS):
                units = queue.read(start, min(start + _UNITS, queue.stop))
                columns: dict[str, Any] = {
                    "store": name,
                    "topic": topic,
                    "queue_id": queue_id,
                    "queue_offset": np.arange(start, start + len(units)),
                    "file": file.name,
                    **{field: units[field].astype(np.int64) for field in UNIT.names or ()},
                }
                arrays = [_array(columns[field.name], field, len(units)) for field in schema]
                yield pa.record_batch(arrays, schema=schema)


def _array(values: Any, field: Any, count: int) -> Any:
    if isinstance(values, str | int):
        return pa.repeat(pa.scalar(values, field.type), count)
    return pa.array(values).cast(field.type)


def _offsets(store: OpenedStore) -> Iterator[dict[str, Any]]:
    work = UnfinishedWork() if store.folder.queues else pending.read_log(store)
    for row in pending.group_lags(store, work):
        yield {**row, "consumer_group": row["group"], "consumer_offset": row["offset"]}


def _timers(store: OpenedStore) -> Iterator[dict[str, Any]]:
    for row in pending.timed_messages(store):
        queue_id = row["queue_id"]
        number = int(queue_id) if queue_id and queue_id.isdecimal() else None
        yield {**row, "queue_id": number, "uniq_key": row["unique_key"]}


def _damage(store: OpenedStore) -> Iterator[dict[str, Any]]:
    """Damaged regions, and messages whose bodies do not have their checksums."""
    topics = TopicNames()
    for scan in store.scans():
        scan.block_size = BLOCK_SIZE
        count = 0
        for block in scan:
            yield from _regions(scan.regions[count:])
            count = len(scan.regions)
            if block.state is not State.GHOST:
                yield from _bodies(Rows(block, topics))
        yield from _regions(scan.regions[count:])


def _regions(regions: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for region in regions:
        if region.is_damage:
            yield {
                "file": region.file,
                "position": region.position,
                "physical_offset": region.start,
                "size": region.size,
                "kind": str(region.kind),
                "reason": region.reason,
            }


def _bodies(rows: Rows) -> Iterator[dict[str, Any]]:
    broken = np.flatnonzero(~rows.crc_holds)
    offsets = rows.messages.numbers("physical_offset")[broken].tolist()
    for offset, size in zip(offsets, rows.messages.sizes[broken].tolist(), strict=True):
        yield {
            "file": rows.block.file.name,
            "position": offset - rows.block.file.offset,
            "physical_offset": offset,
            "size": size,
            "kind": "checksum",
            "reason": "the body of the message does not have its checksum",
        }


_READERS: Final = {"offsets": _offsets, "timers": _timers, "damage": _damage}

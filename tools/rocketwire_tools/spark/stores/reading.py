"""Reads parts of stores as Arrow batches; the rows are those of ``rocketwire-store export``."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.sql92 import compile_expression
from rocketwire_tools.spark.stores.columns import microseconds, schema_of
from rocketwire_tools.spark.stores.planning import DamageError, scan_of
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.properties import pa
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.formats.arrow_rows import record_batch
from rocketwire_tools.store.selecting import select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.spark.stores.options import Settings
    from rocketwire_tools.spark.stores.planning import LogPart
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan

BLOCK_SIZE: Final = 4 << 20  # Bytes of the log that become one batch
_SPARED_COLLECTIONS: Final = 200_000


def read(part: LogPart, fields: Sequence[str], settings: Settings) -> Iterator[Any]:
    gc.set_threshold(_SPARED_COLLECTIONS, 50, 1000)
    selection = Selection(
        topics=frozenset(settings.topics),
        with_system=settings.system,
        queue_id=settings.queue_id,
        offsets=settings.offsets,
        physical=settings.physical,
        times=(settings.begin, settings.end),
        tags=frozenset(settings.tags),
        key=settings.key,
        message_id=settings.message_id,
        matches=None if settings.sql is None else compile_expression(settings.sql),
        with_ghosts=settings.ghosts,
    )
    scan = scan_of(part, block_size=BLOCK_SIZE)
    for rows in select_rows(scan, selection, TopicNames(), is_folded=settings.folded):
        if settings.mode == "failfast":
            _refuse_damage(scan)
        passing = _with_right_checksums(rows, settings.mode)
        if len(passing):
            yield _batch(passing, fields, part.store)
    if settings.mode == "failfast":
        _refuse_damage(scan)


def _refuse_damage(scan: LogScan) -> None:
    for region in scan.regions:
        if region.is_damage:
            raise DamageError(
                f"{region.file} at byte {region.position}: {region.kind} of {region.size} bytes,"
                f" {region.reason or 'a file is missing'}"
            )


def _with_right_checksums(rows: Rows, mode: str) -> Rows:
    if mode == "permissive":
        return rows
    holds = rows.crc_holds
    if holds.all():
        return rows
    if mode == "failfast":
        physical_offset = int(rows.messages.numbers("physical_offset")[int(np.argmin(holds))])
        position = physical_offset - rows.block.file.offset
        raise DamageError(
            f"{rows.block.file.name} at byte {position}: the body of the message does not have its"
            " checksum"
        )
    return rows.choose(holds)


def _batch(rows: Rows, fields: Sequence[str], store: str) -> Any:
    """Rows as Spark takes them: with the store, and with times in microseconds."""
    batch = record_batch(rows, [name for name in fields if name != "store"])
    arrays = [
        pa.repeat(pa.scalar(store), len(rows))
        if name == "store"
        else microseconds(batch.column(name))
        if name.endswith("_timestamp")
        else batch.column(name)
        for name in fields
    ]
    return pa.record_batch(arrays, schema=schema_of(fields))

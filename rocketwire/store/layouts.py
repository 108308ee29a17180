"""Layouts of the files of a broker's store, declared with construct.

Messages have their layout in ``rocketwire.wire.layouts.declarations``; here are the records around
them.  All integers are big-endian and signed.  ``format_of`` derives the format of ``struct`` from
a declaration, so that each layout is written down once.
"""

# pyright: reportUnknownArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

from typing import Any, Final

from construct import FormatField, Int16sb, Int32sb, Int32ub, Int64sb, Struct

BLANK: Final[Any] = Struct("size" / Int32sb, "magic" / Int32ub)
"""End of a full commit log file (Java: ``CommitLog.BLANK_MAGIC_CODE``)."""

QUEUE_UNIT: Final[Any] = Struct(
    "physical_offset" / Int64sb, "size" / Int32sb, "tags_code" / Int64sb
)
"""A message of a queue (Java: ``ConsumeQueue.CQ_STORE_UNIT_SIZE``)."""

BATCH_UNIT: Final[Any] = Struct(
    "physical_offset" / Int64sb,
    "size" / Int32sb,
    "tags_code" / Int64sb,
    "store_timestamp" / Int64sb,
    "base_offset" / Int64sb,
    "message_count" / Int16sb,
    "compacted_offset" / Int32sb,
    "reserved" / Int32sb,
)
"""A batch of a queue of type BatchCQ (Java: ``BatchConsumeQueue.CQ_STORE_UNIT_SIZE``)."""

QUEUE_EXTENSION: Final[Any] = Struct(
    "size" / Int16sb,
    "tags_code" / Int64sb,
    "store_timestamp" / Int64sb,
    "bit_map_size" / Int16sb,
)
"""Head of an extension record; the bit map follows (Java: ``ConsumeQueueExt.CqExtUnit``)."""

INDEX_HEADER: Final[Any] = Struct(
    "begin_timestamp" / Int64sb,
    "end_timestamp" / Int64sb,
    "begin_physical_offset" / Int64sb,
    "end_physical_offset" / Int64sb,
    "slot_count" / Int32sb,
    "entry_count" / Int32sb,
)
"""Head of an index file; ``entry_count`` starts at 1 (Java: ``IndexHeader``)."""

INDEX_ENTRY: Final[Any] = Struct(
    "key_hash" / Int32sb, "physical_offset" / Int64sb, "seconds" / Int32sb, "previous" / Int32sb
)
"""A key of a message (Java: ``IndexFile.putKey``)."""

CHECKPOINT: Final[Any] = Struct(
    "physical_timestamp" / Int64sb,
    "queue_timestamp" / Int64sb,
    "index_timestamp" / Int64sb,
    "master_flushed_offset" / Int64sb,
    "confirmed_offset" / Int64sb,
    "queue_physical_offset" / Int64sb,
)
"""Start of ``checkpoint``; older releases leave the last words zero (Java: ``StoreCheckpoint``)."""

ROCKSDB_UNIT: Final[Any] = Struct(
    "physical_offset" / Int64sb,
    "size" / Int32sb,
    "tags_code" / Int64sb,
    "store_timestamp" / Int64sb,
)
"""A message of a queue in RocksDB (Java: ``RocksDBConsumeQueueTable.CQ_UNIT_SIZE``)."""

"""A timed message in RocksDB (Java: ``TimerRocksDBRecord.VALUE_LENGTH``)."""

TIMER_RECORD: Final[Any] = Struct(
    "size" / Int32sb,
    "previous" / Int64sb,
    "flags" / Int32sb,
    "write_time" / Int64sb,
    "delay" / Int32sb,
    "physical_offset" / Int64sb,
    "message_size" / Int32sb,
    "topic_hash" / Int32sb,
    "reserved" / Int64sb,
)
"""A record of the timer log (Java: ``TimerLog.UNIT_SIZE``)."""

TIMER_BLANK: Final[Any] = Struct("size" / Int32sb, "zero" / Int64sb, "magic" / Int32ub)
"""End of a full timer log file (Java: ``TimerLog.MIN_BLANK_LEN``)."""

TIMER_SLOT: Final[Any] = Struct(
    "time" / Int64sb,
    "first" / Int64sb,
    "last" / Int64sb,
    "record_count" / Int32sb,
    "reserved" / Int32sb,
)
"""A slot of the timer wheel; ``time`` in units of the precision (Java: ``timer.Slot``)."""

TIMER_CHECK: Final[Any] = Struct(
    "read_time" / Int64sb,
    "log_flushed" / Int64sb,
    "queue_offset" / Int64sb,
    "master_queue_offset" / Int64sb,
    "state_version" / Int64sb,
    "timestamp" / Int64sb,
    "counter" / Int64sb,
)
"""``config/timercheck`` (Java: ``TimerCheckpoint``)."""


def fields_of(declaration: Any) -> list[tuple[str, str]]:
    """Name and format (of ``struct``, with byte order) of each field of a record of fixed size.

    Args:
        declaration: a ``Struct`` of this module.

    Raises:
        TypeError: a field is no integer of fixed size.
    """
    fields: list[tuple[str, str]] = []
    for member in declaration.subcons:
        if not isinstance(member.subcon, FormatField):
            raise TypeError(f"{member.name} has no fixed size")
        code: Any = member.subcon
        fields.append((member.name, code.fmtstr))
    return fields


def format_of(declaration: Any) -> str:
    return ">" + "".join(code.lstrip(">") for _, code in fields_of(declaration))

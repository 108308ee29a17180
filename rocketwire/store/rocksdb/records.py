"""Keys and values that 5.x brokers keep in RocksDB: queues, configuration, pops, an index.

A RocksDB sorts by the bytes of its keys, so that the units of one queue stand together, by offset.
"""

from __future__ import annotations

from collections import defaultdict
from struct import Struct, error
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.store import layouts
from rocketwire.store.config_files import decode_config
from rocketwire.wire.java_utf8 import decode_utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UNIT: Final = Struct(layouts.format_of(layouts.ROCKSDB_UNIT))
_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")
_INT64: Final = Struct(">q")
_CONTROL: Final = b"\x01"
_LAST_OFFSET: Final = (1 << 63) - 1
_HOUR: Final = 3_600_000

UNIT_SIZE: Final = _UNIT.size
"""Java: ``RocksDBConsumeQueueTable.CQ_UNIT_SIZE``."""

VERSION_KEY: Final = b"kvDataVersionKey"
"""Java: ``RocksDBConfigManager.KV_DATA_VERSION_KEY``."""


class RocksUnit(NamedTuple):
    physical_offset: int  #: of the message in the commit log
    size: int  #: of the message there
    tags_code: int  #: as in ``QueueUnit``
    store_timestamp: int  #: of the message, milliseconds since 1970


# ---------------------------------------------------------------------------- queues


def queue_key(topic: str, queue_id: int, offset: int) -> bytes:
    """The key of a unit (Java: ``RocksDBConsumeQueueTable.buildCQKeyByteBuffer``)."""
    name = topic.encode()
    parts = (_INT32.pack(len(name)), name, _INT32.pack(queue_id), _INT64.pack(offset))
    return _CONTROL.join(parts)


def key_after_queue(topic: str, queue_id: int) -> bytes:
    return queue_key(topic, queue_id, _LAST_OFFSET) + b"\0"


def decode_queue_key(key: bytes) -> tuple[str, int, int] | None:
    if len(key) < 19:
        return None
    size = _INT32.unpack_from(key)[0]
    queue, offset = 6 + size, 11 + size
    if len(key) != offset + 8 or not key[4] == key[queue - 1] == key[offset - 1] == _CONTROL[0]:
        return None
    return (
        decode_utf8(key[5 : queue - 1]),
        *_INT32.unpack_from(key, queue),
        *_INT64.unpack_from(key, offset),
    )


def decode_rocks_unit(value: bytes) -> RocksUnit | None:
    return RocksUnit._make(_UNIT.unpack(value)) if len(value) == _UNIT.size else None


# ---------------------------------------------------------------------------- configuration


def decode_tables(items: Iterable[tuple[bytes, bytes]]) -> dict[str, Any]:
    """The JSON values of a table, by name; a value that is no JSON object is left out.

    Args:
        items: keys and values of the family of topics, groups or offsets.
    """
    table: dict[str, Any] = {}
    for key, value in items:
        try:
            table[decode_utf8(key)] = decode_config(value)
        except DecodeError:
            continue
    return table


def decode_offsets(items: Iterable[tuple[bytes, bytes]]) -> dict[str, Any]:
    """``topic@group`` → queue → next offset, as in ``consumerOffset.json``."""
    return {
        name: queues
        for name, value in decode_tables(items).items()
        if isinstance(queues := value.get("offsetTable"), dict)
    }


_V2_CONFIG: Final = 1  # Java: TablePrefix.TABLE
_V2_OFFSETS, _V2_PULL_OFFSETS, _V2_TOPICS, _V2_GROUPS = 1, 2, 3, 4  # Java: TableId
_V2_RECORD: Final = 2  # Java: RecordPrefix.DATA
_V2_JSON: Final = 1  # Java: SerializationType.JSON


def decode_v2(items: Iterable[tuple[bytes, bytes]]) -> dict[str, dict[str, Any]]:
    """The tables of ``config/rdb``, which brokers with ``configManagerVersion=v2`` write.

    Args:
        items: keys and values.

    Returns:
        Name of the JSON file that has the same content → that content.  Records of other tables and
        of no valid form are left out.
    """
    topics: dict[str, Any] = {}
    groups: dict[str, Any] = {}
    offsets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for key, value in items:
        if len(key) < 4 or key[0] != _V2_CONFIG or key[3] != _V2_RECORD:
            continue
        table = _INT16.unpack_from(key, 1)[0]
        try:
            if table in (_V2_OFFSETS, _V2_PULL_OFFSETS):
                group, topic, queue_id = _decode_v2_key(key)
                offsets[table][f"{topic}@{group}"][str(queue_id)] = _INT64.unpack(value)[0]
            elif table in (_V2_TOPICS, _V2_GROUPS) and value[:1] == bytes([_V2_JSON]):
                name, _ = _read_v2_text(key, 4)
                (topics if table == _V2_TOPICS else groups)[name] = decode_config(value[1:])
        except (DecodeError, error):
            continue
    return {
        "topics.json": {"topicConfigTable": topics},
        "subscriptionGroup.json": {"subscriptionGroupTable": groups},
        "consumerOffset.json": {
            "offsetTable": dict(offsets[_V2_OFFSETS]),
            "pullOffsetTable": dict(offsets[_V2_PULL_OFFSETS]),
        },
    }


def _decode_v2_key(key: bytes) -> tuple[str, str, int]:
    group, position = _read_v2_text(key, 4)
    topic, position = _read_v2_text(key, position + 1)
    return group, topic, _INT32.unpack_from(key, position + 1)[0]


def _read_v2_text(key: bytes, position: int) -> tuple[str, int]:
    start = position + 2
    end = start + _INT16.unpack_from(key, position)[0]
    if not start <= end <= len(key):
        raise DecodeError("a name reaches beyond its key")
    return decode_utf8(key[start:end]), end


# ---------------------------------------------------------------------------- pops, index


def decode_pops(items: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Messages that consumers popped and did not acknowledge (Java: ``PopConsumerRecord``).

    Args:
        items: keys and values of the family ``popState``.

    Yields:
        When the message can be popped again, milliseconds since 1970, and the record.
    """
    for key, value in items:
        if len(key) < 8:
            continue
        try:
            yield _INT64.unpack_from(key)[0], decode_config(value)
        except DecodeError:
            continue


def index_prefixes(topic: str, key: str) -> tuple[bytes, bytes]:
    """What stands after the hour in entries of a key, and of a unique key.

    Java: ``IndexRocksDBRecord.getKeyBytes``.
    """
    return f"@{topic}@K@{key}@".encode(), f"@{topic}@U@{key}@".encode()


def index_hour(key: bytes) -> int | None:
    if len(key) <= 16 or key[8:9] != b"@":
        return None
    hour: int = _INT64.unpack_from(key)[0]
    return hour if 0 <= hour < _LAST_OFFSET - _HOUR else None


def index_start(hour: int, prefix: bytes = b"") -> bytes:
    return _INT64.pack(hour) + prefix


def next_hour(hour: int) -> int:
    return hour + _HOUR


def index_offset(key: bytes) -> int:
    offset: int = _INT64.unpack_from(key, len(key) - 8)[0]
    return offset

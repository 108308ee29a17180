"""Topics, groups and offsets in RocksDB, as the JSON files in whose place they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire_tools.store.sources.databases import DEFAULT_FAMILY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_tools.store.sources.databases import Database


class _Table(NamedTuple):
    file: str  # the JSON file that has the same content
    member: str  # of that file
    folder: str  # a RocksDB of this table alone
    family: str  # in ``config/metadata``; the data version is in ``VERSION``


_TABLES: Final = (
    _Table("topics.json", "topicConfigTable", "config/topics", "topic"),
    _Table(
        "subscriptionGroup.json",
        "subscriptionGroupTable",
        "config/subscriptionGroups",
        "subscriptionGroup",
    ),
    _Table("consumerOffset.json", "offsetTable", "config/consumerOffsets", "consumerOffset"),
)
_SINGLE: Final = "config/metadata"
_V2: Final = "config/rdb"


def read_tables(databases: Mapping[str, Database]) -> dict[str, tuple[dict[str, Any], str]]:
    tables: dict[str, tuple[dict[str, Any], str]] = {}
    for table in _TABLES:
        candidates = (
            (table.folder, DEFAULT_FAMILY, "kvDataVersion"),
            (_SINGLE, table.family, f"{table.family}Version"),
        )
        for name, family, versions in candidates:
            database = databases.get(name)
            content = None if database is None else _content(database, table, family, versions)
            if content is not None:
                tables[table.file] = content, name
    if _V2 in databases:
        content_of_files = rocksdb_records.decode_v2(databases[_V2].items())
        tables |= {
            file: (content, _V2)
            for file, content in content_of_files.items()
            if any(content.values())
        }
    return tables


def _content(
    database: Database, table: _Table, family: str, versions: str
) -> dict[str, Any] | None:
    items = database.items(family=family)
    is_offsets = table.member == "offsetTable"
    decode = rocksdb_records.decode_offsets if is_offsets else rocksdb_records.decode_tables
    members = decode(items)
    if not members:
        return None
    version = rocksdb_records.decode_tables(database.items(family=versions))
    data_version = version.get(rocksdb_records.VERSION_KEY.decode())
    return {table.member: members, **({"dataVersion": data_version} if data_version else {})}

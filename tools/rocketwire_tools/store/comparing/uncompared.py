"""What two stores have and no comparison looks at, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.store.opened import OpenedStore

_FAMILIES: Final = (
    ("rocksdbstore", "timer", "timed messages in RocksDB"),
    ("rocksdbstore", "trans", "transactions in RocksDB"),
    ("kvStore", "popState", "popped messages in RocksDB"),
)
"""Folder and family of a RocksDB whose records are not compared, and what they are."""


def uncompared_parts(a: OpenedStore, b: OpenedStore) -> Iterator[str]:
    """What is not compared, and why.  Ask when all else is compared: some RocksDBs open late."""
    for name, store in (("A", a), ("B", b)):
        for folder, reason in store.unreadable.items():
            yield f"{folder} of {name}: {reason}"
    for folder, family, what in _FAMILIES:
        sides = [name for name, store in (("A", a), ("B", b)) if _has(store, folder, family)]
        if sides:
            yield f"{what}: {' and '.join(sides)} {'have' if len(sides) > 1 else 'has'} some"


def _has(store: OpenedStore, folder: str, family: str) -> bool:
    if folder not in store.folder.rocksdb:
        return False
    database = store.database(folder)
    return database is not None and any(database.items(family=family))

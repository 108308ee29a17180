"""``rocksv2``: as ``rocksdb``, with the second form of the configuration; in 5.5 an index too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.java.peers import CURRENT
from tests.support.stores.kinds import plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    options = {"storeType": "defaultRocksDB", "configManagerVersion": "v2"}
    if release == CURRENT:
        options |= {"indexRocksDBEnable": "true", "indexFileWriteEnable": "true"}
    topics = tuple(plain.TOPICS)
    return record(folder, release, "rocksv2", plain.fill, options=options, topics=topics)

"""``rocksboth``: as ``plain``, with queues in files and in RocksDB (5.3.3; a new broker of 5.5.0 ends)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.stores.kinds import plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    options = {"rocksdbCQDoubleWriteEnable": "true"}
    topics = tuple(plain.TOPICS)
    return record(folder, release, "rocksboth", plain.fill, options=options, topics=topics)

"""``popkv``: as ``pop``, with the broker's records of pops in RocksDB (5.3 on)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.stores.kinds import pop
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    options = {
        **pop.OPTIONS,
        "popConsumerKVServiceInit": "true",
        "popConsumerKVServiceEnable": "true",
    }
    return record(folder, release, "popkv", pop.fill, options=options, topics=tuple(pop.TOPICS))

"""``crc``: as ``plain``, with a checksum of each message among its properties (5.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.stores.kinds import plain
from tests.support.stores.recording import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth."""
    options = {"enabledAppendPropCRC": "true"}
    topics = tuple(plain.TOPICS)
    return record(folder, release, "crc", plain.fill, options=options, topics=topics)

"""Any bytes are a file of DLedger's log and one of its index."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rocketwire.store import dledger
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.opened import OpenedStore
from tests.fuzz import stores

CASES = 300
"""Damaged seeds in a test: each is written to a file and read whole."""

_FOLDER = TemporaryDirectory(prefix="fuzz-")


def read(data: bytes) -> None:
    """By position, then as a log."""
    for position in range(0, len(data), dledger.INDEX_UNIT_SIZE):
        dledger.decode_index(data, position)
        dledger.decode_entry(data, position, 0)
        dledger.blank_size(data, position)
    folder = Path(_FOLDER.name) / "dledger-n0" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{0:020}").write_bytes(data)
    for scan in OpenedStore([Path(_FOLDER.name)]).scans():
        for block in scan:
            offsets = Rows(block, TopicNames()).column("physical_offset").tolist()
            assert all(dledger.HEAD_SIZE <= offset < len(data) for offset in offsets)


def start() -> list[bytes]:
    """Entries and units of the index."""
    return stores.seeds("/dledger-")

"""Any bytes are a file of a commit log: each message stands where it says, and is read."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rocketwire.store import commit_log
from rocketwire_tools.store.checks.findings import Findings
from rocketwire_tools.store.checks.log_check import LogCheck
from rocketwire_tools.store.engine.rows import COLUMNS, Rows, TopicNames
from rocketwire_tools.store.opened import OpenedStore
from tests.fuzz import stores

CASES = 300
"""Damaged seeds in a test: each is written to a file and read whole."""

_FOLDER = TemporaryDirectory(prefix="fuzz-")


def read(data: bytes) -> None:
    """By position, then as ``check`` and ``messages`` read a file."""
    positions, end = commit_log.walk(data, 0, len(data))
    for position in (*positions, end):
        commit_log.message_parts(data, position)
        commit_log.blank_size(data, position)
    file = Path(_FOLDER.name) / f"{0:020}"
    file.write_bytes(data)
    store = OpenedStore([file])
    for scan in store.scans():
        topics, last = TopicNames(), 0
        for block in scan:
            rows = Rows(block, topics)
            for name in COLUMNS:
                assert len(rows.column(name)) == len(rows)
            for place, size in zip(
                rows.column("physical_offset").tolist(), rows.column("size").tolist(), strict=True
            ):
                assert last <= place < place + size <= len(data)
                last = place + size
            rows.unfolded()
        # an empty file is a region without bytes
        assert all(region.start < region.end for region in scan.regions) or not data
    for scan in store.scans():
        LogCheck(findings=Findings()).run(scan, scan)


def start() -> list[bytes]:
    """Messages of all kinds of stores."""
    return stores.seeds("/commitlog/")

"""A real broker deletes the files of a log that ``stat --expiring`` names."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.support.java.peers import CURRENT, OLD
from tests.support.processes import wait_until
from tests.support.stores.cluster import StoreCluster, copy_store
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3600
ALL_HOURS = ";".join(map(str, range(24)))
FIRST_CLEANING = 90.0
"""Seconds; a broker looks for expired files a minute after its start, then every ten seconds."""


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_broker_deletes_the_files_that_are_named(
    release: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    source = unpack(release, "plain", tmp_path / "source")
    settings: dict[str, Any] = {
        "fileReservedTime": 77,
        "deleteWhen": ";".join(f"{hour:02d}" for hour in range(24)),
        "diskMaxUsedSpaceRatio": 95,
    }
    cluster = StoreCluster(tmp_path / "java", release, settings)
    log = copy_store(source.root, cluster.store) / "commitlog"
    names = sorted(path.name for path in log.iterdir())
    for number, name in enumerate(names):
        changed = time.time() - (79.5 - number) * HOUR
        os.utime(log / name, (changed, changed))
    options = ("--expiring", "--reserved", "77", "--delete-when", ALL_HOURS, "--disk-used", "50")
    assert main(["stat", "--json", *options, str(cluster.store)]) == 0
    deletion = json.loads(capsysbinary.readouterr().out.splitlines()[0])
    assert deletion["files"] == 3

    with cluster:
        wait_until(
            lambda: not any((log / name).exists() for name in names[:3]),
            "the expired files are gone",
            FIRST_CLEANING,
        )
        present = sorted(path.name for path in log.iterdir())
        cluster.stop()

    assert present[: len(names) - 3] == names[3:]

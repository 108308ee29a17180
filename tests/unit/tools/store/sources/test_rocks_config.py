"""Topics, groups and offsets in RocksDB, in each form, are those that the broker answers."""

import os
import sys
from pathlib import Path

import pytest

from rocketwire_tools.store.opened import OpenedStore
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import OpenStore, unpack


def test_of_a_file_and_a_rocksdb_the_newer_one_counts(tmp_path: Path) -> None:
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    file = root / "config" / "topics.json"
    file.write_text('{"topicConfigTable":{}}')

    os.utime(file, (1, 1))
    older = OpenedStore([root]).config("topics.json")
    os.utime(file, (1 << 33, 1 << 33))
    newer = OpenedStore([root]).config("topics.json")

    assert older is not None
    assert newer is not None
    assert (older[1], newer[1]) == ("config/topics", "config/topics.json")


def test_without_the_package_one_line_names_the_extra(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rocksdict", None)
    opened = OpenedStore([open_store(CURRENT, "rocksdb").root])

    assert opened.rocks_queues is None
    assert opened.queue_names == set()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("consumequeue is not read, only the log is: ")
    assert line.endswith("pip install 'rocketwire[store-rocksdb]'")
    assert opened.config("topics.json") is None

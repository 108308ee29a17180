"""Queues of real brokers against damaged copies of them, in files and in RocksDB."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire.store.writer import QUEUE_FILE_SIZE, DiskFiles, StoreWriter
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.store.comparing.logs import Log
from rocketwire_tools.store.comparing.queues import queue_differences
from rocketwire_tools.store.engine.blocks import FileBlocks
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, MIDDLE, OLD
from tests.support.stores import damage
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire_tools.store.comparing.differences import StoreDifference
    from tests.support.stores import BrokerStore


def log_of(root: Path) -> Log:
    return Log(OpenedStore([root]).folder.commit_log)


def compare_queues(a: Path, b: Path) -> list[StoreDifference]:
    stores = OpenedStore([a]), OpenedStore([b])
    return list(queue_differences(*stores, [(log_of(a), log_of(b))]))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (damage.zero_unit, "1 units are in A only, this is the first"),
        (damage.spoil_unit, "1 units differ, this is the first"),
    ],
)
def test_a_unit_that_differs_is_named_with_its_queue_offset(
    copy: BrokerStore, tmp_path: Path, change: Callable[[Path], None], rule: str
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    change(copy.root)

    (difference,) = compare_queues(original, copy.root)

    files = damage.queue_files(original)[0]
    file, unit = (files[-2], 5) if change is damage.zero_unit else (files[-1], 0)
    topic, queue = file.parts[-3:-1]
    number = int(file.name) // damage.UNIT + unit
    assert difference.rule == rule
    assert difference.name == f"{topic}:{queue}:{number}"


def test_a_queue_that_one_store_does_not_have_is_named_with_the_number_of_its_units(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    topic, queue = damage.queue_files(original)[1][0].parts[-3:-1]
    damage.remove_one_queue(copy.root)

    (difference,) = compare_queues(original, copy.root)

    (answered,) = (
        one for one in copy.truth.queues if (one.topic, one.queue_id) == (topic, int(queue))
    )
    count = answered.max_offset - answered.min_offset
    assert difference.rule == f"{count} units are in A only, this is the first"


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_units_of_messages_that_only_a_master_has_make_no_difference(
    release: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    master = packed_store(release, "slave")
    assert master.slave is not None

    assert compare_queues(master.root, master.slave.root) == []


@pytest.mark.slow
def test_queues_of_batches_are_compared_too(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path
) -> None:
    inner = packed_store(CURRENT, "inner").root
    shutil.copytree(inner, tmp_path / "inner")
    (queue,) = list((tmp_path / "inner" / "batchconsumequeue").rglob("0" * 20))[:1]
    damage.flip(queue, 46 + 30)

    (difference,) = compare_queues(inner, tmp_path / "inner")
    assert difference.rule == "1 units differ, this is the first"
    assert difference.place_b is not None
    assert difference.place_b.byte == 46


def test_addresses_of_extensions_make_no_difference(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path
) -> None:
    """Another broker, or ``rebuild``, has the extension of a message elsewhere, or none."""
    original = packed_store(CURRENT, "ext").root
    root = tmp_path / "store"
    shutil.copytree(original, root)
    file = damage.queue_files(root)[0][0]
    damage.put(file, 12, bytes(7) + b"\x05")
    damage.flip(file, damage.UNIT + 7)

    (difference,) = compare_queues(original, root)

    assert difference.rule == "1 units differ, this is the first"
    assert difference.name.endswith(":1")


def without_rocksdb(store: BrokerStore) -> Path:
    """The root of a store whose queues were in files and in RocksDB, with those in files alone."""
    for file in (store.root / "consumequeue").iterdir():
        if file.is_file():
            file.unlink()
    return store.root


def without_queue_files(store: BrokerStore) -> Path:
    """The same with the RocksDB alone."""
    for folder in (store.root / "consumequeue").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    return store.root


def test_queues_in_files_equal_those_in_rocksdb(tmp_path: Path) -> None:
    """The broker wrote both."""
    pytest.importorskip("rocksdict")
    files = without_rocksdb(unpack(MIDDLE, "rocksboth", tmp_path / "a"))
    rocks = without_queue_files(unpack(MIDDLE, "rocksboth", tmp_path / "b"))

    assert OpenedStore([files]).rocks_queues is None
    assert OpenedStore([rocks]).folder.queues == {}
    assert compare_queues(files, rocks) == []
    assert compare_queues(rocks, rocks) == []


def test_a_unit_that_differs_from_that_in_rocksdb_is_named(tmp_path: Path) -> None:
    pytest.importorskip("rocksdict")
    files = without_rocksdb(unpack(MIDDLE, "rocksboth", tmp_path / "a"))
    rocks = without_queue_files(unpack(MIDDLE, "rocksboth", tmp_path / "b"))
    damage.zero_unit(files)

    (difference,) = compare_queues(files, rocks)

    assert difference.rule == "1 units are in B only, this is the first"
    assert difference.place_b is not None
    assert difference.place_b.file == "consumequeue"


def test_units_that_a_killed_broker_had_in_memory_only_are_missing(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    pytest.importorskip("rocksdict")
    killed = packed_store(CURRENT, "rockskilled").root
    whole = packed_store(CURRENT, "rocksdb").root

    differences = compare_queues(whole, killed)

    rules = {difference.rule.partition(" ")[2] for difference in differences}
    assert rules == {"units are in A only, this is the first"}


def test_holes_of_queues_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker makes each queue's file 6 MB long, and most of its 50,000 queues are short."""
    originals = tmp_path / "a", tmp_path / "b"
    for root in originals:
        writer = StoreWriter(DiskFiles(root), log_file_size=1 << 16)
        for _ in range(3):
            writer.append(StoredMessage(topic="orders", body=b"1", store_timestamp=1))
        writer.flush()
    path = originals[1] / "consumequeue" / "orders" / "0" / ("0" * 20)
    with path.open("r+b") as file:
        file.seek(20)
        file.write(bytes(20))
        file.seek(20 * 100_000)
        file.write((1).to_bytes(8, "big") + (200).to_bytes(4, "big") + bytes(8))
    if path.stat().st_blocks * 512 >= QUEUE_FILE_SIZE:
        pytest.skip("this file system has no sparse files")
    read = 0
    fill = FileBlocks.fill

    def count(self: FileBlocks, position: int, view: memoryview) -> int:
        nonlocal read
        read += len(view)
        return fill(self, position, view)

    monkeypatch.setattr(FileBlocks, "fill", count)
    differences = compare_queues(*originals)

    assert [difference.name for difference in differences] == ["orders:0:1", "orders:0:100000"]
    assert read < QUEUE_FILE_SIZE // 4

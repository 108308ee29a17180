"""Indexes of keys of two stores: index files of other names and sizes, and RocksDB."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire.store import index_file
from rocketwire_tools.store.comparing import indexes
from rocketwire_tools.store.comparing.indexes import IndexComparison
from rocketwire_tools.store.comparing.logs import Log
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire.store.index_file import Geometry
    from rocketwire_tools.store.comparing.differences import StoreDifference
    from tests.support.stores import BrokerStore


def compare(a: Path, b: Path) -> tuple[list[StoreDifference], list[str]]:
    stores = OpenedStore([a]), OpenedStore([b])
    logs = [(Log(stores[0].folder.commit_log), Log(stores[1].folder.commit_log))]
    comparison = IndexComparison(*stores, logs)
    return list(comparison), comparison.uncompared


def entries_of(file: Path) -> tuple[Geometry, list[tuple[int, int]]]:
    """The sizes of an index file, and hash and physical offset of its entries."""
    content = file.read_bytes()
    geometry = next(
        one for one in index_file.geometries(len(content)) if index_file.fits(content, one)
    )
    read = index_file.reader_of(content)
    count = index_file.decode_index_header(content).entry_count
    return geometry, [index_file.entry_at(read, geometry, number)[:2] for number in range(1, count)]


@pytest.mark.parametrize("chunk", [indexes.CHUNK, 7])
def test_an_index_equals_itself(
    plain: BrokerStore, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(indexes, "CHUNK", chunk)

    assert compare(plain.root, plain.root) == ([], [])


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_slave_has_the_entries_of_the_messages_that_it_has(
    release: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    """Its index files begin elsewhere than its master's."""
    master = packed_store(release, "slave")
    assert master.slave is not None

    assert compare(master.root, master.slave.root) == ([], [])


@pytest.mark.parametrize("chunk", [indexes.CHUNK, 7])
def test_a_file_that_one_store_lacks_is_counted_by_its_entries(
    copy: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(indexes, "CHUNK", chunk)
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    file = sorted((copy.root / "index").iterdir())[0]
    count = len(set(entries_of(file)[1]))  # a key that a message has twice counts once
    file.unlink()

    ((difference,), uncompared) = compare(original, copy.root)

    assert difference.rule == f"{count} entries are in A only, this is the first"
    assert difference.place_a is not None
    assert difference.place_a.file == f"index/{file.name}"
    assert difference.place_b is None
    assert uncompared == []


def test_an_entry_of_another_hash_is_in_one_store_only(copy: BrokerStore, tmp_path: Path) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    file = sorted((copy.root / "index").iterdir())[0]
    geometry, entries = entries_of(file)
    number = max(number for number, entry in enumerate(entries, 1) if entries.count(entry) == 1)
    start = index_file.HEADER_SIZE + index_file.SLOT_SIZE * geometry.slots
    damage.put(file, start + index_file.ENTRY_SIZE * number, b"\x12\x34\x56\x78")

    differences, _ = compare(original, copy.root)

    in_a, in_b = differences
    assert in_a.rule == "1 entries are in A only, this is the first"
    assert in_b.rule == "1 entries are in B only, this is the first"
    assert in_b.name.startswith(f"hash {0x12345678} at ")


def test_entries_that_lead_anywhere_are_compared_in_bounded_time(
    copy: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "CHUNK", 7)
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    file = sorted((copy.root / "index").iterdir())[0]
    geometry, entries = entries_of(file)
    start = index_file.HEADER_SIZE + index_file.SLOT_SIZE * geometry.slots
    for number in range(100, len(entries)):
        offset = (0, (1 << 63) - 1, 1 << 63)[number % 3].to_bytes(8, "big")
        damage.put(file, start + index_file.ENTRY_SIZE * number + 4, offset)

    differences, uncompared = compare(original, copy.root)
    monkeypatch.setattr(indexes, "MAX_READS", 1)

    assert differences[0].rule.endswith("entries are in A only, this is the first")
    assert uncompared == []
    assert compare(original, copy.root) == ([], ["index files: their entries are in no order"])


def test_an_index_file_that_is_no_index_is_not_compared(copy: BrokerStore, tmp_path: Path) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    file = sorted((copy.root / "index").iterdir())[0]
    file.write_bytes(b"short")

    _, uncompared = compare(original, copy.root)

    (text,) = uncompared
    assert text.startswith(f"index/{file.name} of B: ")


def test_an_index_that_only_one_store_has_is_not_compared(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    shutil.rmtree(copy.root / "index")

    differences, uncompared = compare(original, copy.root)

    assert differences == []
    assert uncompared == ["indexes: A has index files, and B has none"]


def index_in_rocksdb(root: Path, entries: list[tuple[str, int]]) -> None:
    """Put an index into ``rocksdbstore``, in the place of index files.

    Args:
        root: of the store.
        entries: keys of the topic ``orders``, and physical offsets of their messages.
    """
    rocksdict = pytest.importorskip("rocksdict")
    shutil.rmtree(root / "index")
    shutil.rmtree(root / "rocksdbstore")
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    database = rocksdict.Rdict(str(root / "rocksdbstore"), options)
    database[b"lastOffsetPy"] = bytes(8)
    for key, offset in entries:
        name = f"@orders@K@{key}@AC14000204D218B4AAC2000000000000@".encode()
        database[bytes(8) + name + offset.to_bytes(8, "big")] = bytes(8)
    database.close()


def test_indexes_in_rocksdb_are_compared_where_both_logs_have_messages(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    index_in_rocksdb(original, [("a", 100), ("b", 200), ("b", 1 << 40), ("c", 300)])
    index_in_rocksdb(copy.root, [("a", 100), ("b", 201), ("d", 300), ("d", 400)])

    differences, uncompared = compare(original, copy.root)

    assert uncompared == []
    assert [(difference.name, difference.rule) for difference in differences] == [
        (
            "@orders@K@b@AC14000204D218B4AAC2000000000000@ at 200",
            "2 entries are in A only, this is the first",
        ),
        (
            "@orders@K@b@AC14000204D218B4AAC2000000000000@ at 201",
            "3 entries are in B only, this is the first",
        ),
    ]


def test_index_files_are_not_compared_with_rocksdb(copy: BrokerStore, tmp_path: Path) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    index_in_rocksdb(copy.root, [("a", 100)])

    _, uncompared = compare(original, copy.root)

    assert uncompared == ["indexes: A has index files, and B has an index in RocksDB"]

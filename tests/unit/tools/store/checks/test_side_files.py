"""Configuration, checkpoint, timers, epochs and RocksDBs of damaged stores."""

import os
from pathlib import Path
from struct import Struct

import pytest

from rocketwire.store import layouts, timers
from rocketwire.store.commit_log import BLANK_MAGIC
from rocketwire.wire.checksum import crc32
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from tests.peers.peers import CURRENT
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.fixtures import unpack


@pytest.mark.parametrize("text", [b"", b"{", b"\0" * 40, b"[]"])
def test_broken_configuration_file_is_named_with_its_copy(text: bytes, store: BrokerStore) -> None:
    path = store.root / "config" / "topics.json"
    path.with_suffix(".json.bak").write_bytes(path.read_bytes())
    path.write_bytes(text)

    check = checked(store.root)

    assert damage_of(check) == {"config": 1}
    assert "brokers read topics.json.bak in its place" in check.findings.kept[0].text


def test_missing_configuration_file_counts_if_its_copy_is_there(store: BrokerStore) -> None:
    path = store.root / "config" / "topics.json"
    path.rename(path.with_suffix(".json.bak"))

    assert "the file is missing; brokers" in checked(store.root).findings.kept[0].text


def test_configuration_file_without_a_readable_copy_is_lost(store: BrokerStore) -> None:
    path = store.root / "config" / "consumerOffset.json"
    path.write_bytes(b"{")
    path.with_suffix(".json.bak").write_bytes(b"")

    assert "not readable either" in checked(store.root).findings.kept[0].text


def test_short_checkpoint_is_damage(store: BrokerStore) -> None:
    (store.root / "checkpoint").write_bytes(b"short")

    assert damage_of(checked(store.root)) == {"checkpoint": 1}


# ---------------------------------------------------------------- timers

RECORD = Struct(layouts.format_of(layouts.TIMER_RECORD))
SLOT = Struct(layouts.format_of(layouts.TIMER_SLOT))
TIME = 1_700_000_000


@pytest.fixture
def store_with_timers(store: BrokerStore) -> Path:
    """A store with two timers of one slot."""
    messages = damage.places(damage.log_files(store.root)[0])
    records = [
        RECORD.pack(52, previous, 1, TIME * 1000, 0, place.position, place.size, 0, 0)
        for previous, place in ((-1, messages[0]), (0, messages[1]))
    ]
    folder = store.root / "timerlog"
    folder.mkdir()
    (folder / ("0" * 20)).write_bytes(b"".join(records).ljust(1000, b"\0"))
    with (store.root / "timerwheel").open("wb") as wheel:
        wheel.truncate(timers.SLOTS * timers.SLOT_SIZE)
        wheel.seek(TIME % timers.SLOTS * timers.SLOT_SIZE)
        wheel.write(SLOT.pack(TIME, 0, 52, 2, 0))
    return store.root


def test_timers_that_point_to_messages_are_whole(store_with_timers: Path) -> None:
    assert checked(store_with_timers).findings.kept == []


@pytest.mark.parametrize(
    ("position", "data", "text"),
    [
        (52 + 35, b"\1", "no message's place"),
        (52 + 36, b"\1", "no message's place"),
        (104, b"\1", "neither a record nor the end"),
        (52, b"\1", "where no record is"),
        (52 + 4, b"\0" * 7 + b"\x68", "a later one"),
    ],
)
def test_broken_timer_log_is_found(
    position: int, data: bytes, text: str, store_with_timers: Path
) -> None:
    damage.put(store_with_timers / "timerlog" / ("0" * 20), position, data)

    check = checked(store_with_timers)

    assert set(damage_of(check)) == {"timer"}
    assert any(text in finding.text for finding in check.findings.kept)


def test_slot_that_leads_nowhere_is_found(store_with_timers: Path) -> None:
    position = TIME % timers.SLOTS * timers.SLOT_SIZE
    damage.put(store_with_timers / "timerwheel", position + 16, b"\0" * 7 + b"\x68")

    check = checked(store_with_timers)

    assert damage_of(check) == {"timer": 1}
    assert check.findings.kept[0].position == position


def test_timers_whose_files_have_another_size_are_damage(store_with_timers: Path) -> None:
    log = store_with_timers / "timerlog"
    for number in (1, 2):
        (log / f"{number * 1000:020}").write_bytes(bytes(1000))
    os.truncate(log / f"{2000:020}", 900)
    os.truncate(store_with_timers / "timerwheel", 320)

    check = checked(store_with_timers)

    texts = {finding.file: finding.text for finding in check.findings.kept}
    size = timers.SLOTS * timers.SLOT_SIZE
    assert texts[f"timerlog/{2000:020}"] == "900 bytes instead of 1000"
    assert texts["timerwheel"] == f"320 bytes instead of {size}"


def test_full_timer_log_file_ends_with_a_blank(store_with_timers: Path) -> None:
    path = store_with_timers / "timerlog" / ("0" * 20)
    blank = (1000 - 104).to_bytes(4, "big") + bytes(8) + BLANK_MAGIC.to_bytes(4, "big")
    damage.put(path, 104, blank)

    assert checked(store_with_timers).findings.kept == []


@pytest.mark.parametrize("name", ["consumequeue", "config/topics"])
def test_rocksdb_that_cannot_be_opened_is_damage(tmp_path: Path, name: str) -> None:
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    next((root / name).glob("MANIFEST-*")).write_bytes(b"no manifest")

    finding = next(finding for finding in checked(root).findings.kept if finding.kind == "rocksdb")

    assert (finding.file, finding.is_damage) == (name, True)
    assert finding.text.startswith("Corruption")


# ---------------------------------------------------------------- epochs


def check_with(root: Path, name: str, data: bytes) -> Finding:
    """The only finding in the store of a controller's broker with another file."""
    store = unpack(CURRENT, "controller", root).root
    (store / name).write_bytes(data)
    (finding,) = checked(store).findings.kept
    return finding


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (b"1-0\n3-5000000\n", "epoch 3 begins at 5000000, the log ends at 1483582"),
        (b"2-0\n1-9\n", "epoch 1 from 9 on follows epoch 2 from 0 on"),
        (b"1-9\n2-0\n", "epoch 2 from 0 on follows epoch 1 from 9 on"),
    ],
)
def test_epochs_ascend_and_begin_in_the_log(lines: bytes, text: str, tmp_path: Path) -> None:
    data = b"2\n%d\n%s" % (crc32(lines), lines)

    finding = check_with(tmp_path, "epochFileCheckpoint", data)

    assert (finding.text, finding.kind) == (text, FindingKind.EPOCHS)


@pytest.mark.parametrize("name", ["epochFileCheckpoint", "brokerIdentity"])
def test_files_of_a_controller_that_java_cannot_read_are_damage(name: str, tmp_path: Path) -> None:
    finding = check_with(tmp_path, name, bytes(7))

    assert (finding.file, finding.kind) == (name, FindingKind.EPOCHS)

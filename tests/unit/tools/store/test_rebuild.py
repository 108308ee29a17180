"""A rebuilt store has the files that the broker wrote; damage loses no other message."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from rocketwire.store import commit_log, consume_queue
from rocketwire.store.checkpoint import decode_checkpoint
from rocketwire.store.config_files import consumer_offsets, decode_config
from rocketwire.store.writer import FILLER_TOPIC, QUEUE_FILE_SIZE
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.store.engine.blocks import FileBlocks
from tests.peers.peers import CURRENT
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage
from tests.support.stores.fixtures import OpenStore, unpack
from tests.support.stores.truth import Pulled

FILE_SIZE = 256 * 1024


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def rebuild(out: Path, root: Path, *options: object, status: int = 0) -> dict[str, Any]:
    """Rebuild a store; return the report."""
    return run_store("rebuild", "--json", *options, out, root, status=status).report


def refuse(out: Path, root: Path, *options: object) -> str:
    """Try to rebuild a store, which the command must refuse; return the error."""
    return run_store("rebuild", *options, out, root, status=2).err


def files(root: Path, folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }


def log_messages(root: Path) -> dict[int, str]:
    """Offset → topic of each message, read as Java's recovery reads: it stops at no damage."""
    messages: dict[int, str] = {}
    for path in sorted((root / "commitlog").iterdir()):
        data, position = path.read_bytes(), 0
        while position + 8 <= len(data):
            size = int.from_bytes(data[position : position + 4])
            if commit_log.blank_size(data, position) is not None or not size:
                break
            (message,) = decode_stored_messages(data[position : position + size], check_crc=True)
            assert message.commit_log_offset == int(path.name) + position
            messages[message.commit_log_offset] = message.topic
            position += size
    return messages


def queue_places(root: Path, message: Pulled) -> tuple[int, int]:
    """Place and size of a message, as its unit has them."""
    place = message.queue_offset * consume_queue.UNIT_SIZE
    folder = root / "consumequeue" / message.topic / str(message.queue_id)
    data = (folder / f"{place - place % 400:020d}").read_bytes()[place % 400 :][:20]
    (unit,) = consume_queue.decode_units(data)
    return unit.physical_offset, unit.size


def assert_all_but(store: BrokerStore, out: Path, is_lost: Callable[[Pulled], bool]) -> None:
    """The log is whole, and each message that is not lost is in it and in its queue."""
    offsets = {offset for offset, topic in log_messages(out).items() if topic != FILLER_TOPIC}
    messages = [message for message in store.truth.pulled if not is_lost(message)]
    assert offsets == {message.physical_offset for message in messages}
    for message in messages:
        assert queue_places(out, message) == (message.physical_offset, message.size)


# ---------------------------------------------------------------------------- whole stores


def test_all_files_are_those_of_the_broker(intact: BrokerStore, out: Path) -> None:
    report = rebuild(out, intact.root)

    for folder in ("commitlog", "consumequeue"):
        assert files(out, folder) == files(intact.root, folder)
    assert list(files(out, "index").values()) == list(files(intact.root, "index").values())
    for name in ("topics.json", "consumerOffset.json", "subscriptionGroup.json"):
        assert (out / "config" / name).read_bytes() == (intact.root / "config" / name).read_bytes()
    assert report["messages"] == len(intact.truth.pulled)
    newest = intact.truth.pulled[-1]
    checkpoint = decode_checkpoint((out / "checkpoint").read_bytes())
    assert checkpoint.physical_timestamp == newest.store_timestamp
    assert checkpoint.queue_physical_offset == newest.physical_offset
    assert not (out / "abort").exists()
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize("size", [0, 1 << 36])
def test_queues_get_their_usual_size_despite_one_file(
    size: int, store: BrokerStore, out: Path
) -> None:
    of_broker = files(store.root, "consumequeue")
    os.truncate(damage.queue_files(store.root)[0][0], size)

    rebuild(out, store.root)

    assert files(out, "consumequeue") == of_broker


def test_queues_get_the_size_of_java_if_all_files_are_empty(store: BrokerStore, out: Path) -> None:
    for queue in damage.queue_files(store.root):
        for path in queue:
            os.truncate(path, 0)

    rebuild(out, store.root)

    sizes = {path.stat().st_size for path in (out / "consumequeue").glob("*/*/*")}
    assert sizes == {QUEUE_FILE_SIZE}


def test_unreadable_index_is_rebuilt(
    store: BrokerStore, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FileBlocks.read

    def fail_in_index(blocks: FileBlocks, position: int, size: int | None = None) -> memoryview:
        if blocks.file.path.parent.name == "index":
            raise OSError(errno.EIO, "Input/output error", str(blocks.file.path))
        return read(blocks, position, size)

    monkeypatch.setattr(FileBlocks, "read", fail_in_index)

    rebuild(out, store.root)

    assert list((out / "index").iterdir())


def test_files_of_the_log_keep_their_time(store: BrokerStore, out: Path) -> None:
    for path in (store.root / "commitlog").iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))

    rebuild(out, store.root)

    assert {path.stat().st_mtime for path in (out / "commitlog").iterdir()} == {1_700_000_000}


def test_topics_are_recovered_from_a_log_alone(store: BrokerStore, out: Path) -> None:
    report = rebuild(out, store.root / "commitlog", "--queue-file-size", 400)

    assert files(out, "consumequeue") == files(store.root, "consumequeue")
    table = decode_config((out / "config" / "topics.json").read_bytes())["topicConfigTable"]
    assert {name: topic["readQueueNums"] for name, topic in table.items()} == {
        topic: 1 + max(queue.queue_id for queue in store.truth.queues if queue.topic == topic)
        for topic in {message.topic for message in store.truth.pulled}
    }
    assert report["topics_recovered"] is True
    assert report["config_copied"] == []


def test_unreadable_configuration_is_taken_from_its_copy(store: BrokerStore, out: Path) -> None:
    config = store.root / "config"
    backup = (config / "consumerOffset.json").read_bytes()
    (config / "consumerOffset.json.bak").write_bytes(backup)
    (config / "consumerOffset.json").write_bytes(bytes(100))
    (config / "subscriptionGroup.json").write_bytes(b"{")
    (config / "subscriptionGroup.json.bak").write_bytes(b"")

    report = rebuild(out, store.root, status=1)

    assert (out / "config" / "consumerOffset.json").read_bytes() == backup
    assert report["config_unreadable"] == ["config/subscriptionGroup.json"]
    assert not (out / "config" / "subscriptionGroup.json").exists()


def test_dry_run_reports_the_same_and_writes_nothing(store: BrokerStore, out: Path) -> None:
    planned = rebuild(out, store.root, "--dry-run")

    assert not list(out.parent.iterdir())
    assert rebuild(out, store.root) == planned


@pytest.mark.parametrize("kind", ["rocksdb", "rocksv2", "rockskilled"])
def test_settings_in_rocksdb_become_files(kind: str, open_store: OpenStore, out: Path) -> None:
    store = open_store(CURRENT, kind)

    report = rebuild(out, store.root)

    config = out / "config"
    offsets = consumer_offsets(decode_config((config / "consumerOffset.json").read_bytes()))
    assert {"@".join(name): queues for name, queues in offsets.items()} == (
        store.truth.consumer_offsets
    )
    topics = decode_config((config / "topics.json").read_bytes())["topicConfigTable"]
    assert set(store.truth.topics) <= set(topics)
    assert report["topics_recovered"] is False
    assert "config/subscriptionGroup.json" in report["config_copied"]
    assert report["config_unreadable"] == []
    assert not list(out.rglob("CURRENT"))
    assert len(list((out / "consumequeue").iterdir())) == 4


# ---------------------------------------------------------------------------- damage


def test_topic_that_leads_out_of_the_store_gets_no_queue(store: BrokerStore, out: Path) -> None:
    broken = next(message for message in store.truth.pulled if message.topic == "orders")
    file = store.root / "commitlog" / f"{broken.physical_offset // FILE_SIZE * FILE_SIZE:020d}"
    topic = broken.physical_offset % FILE_SIZE + 88 + broken.body_size + 1
    damage.put(file, topic, b"../../")

    report = rebuild(out, store.root, status=1)

    assert report["broken_messages"] == 1
    assert_all_but(store, out, lambda message: message is broken)
    assert list(out.parent.iterdir()) == [out]


def test_missing_first_file_moves_the_start_with_pre_blanks(store: BrokerStore, out: Path) -> None:
    damage.remove_first_file(store.root)

    rebuild(out, store.root)

    assert_all_but(store, out, lambda message: message.physical_offset < FILE_SIZE)
    data = next(iter(files(out, "consumequeue/orders/0").values()))
    assert next(consume_queue.decode_units(data)).is_pre_blank


def test_cut_file_gets_its_size_again(store: BrokerStore, out: Path) -> None:
    path, size = store.root / "commitlog" / f"{FILE_SIZE:020d}", 100_000
    os.truncate(path, size)

    rebuild(out, store.root, status=1)

    assert_all_but(
        store,
        out,
        lambda message: FILE_SIZE + size - message.size < message.physical_offset < 2 * FILE_SIZE,
    )
    assert (out / "commitlog" / path.name).stat().st_size == FILE_SIZE


def test_timers_whose_files_have_another_size_get_the_right_one(tmp_path: Path, out: Path) -> None:
    root = unpack(CURRENT, "timers", tmp_path / "source").root
    sizes = {name: len(data) for name, data in files(root, "timerlog").items()}
    wheel_size = (root / "timerwheel").stat().st_size
    first, *_, last = [root / name for name in sizes]
    os.truncate(first, first.stat().st_size - 100)
    os.truncate(last, last.stat().st_size + 100)
    os.truncate(root / "timerwheel", wheel_size - 1)

    report = rebuild(out, root, status=1)

    assert {name: len(data) for name, data in files(out, "timerlog").items()} == sizes
    assert (out / "timerwheel").stat().st_size == wheel_size
    assert report["timers_damaged"] >= 3


def test_damaged_timer_log_is_copied_and_counted(tmp_path: Path) -> None:
    root = unpack(CURRENT, "timers", tmp_path / "source").root
    assert rebuild(tmp_path / "1", root)["timers_damaged"] == 0
    damage.put(root / next(iter(files(root, "timerlog"))), 52, b"\1")

    report = rebuild(tmp_path / "2", root, status=1)

    assert files(tmp_path / "2", "timerlog") == files(root, "timerlog")
    assert report["timers_copied"] is True
    assert report["timers_damaged"] > 0


def test_damaged_epochs_are_copied_or_left_out(store: BrokerStore, tmp_path: Path) -> None:
    valid = b"1\n0\n1-0\n"
    (store.root / "epochFileCheckpoint").write_bytes(b"7\n0\n1-0\n")
    (store.root / "brokerIdentity").write_bytes(b"\xff")
    (store.root / "epochFileCheckpoint.bak").write_bytes(valid)

    with_copy = rebuild(tmp_path / "1", store.root, status=1)
    (store.root / "epochFileCheckpoint.bak").unlink()
    without_copy = rebuild(tmp_path / "2", store.root, status=1)

    assert (tmp_path / "1" / "epochFileCheckpoint").read_bytes() == valid
    assert with_copy["config_unreadable"] == ["brokerIdentity"]
    assert without_copy["config_unreadable"] == ["epochFileCheckpoint", "brokerIdentity"]
    assert not (tmp_path / "2" / "epochFileCheckpoint").exists()


@pytest.mark.parametrize("shift", [7, 4096, 20 * FILE_SIZE + 1])
def test_misnamed_file_is_left_out(shift: int, store: BrokerStore, out: Path) -> None:
    path = store.root / "commitlog" / f"{FILE_SIZE:020d}"
    path.rename(path.with_name(f"{FILE_SIZE + shift:020d}"))

    report = rebuild(out, store.root, status=1)

    assert report["misnamed_files"] == 1
    assert_all_but(store, out, lambda message: FILE_SIZE <= message.physical_offset < 2 * FILE_SIZE)


@pytest.mark.parametrize("number", [0, 1, -1])
def test_file_that_is_too_long_gets_its_size_again(
    number: int, store: BrokerStore, out: Path
) -> None:
    of_broker = files(store.root, "commitlog")
    with damage.log_files(store.root)[number].open("ab") as file:
        file.write(b"strange bytes")

    rebuild(out, store.root)

    assert files(out, "commitlog") == of_broker


# ---------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("where", ["store", "store/new", "full", "file"])
def test_nothing_is_written_into_a_source_or_over_files(where: str, store: BrokerStore) -> None:
    folder = store.root.parent
    (folder / "full").mkdir()
    (folder / "full" / "mine").touch()
    (folder / "file").touch()
    contents = files(folder, ".")

    refuse(folder / where, store.root)

    assert files(folder, ".") == contents


def test_empty_folder_becomes_the_store(store: BrokerStore, out: Path) -> None:
    out.mkdir()
    rebuild(out, store.root)
    assert (out / "commitlog").is_dir()


def test_nothing_is_written_if_the_disk_has_too_little_room(
    store: BrokerStore, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(out.parent)
    monkeypatch.setattr(shutil, "disk_usage", Mock(return_value=usage._replace(free=1000)))

    assert "1000 bytes free" in refuse(out, store.root)
    assert not list(out.parent.iterdir())


def test_files_without_a_common_size_are_refused(store: BrokerStore, out: Path) -> None:
    for number, path in enumerate(damage.log_files(store.root)):
        path.rename(path.with_name(f"{int(path.name) + 7 * number * number:020d}"))

    assert "--log-file-size" in refuse(out, store.root)
    assert "multiple of 1000 bytes" in refuse(out, store.root, "--log-file-size", 1000)


def test_log_of_one_empty_file_is_refused(store: BrokerStore, out: Path) -> None:
    first, *following = sorted((store.root / "commitlog").iterdir())
    os.truncate(first, 0)
    for path in following:
        path.unlink()

    assert "no common size" in refuse(out, store.root)


def test_store_without_messages_is_refused(store: BrokerStore, out: Path) -> None:
    for path in (store.root / "commitlog").iterdir():
        path.write_bytes(bytes(FILE_SIZE))

    assert "no message" in refuse(out, store.root)
    assert not out.exists()

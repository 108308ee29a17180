"""A rebuilt store has the files that the broker wrote; damage loses no other message."""

from __future__ import annotations

import errno
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.store import commit_log, consume_queue
from rocketwire.store.checkpoint import decode_checkpoint
from rocketwire.store.config_files import consumer_offsets, decode_config
from rocketwire.store.writer import FILLER_TOPIC, QUEUE_FILE_SIZE
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.store.engine.blocks import FileBlocks
from tests.peers.peers import CURRENT
from tests.support.stores import damage
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore
    from tests.support.stores.truth import Pulled

FILE_SIZE = 256 * 1024


def files(root: Path, folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }


def overwrite(root: Path, offset: int, data: bytes) -> None:
    """Overwrite bytes of the log."""
    path = root / "commitlog" / f"{offset - offset % FILE_SIZE:020d}"
    with path.open("r+b") as file:
        file.seek(offset % FILE_SIZE)
        file.write(data)


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
    """Where the unit of a message leads."""
    place = message.queue_offset * consume_queue.UNIT_SIZE
    folder = root / "consumequeue" / message.topic / str(message.queue_id)
    data = (folder / f"{place - place % 400:020d}").read_bytes()[place % 400 :][:20]
    (unit,) = consume_queue.decode_units(data)
    return unit.physical_offset, unit.size


def assert_all_but(store: BrokerStore, out: Path, lost: set[int]) -> None:
    """The log is whole, and each message that is not lost is in it and in its queue."""
    messages = log_messages(out)
    kept = [message for message in store.truth.pulled if message.physical_offset not in lost]
    assert {offset for offset, topic in messages.items() if topic != FILLER_TOPIC} == {
        finding.physical_offset for finding in kept
    }
    for message in kept:
        assert queue_places(out, message) == (message.physical_offset, message.size)


# ---------------------------------------------------------------------------- whole stores


def test_all_files_are_those_of_the_broker(
    plain: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, plain.root).out)

    for folder in ("commitlog", "consumequeue"):
        assert files(out, folder) == files(plain.root, folder)
    assert list(files(out, "index").values()) == list(files(plain.root, "index").values())
    for name in ("topics.json", "consumerOffset.json", "subscriptionGroup.json"):
        assert (out / "config" / name).read_bytes() == (plain.root / "config" / name).read_bytes()
    assert report["messages"] == len(plain.truth.pulled)
    newest = plain.truth.pulled[-1]
    checkpoint = decode_checkpoint((out / "checkpoint").read_bytes())
    assert checkpoint.physical_timestamp == newest.store_timestamp
    assert checkpoint.queue_physical_offset == newest.physical_offset
    assert not (out / "abort").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("size", [0, 1 << 36])
def test_queues_get_the_usual_size_whatever_one_file_has(
    size: int, store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    of_broker = files(store.root, "consumequeue")
    os.truncate(damage.queue_files(store.root)[0][0], size)
    out = tmp_path / "out"

    run("rebuild", out, store.root)

    assert files(out, "consumequeue") == of_broker


def test_queues_get_the_size_of_java_if_all_their_files_are_empty(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    for queue in damage.queue_files(store.root):
        for path in queue:
            os.truncate(path, 0)

    run("rebuild", tmp_path / "out", store.root)

    sizes = {path.stat().st_size for path in (tmp_path / "out" / "consumequeue").glob("*/*/*")}
    assert sizes == {QUEUE_FILE_SIZE}


def test_an_index_that_cannot_be_read_is_made_anew(
    store: BrokerStore,
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = FileBlocks.read

    def failing(blocks: FileBlocks, position: int, size: int | None = None) -> memoryview:
        if blocks.file.path.parent.name == "index":
            raise OSError(errno.EIO, "Input/output error", str(blocks.file.path))
        return read(blocks, position, size)

    monkeypatch.setattr(FileBlocks, "read", failing)

    run("rebuild", tmp_path / "out", store.root)

    assert list((tmp_path / "out" / "index").iterdir())


def test_files_of_the_log_keep_their_time(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    for path in (store.root / "commitlog").iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))

    run("rebuild", tmp_path / "out", store.root)

    times = {path.stat().st_mtime for path in (tmp_path / "out" / "commitlog").iterdir()}
    assert times == {1_700_000_000}


def test_topics_are_recovered_from_a_log_alone(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"

    report = json.loads(
        run("rebuild", "--json", "--queue-file-size", 400, out, store.root / "commitlog").out
    )

    assert files(out, "consumequeue") == files(store.root, "consumequeue")
    table = decode_config((out / "config" / "topics.json").read_bytes())["topicConfigTable"]
    counts = {name: topic["readQueueNums"] for name, topic in table.items()}
    assert counts == {
        topic: 1 + max(queue.queue_id for queue in store.truth.queues if queue.topic == topic)
        for topic in {message.topic for message in store.truth.pulled}
    }
    assert report["topics_recovered"] is True
    assert report["config_copied"] == []


def test_a_configuration_file_that_cannot_be_read_is_taken_from_its_copy(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    config = store.root / "config"
    backup = (config / "consumerOffset.json").read_bytes()
    (config / "consumerOffset.json.bak").write_bytes(backup)
    (config / "consumerOffset.json").write_bytes(bytes(100))
    (config / "subscriptionGroup.json").write_bytes(b"{")
    (config / "subscriptionGroup.json.bak").write_bytes(b"")
    out = tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, store.root, status=1).out)

    assert (out / "config" / "consumerOffset.json").read_bytes() == backup
    assert report["config_unreadable"] == ["config/subscriptionGroup.json"]
    assert not (out / "config" / "subscriptionGroup.json").exists()


def test_a_dry_run_reports_the_same_and_writes_nothing(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"

    planned = json.loads(run("rebuild", "--json", "--dry-run", out, store.root).out)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]

    assert json.loads(run("rebuild", "--json", out, store.root).out) == planned


# ---------------------------------------------------------------------------- damage


def test_a_topic_that_leads_out_of_the_store_gets_no_queue(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    broken = next(message for message in store.truth.pulled if message.topic == "orders")
    topic = broken.physical_offset + 88 + broken.body_size + 1
    overwrite(store.root, topic, b"../../")
    out = tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, store.root, status=1).out)

    assert report["broken_messages"] == 1
    assert_all_but(store, out, {broken.physical_offset})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


def test_a_missing_first_file_moves_the_start_and_queues_have_pre_blanks(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    (store.root / "commitlog" / f"{0:020d}").unlink()
    out = tmp_path / "out"

    run("rebuild", out, store.root)

    lost = {
        message.physical_offset
        for message in store.truth.pulled
        if message.physical_offset < FILE_SIZE
    }
    assert_all_but(store, out, lost)
    data = next(iter(files(out, "consumequeue/orders/0").values()))
    assert next(consume_queue.decode_units(data)).is_pre_blank


def test_a_cut_file_gets_its_size_again(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    path = store.root / "commitlog" / f"{FILE_SIZE:020d}"
    os.truncate(path, 100_000)
    out = tmp_path / "out"

    run("rebuild", out, store.root, status=1)

    assert_all_but(
        store,
        out,
        {
            message.physical_offset
            for message in store.truth.pulled
            if FILE_SIZE <= message.physical_offset < 2 * FILE_SIZE
            and message.physical_offset + message.size > FILE_SIZE + 100_000
        },
    )
    assert (out / "commitlog" / path.name).stat().st_size == FILE_SIZE


def test_timers_whose_files_have_another_size_get_the_right_one(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    root = unpack(CURRENT, "timers", tmp_path / "source").root
    whole = files(root, "timerlog")
    wheel = (root / "timerwheel").read_bytes()
    names = [root / name for name in whole]
    os.truncate(names[0], names[0].stat().st_size - 100)
    os.truncate(names[-1], names[-1].stat().st_size + 100)
    os.truncate(root / "timerwheel", len(wheel) - 1)
    out = tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, root, status=1).out)

    sizes = {name: len(data) for name, data in files(out, "timerlog").items()}
    assert sizes == {name: len(data) for name, data in whole.items()}
    assert (out / "timerwheel").stat().st_size == len(wheel)
    assert report["timers_damaged"] >= 3


def test_a_damaged_timer_log_is_copied_and_counted(run: Callable[..., Any], tmp_path: Path) -> None:
    root = unpack(CURRENT, "timers", tmp_path / "source").root
    assert json.loads(run("rebuild", "--json", tmp_path / "1", root).out)["timers_damaged"] == 0
    damage.put(root / next(iter(files(root, "timerlog"))), 52, b"\1")

    report = json.loads(run("rebuild", "--json", tmp_path / "2", root, status=1).out)

    assert files(tmp_path / "2", "timerlog") == files(root, "timerlog")
    assert report["timers_copied"] is True
    assert report["timers_damaged"] > 0


def test_damaged_epochs_are_taken_from_their_copy_or_left_out(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    whole = b"1\n0\n1-0\n"
    (store.root / "epochFileCheckpoint").write_bytes(b"7\n0\n1-0\n")
    (store.root / "brokerIdentity").write_bytes(b"\xff")
    (store.root / "epochFileCheckpoint.bak").write_bytes(whole)

    first = json.loads(run("rebuild", "--json", tmp_path / "1", store.root, status=1).out)
    (store.root / "epochFileCheckpoint.bak").unlink()
    second = json.loads(run("rebuild", "--json", tmp_path / "2", store.root, status=1).out)

    assert (tmp_path / "1" / "epochFileCheckpoint").read_bytes() == whole
    assert first["config_unreadable"] == ["brokerIdentity"]
    assert second["config_unreadable"] == ["epochFileCheckpoint", "brokerIdentity"]
    assert not (tmp_path / "2" / "epochFileCheckpoint").exists()


# ---------------------------------------------------------------------------- where to


@pytest.mark.parametrize("where", ["source/store", "source/store/new", "full", "file"])
def test_nothing_is_written_into_a_source_or_over_files(
    where: str, store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    before = files(tmp_path, ".")

    run("rebuild", tmp_path / where, store.root, status=2)

    assert files(tmp_path, ".") == before


def test_an_empty_folder_becomes_the_store(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()

    run("rebuild", tmp_path / "out", store.root)

    assert (tmp_path / "out" / "commitlog").is_dir()


def test_nothing_is_written_if_the_disk_has_too_little_room(
    store: BrokerStore,
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = shutil.disk_usage(tmp_path)

    def almost_full(_: Path) -> object:
        return usage._replace(free=1000)

    monkeypatch.setattr(shutil, "disk_usage", almost_full)

    assert b"1000 bytes free" in run("rebuild", tmp_path / "out", store.root, status=2).err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_files_without_a_common_size_are_refused(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    for number, path in enumerate(damage.log_files(store.root)):
        path.rename(path.with_name(f"{int(path.name) + 7 * number * number:020d}"))

    answer = run("rebuild", tmp_path / "out", store.root, status=2)
    asked = run("rebuild", "--log-file-size", 1000, tmp_path / "out", store.root, status=2)

    assert b"--log-file-size" in answer.err
    assert b"multiple of 1000 bytes" in asked.err


def test_a_log_of_one_empty_file_is_refused(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    first, *others = sorted((store.root / "commitlog").iterdir())
    os.truncate(first, 0)
    for path in others:
        path.unlink()

    answer = run("rebuild", tmp_path / "out", store.root, status=2)

    assert b"no common size" in answer.err


@pytest.mark.parametrize("shift", [7, 4096, 20 * FILE_SIZE + 1])
def test_a_misnamed_file_is_left_out(
    shift: int, store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    path = store.root / "commitlog" / f"{FILE_SIZE:020d}"
    path.rename(path.with_name(f"{FILE_SIZE + shift:020d}"))
    out = tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, store.root, status=1).out)

    assert report["misnamed_files"] == 1
    lost = {
        message.physical_offset
        for message in store.truth.pulled
        if FILE_SIZE <= message.physical_offset < 2 * FILE_SIZE
    }
    assert_all_but(store, out, lost)


@pytest.mark.parametrize("number", [0, 1, -1])
def test_a_file_that_is_too_long_gets_its_size_again(
    number: int, store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    of_broker = files(store.root, "commitlog")
    with damage.log_files(store.root)[number].open("ab") as file:
        file.write(b"strange bytes")
    out = tmp_path / "out"

    run("rebuild", out, store.root)

    assert files(out, "commitlog") == of_broker


def test_a_store_without_messages_is_refused(
    store: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    for path in (store.root / "commitlog").iterdir():
        path.write_bytes(bytes(FILE_SIZE))

    answer = run("rebuild", tmp_path / "out", store.root, status=2)

    assert b"no message" in answer.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["rocksdb", "rocksv2", "rockskilled"])
def test_settings_in_rocksdb_become_files(
    kind: str,
    packed_store: Callable[[str, str], BrokerStore],
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    store, out = packed_store(CURRENT, kind), tmp_path / "out"

    report = json.loads(run("rebuild", "--json", out, store.root).out)

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

"""A store as a broker finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from rocketwire.store.java_records import Release
from rocketwire.store.recovery import FolderEntry, predict
from rocketwire_tools.store.checks import images
from rocketwire_tools.store.checks.images import batch_topics, image_of
from rocketwire_tools.store.engine.blocks import read_bytes
from rocketwire_tools.store.opened import OpenedStore
from tests.support.stores import damage

if TYPE_CHECKING:
    import pytest

    from rocketwire.store.folder import StoreFile
    from tests.support.stores import BrokerStore


def test_the_image_has_the_settings_of_the_broker(plain: BrokerStore) -> None:
    image = image_of(OpenedStore([plain.root]))

    settings = plain.truth.settings
    assert image.log_file_size == int(settings["mappedFileSizeCommitLog"])
    assert image.queue_file_size == int(settings["mappedFileSizeConsumeQueue"])
    assert len(image.checkpoint) == 4096
    assert not image.has_abort
    assert not image.dispatches_lmq
    assert set(image.index_ends) == {file.name for file in (plain.root / "index").iterdir()}


def test_the_image_has_what_no_broker_has_put_there(store: BrokerStore) -> None:
    damage.add_strange_file(store.root)
    damage.add_folder(store.root)
    damage.kill(store.root)
    damage.remove_one_queue(store.root)
    (store.root / "commitlog" / "link").symlink_to("/")

    image = image_of(OpenedStore([store.root]))

    names = {entry.name: entry for entry in image.log}
    assert names[".DS_Store"] == FolderEntry(".DS_Store", 6148)
    assert names["backup"].is_folder
    assert "link" not in names
    assert image.has_abort
    assert [] in image.queues.values()


def test_the_image_has_empty_queues_and_strangers_in_queues(store: BrokerStore) -> None:
    queues = store.root / "consumequeue" / "bare"
    for queue_id in ("0", "1", "2", "x"):
        (queues / queue_id).mkdir(parents=True)
    (queues / "1" / "folder").mkdir()
    (queues / "2" / "notes").write_bytes(b"text")
    (queues / "2" / f"{0:020}").write_bytes(bytes(20))

    image = image_of(OpenedStore([store.root]))

    assert image.queues["bare", 0] == []
    assert [entry.is_folder for entry in image.queues["bare", 1]] == [True]
    assert sorted(image.queues["bare", 2]) == [
        FolderEntry(f"{0:020}", 20),
        FolderEntry("notes", 4),
    ]
    assert len([topic for topic, _ in image.queues if topic == "bare"]) == 3


def test_a_queue_is_read_once_for_all_releases(
    plain: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[tuple[str, int, int]] = []

    def counted(file: StoreFile, position: int, size: int) -> bytes:
        reads.append((file.name, position, size))
        return read_bytes(file, position, size)

    monkeypatch.setattr(images, "read_bytes", counted)
    image = image_of(OpenedStore([plain.root]))

    for release in Release:
        predict(image, release)

    assert reads
    assert len(reads) == len(set(reads))


def test_bytes_are_read_where_files_have_them(plain: BrokerStore) -> None:
    image = image_of(OpenedStore([plain.root]))
    first = (plain.root / "commitlog" / ("0" * 20)).read_bytes()
    queue = next(iter(image.queues))

    assert image.read_log(0, 4, 8) == first[4:12]
    assert image.read_log(0, len(first) - 2, 8) == first[-2:]
    assert image.read_log(7, 0, 8) == b""
    assert len(image.read_queue(queue, 0, 0, 20)) == 20
    assert image.read_queue(queue, 7, 0, 20) == b""
    assert image.read_batch_queue(queue, 0, 0, 20) == b""


def test_topics_of_batches_are_those_of_the_configuration(store: BrokerStore) -> None:
    path = store.root / "config" / "topics.json"
    tables = {
        "b": {"attributes": {"queue.type": "BatchCQ"}},
        "s": {"attributes": {"queue.type": "SimpleCQ"}},
        "n": {"attributes": None},
        "x": 1,
    }

    texts: dict[bytes, list[str]] = {
        orjson.dumps({"topicConfigTable": tables}): ["b"],
        b'{"topicConfigTable": 1}': [],
        b"{": [],
    }
    for text, topics in texts.items():
        path.write_bytes(text)
        path.with_suffix(".json.bak").unlink(missing_ok=True)
        assert sorted(batch_topics(OpenedStore([store.root]))) == topics


def test_a_checkpoint_that_is_no_checkpoint_is_read_as_none(store: BrokerStore) -> None:
    (store.root / "checkpoint").write_bytes(bytes(2 << 20))

    assert image_of(OpenedStore([store.root])).checkpoint == b""


def test_folders_of_queues_can_be_counted_and_named(store: BrokerStore) -> None:
    (store.root / "consumequeue" / "bare" / "7").mkdir(parents=True)
    opened = OpenedStore([store.root])

    queues = image_of(opened).queues

    assert len(queues) == len(list(queues)) == len(opened.folder.queues) + 1
    assert queues["bare", 7] == []
    assert {*queues} == {*opened.folder.queues, ("bare", 7)}

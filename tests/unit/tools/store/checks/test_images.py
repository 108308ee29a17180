"""A store as a broker finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from rocketwire.store.recovery import FolderEntry
from rocketwire_tools.store.checks.images import batch_topics, image_of
from rocketwire_tools.store.opened import OpenedStore
from tests.support.stores import damage

if TYPE_CHECKING:
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

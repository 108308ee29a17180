"""Stores that Java brokers wrote: ours answers from them as Java does, and continues them."""

from pathlib import Path

import pytest

from rocketwire_broker.files.folder import FolderError
from rocketwire_broker.handlers.offsets import offset_at
from rocketwire_broker.storage.message import read_stored
from tests.peers.peers import CURRENT, OLD
from tests.support.broker import bodies, fields_of
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores import BrokerStore
from tests.support.stores.fixtures import unpack
from tests.support.stores.truth import digest
from tests.support.values import require
from tests.unit.broker.files.conftest import ListPending

LATER = 1_900_000_000_000
"""Long after all stores were written; everything that waits there is due."""

STORES = [
    (release, name)
    for release in (CURRENT, OLD)
    for name in ("plain", "killed", "features", "ipv6")
] + [(CURRENT, "crc"), (CURRENT, "timers"), (CURRENT, "pop")]


def open_broker(source: BrokerStore, now: int = LATER) -> BrokerWithFolder:
    return BrokerWithFolder(source.root, now=now)


@pytest.mark.parametrize(("release", "name"), STORES)
def test_a_store_is_served_as_java_served_it(release: str, name: str, tmp_path: Path) -> None:
    source = unpack(release, name, tmp_path)
    truth = source.truth

    home = open_broker(source)

    store = home.broker.store
    for queue in truth.queues:
        ours = store.queue(queue.topic, queue.queue_id)
        if ours is None:
            assert queue.messages == ()
            continue
        assert (ours.min_offset, ours.max_offset) == (queue.min_offset, queue.max_offset)
        assert [digest(record) for record in ours.records(ours.min_offset, 1 << 20)] == [
            message.digest for message in queue.messages
        ]
        assert [
            (unit.index, unit.physical_offset, unit.tags_code)
            for unit in queue.units
            if unit.index < 1 << 20
        ] == [
            (unit.index, ours.physical(unit.index), ours.tag_code(unit.index))
            for unit in queue.units
        ]
        if release == CURRENT:
            times = [(time, offset_at(ours, time)) for time, _ in queue.by_time]
            assert times == list(queue.by_time)
    by_id = {key: store.record_at(int(key[-16:], 16)) for key in truth.by_id}
    assert {key: digest(record or b"") for key, record in by_id.items()} == dict(truth.by_id)
    offsets = home.broker.offsets.table()
    assert {name: offsets[name] for name in truth.consumer_offsets} == {
        name: dict(queues) for name, queues in truth.consumer_offsets.items()
    }
    assert set(truth.topics) - set(truth.deleted_topics) <= {
        str(topic.topic_name) for topic in home.broker.topics
    }
    home.folder.release()


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_new_messages_follow_those_of_java(release: str, tmp_path: Path) -> None:
    home = open_broker(unpack(release, "plain", tmp_path))
    first = home.broker.store.max_offset("orders", 0)

    answers = [home.connect().send("orders", b"x" * 10_000) for _ in range(40)]

    offsets = [int(fields_of(answer)["queueOffset"]) for answer in answers]
    assert offsets == list(range(first, first + 40))
    home = home.restart_after_kill()
    assert home.broker.store.max_offset("orders", 0) == first + 40
    assert bodies(home.connect().pull_now(first + 39)) == [b"x" * 10_000]


def test_popped_messages_are_hidden(tmp_path: Path, list_pending: ListPending) -> None:
    source = unpack(CURRENT, "pop", tmp_path)
    rows = list_pending(source.root, "pop")

    home = open_broker(source, now=min(row["popped"] for row in rows))

    names = ("group", "topic", "queue_id", "offset", "popped")
    assert rows
    assert sorted(home.broker.pops) == sorted(tuple(row[name] for name in names) for row in rows)


@pytest.mark.parametrize(
    ("release", "name", "reason"),
    [(CURRENT, "timers", "timer"), (CURRENT, "features", "delayed"), (OLD, "features", "delayed")],
)
def test_waiting_messages(
    release: str, name: str, reason: str, tmp_path: Path, list_pending: ListPending
) -> None:
    source = unpack(release, name, tmp_path)
    rows = list_pending(source.root, reason)
    assert rows
    home = open_broker(source, now=min(row["due"] for row in rows) - 60_000)
    queues = {(row["topic"], int(row["queue_id"])) for row in rows}
    ends = {queue: home.broker.store.max_offset(*queue) for queue in queues}

    home.now += 4 * 86_400_000
    home.settle()

    records = [
        record
        for place, end in ends.items()
        for record in require(home.broker.store.queue(*place)).records(end, 1_000)
    ]
    keys = [(read_stored(record).properties or {})["UNIQ_KEY"] for record in records]
    assert sorted(map(str, keys)) == sorted(row["msg_id"] for row in rows)


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_transactions_stay_open(release: str, tmp_path: Path, list_pending: ListPending) -> None:
    source = unpack(release, "features", tmp_path)
    rows = list_pending(source.root, "transaction")

    home = open_broker(source)

    assert rows
    undecided = [half.offset for half in home.broker.half_messages.open_transactions()]
    assert undecided == [row["queue_offset"] for row in rows]


@pytest.mark.parametrize("name", ["rocksdb", "rocksv2", "inner", "lmq"])
def test_stores_of_other_kinds_stay_unchanged(name: str, tmp_path: Path) -> None:
    source = unpack(CURRENT, name, tmp_path)
    contents = read_files(source.root)

    with pytest.raises(FolderError, match="which this broker does not serve"):
        open_broker(source)

    assert read_files(source.root) == contents


def read_files(root: Path) -> dict[Path, bytes]:
    paths = (path for path in root.rglob("*") if path.is_file() and path.name != "lock")
    return {path: path.read_bytes() for path in paths}

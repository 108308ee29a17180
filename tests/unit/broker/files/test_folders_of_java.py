"""Stores that Java brokers wrote: ours serves from them what those answered, and goes on."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_broker.files.folder import FolderError
from rocketwire_broker.handlers.offsets import offset_at
from rocketwire_broker.storage.message import read_stored
from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT, OLD
from tests.support.broker import bodies
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores.fixtures import unpack
from tests.support.stores.truth import digest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores import BrokerStore

LATER = 1_900_000_000_000
"""Long after all stores were written; everything that waits there is due."""

PLAIN = [
    (release, kind)
    for release in (CURRENT, OLD)
    for kind in ("plain", "killed", "features", "ipv6")
] + [(CURRENT, "crc"), (CURRENT, "timers"), (CURRENT, "pop")]


def open_broker(source: BrokerStore, now: int = LATER, **settings: Any) -> BrokerWithFolder:
    """A broker that has opened the store, and does nothing yet."""
    return BrokerWithFolder(source.root, now=now, **settings)


@pytest.mark.parametrize(("release", "kind"), PLAIN)
def test_a_store_is_served_as_java_served_it(release: str, kind: str, tmp_path: Path) -> None:
    source = unpack(release, kind, tmp_path)
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
    before = home.broker.store.max_offset("orders", 0)

    answers = [home.connect().send("orders", b"x" * 10_000) for _ in range(40)]

    assert [int((answer.ext_fields or {})["queueOffset"]) for answer in answers] == list(
        range(before, before + 40)
    )
    home = home.restart_after_kill()
    assert home.broker.store.max_offset("orders", 0) == before + 40
    assert bodies(home.connect().pull_now(before + 39)) == [b"x" * 10_000]


def pending(source: BrokerStore, capsys: pytest.CaptureFixture[str], what: str) -> list[Any]:
    """What ``rocketwire-store pending`` lists, with a rule of its own."""
    with suppress(SystemExit):
        main(["pending", "--json", str(source.root)])
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return [row for row in rows if row["what"] == what]


def test_popped_messages_are_hidden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = unpack(CURRENT, "pop", tmp_path)
    rows = pending(source, capsys, "pop")

    home = open_broker(source, now=min(row["popped"] for row in rows))

    names = ("group", "topic", "queue_id", "offset", "popped")
    assert rows
    assert sorted(home.broker.pops) == sorted(tuple(row[name] for name in names) for row in rows)


def test_timed_messages_are_delivered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = unpack(CURRENT, "timers", tmp_path)
    rows = pending(source, capsys, "timer")
    assert rows
    home = open_broker(source, now=min(row["due"] for row in rows) - 60_000)
    ends = ends_of(home, rows)

    home.now += 4 * 86_400_000
    home.settle()

    assert keys_after(home, ends) == sorted(row["msg_id"] for row in rows)


def ends_of(home: BrokerWithFolder, rows: list[Any]) -> dict[tuple[str, int], int]:
    """The next offsets of the queues that the messages of ``rows`` go to."""
    queues = {(row["topic"], int(row["queue_id"])) for row in rows}
    return {queue: home.broker.store.max_offset(*queue) for queue in queues}


def keys_after(home: BrokerWithFolder, ends: dict[tuple[str, int], int]) -> list[str]:
    """Unique keys of the messages that came after these offsets, sorted."""
    records = [
        record
        for place, end in ends.items()
        if (queue := home.broker.store.queue(*place)) is not None
        for record in queue.records(end, 1_000)
    ]
    return sorted((read_stored(record).properties or {})["UNIQ_KEY"] or "" for record in records)


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_transactions_of_java_stay_open(
    release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = unpack(release, "features", tmp_path)
    rows = pending(source, capsys, "transaction")

    home = open_broker(source)

    assert rows
    undecided = [half.offset for half in home.broker.half_messages.open_transactions()]
    assert undecided == [row["queue_offset"] for row in rows]


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_delayed_messages_of_java_are_delivered(
    release: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = unpack(release, "features", tmp_path)
    rows = pending(source, capsys, "delayed")
    assert rows
    home = open_broker(source)
    ends = ends_of(home, rows)

    home.pass_time(1)

    assert keys_after(home, ends) == sorted(row["msg_id"] for row in rows)


@pytest.mark.parametrize("kind", ["rocksdb", "rocksv2", "inner", "lmq"])
def test_stores_of_other_kinds_stay_unchanged(kind: str, tmp_path: Path) -> None:
    source = unpack(CURRENT, kind, tmp_path)
    before = contents(source.root)

    with pytest.raises(FolderError, match="which this broker does not serve"):
        open_broker(source)

    after = contents(source.root)
    assert {name: data for name, data in after.items() if name != "lock"} == {
        name: data for name, data in before.items() if name != "lock"
    }


def contents(root: Path) -> dict[str, bytes]:
    """The files of a folder."""
    paths = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}

"""Queues against the log."""

import shutil
from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from rocketwire.store.consume_queue import QueueUnit, encode_unit, tags_code
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.peers.peers import CURRENT, MIDDLE, OLD
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores import BrokerStore, damage
from tests.support.stores.checked import checked, damage_of, notes_of
from tests.support.stores.fixtures import unpack


def test_newest_messages_of_a_killed_broker_may_be_in_no_queue(store: BrokerStore) -> None:
    damage.kill(store.root)
    damage.lose_last_units(store.root)

    check = checked(store.root)

    assert damage_of(check) == {}
    assert notes_of(check) == {"no queue unit": 6}
    assert check.unqueued == 6


def test_newest_messages_of_a_broker_that_ended_are_in_queues(store: BrokerStore) -> None:
    damage.lose_last_units(store.root)

    assert damage_of(checked(store.root)) == {"no queue unit": 6}


@pytest.mark.parametrize(("position", "text"), [(11, "bytes, the message"), (19, "tags code")])
def test_unit_with_one_wrong_field_is_found(position: int, text: str, store: BrokerStore) -> None:
    file = damage.queue_files(store.root)[-1][0]
    damage.flip(file, position)

    check = checked(store.root)

    assert damage_of(check) == {"queue unit": 1}
    assert text in check.findings.kept[0].text
    assert check.findings.kept[0].queue_offset == 0


@pytest.mark.parametrize(
    ("properties", "tags"),
    [
        ("", ""),
        ("TAGS\x01a\x02", "a"),
        ("K\x01v\x02TAGS\x01a", "a"),
        ("TAGS\x01a\x02TAGS\x01b\x02", "b"),
        ("MYTAGS\x01a\x02", ""),
        ("TAGS\x01a\x02MYTAGS\x01b\x02", "a"),
        ("K\x01v\x02TAGS\x01a\x02MYTAGS\x01b\x02", "a"),
        ("TAGS\x01ä\x02", "ä"),
    ],
)
def test_tags_are_read_as_java_reads_them(properties: str, tags: str, tmp_path: Path) -> None:
    message = encode_stored_message(
        StoredMessage(
            topic="t",
            body=b"TAGS\x01body\x02",
            properties={},
            queue_id=0,
            queue_offset=0,
            commit_log_offset=0,
            store_size=0,
            body_crc=crc32(b"TAGS\x01body\x02"),
            born_timestamp=1,
            born_host=Host.parse("10.0.0.2:50000"),
            store_timestamp=1,
            store_host=Host.parse("10.0.0.1:10911"),
        )
    )
    text = properties.encode()
    message = message[:-2] + len(text).to_bytes(2, "big") + text
    message = len(message).to_bytes(4, "big") + message[4:]
    log, queue = tmp_path / "commitlog", tmp_path / "consumequeue" / "t" / "0"
    unit = encode_unit(QueueUnit(0, len(message), tags_code(tags)))
    for folder, data in ((log, message), (queue, unit)):
        folder.mkdir(parents=True)
        (folder / ("0" * 20)).write_bytes(data.ljust(1000, b"\0"))

    assert checked(tmp_path).findings.kept == []


def test_queues_in_rocksdb_are_compared_with_the_log(tmp_path: Path) -> None:
    root = unpack(CURRENT, "rocksdb", tmp_path).root
    assert damage_of(checked(root)) == {}
    key = rocksdb_records.queue_key
    families = {name: Options(raw_mode=True) for name in ("default", "offset")}
    with Rdict(str(root / "consumequeue"), Options(raw_mode=True), families) as database:
        del database[key("orders", 0, 7)]
        database[key("orders", 1, 3)] = database[key("orders", 1, 4)]
        database[key("orders", 2, 99)] = database[key("orders", 1, 4)]

    check = checked(root)

    assert damage_of(check) == {"no queue unit": 1, "queue unit": 1, "no message": 1}
    places = [(finding.file, finding.position) for finding in check.findings.kept if finding.file]
    assert places == [("consumequeue", 0)]


def test_killed_broker_loses_units_in_rocksdb_that_it_builds_anew(tmp_path: Path) -> None:
    root = unpack(CURRENT, "rockskilled", tmp_path).root

    check = checked(root)

    assert damage_of(check) == {}
    assert notes_of(check) == {"no queue unit": 241}
    texts = [finding.text for finding in check.findings.kept]
    assert all("5.5 from the last 10 files of the log only" in text for text in texts)
    (root / "abort").unlink()
    assert damage_of(checked(root)) == {"no queue unit": 241}


@pytest.mark.parametrize("topic", ["traced", "RMQ_SYS_TRANS_OP_HALF_TOPIC"])
def test_topic_that_exists_has_queues(topic: str, tmp_path: Path) -> None:
    root = unpack(OLD, "features", tmp_path).root
    shutil.rmtree(root / "consumequeue" / topic)

    check = checked(root)

    assert set(damage_of(check)) == {"no queue unit"}
    assert any("a topic that exists" in finding.text for finding in check.findings.kept)


def test_topic_that_was_deleted_has_no_queues(tmp_path: Path) -> None:
    store = unpack(OLD, "features", tmp_path)
    (deleted,) = store.truth.deleted_topics

    check = checked(store.root)

    assert damage_of(check) == {}
    assert [finding.topic for finding in check.findings.kept] == [deleted]


@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 2), (5, 2), (1, 1)])
def test_topic_that_was_created_again_is_whole(old: int, new: int, tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    for number in range(old):
        client.send(body=b"old %d" % number)
        client.send(body=b"old %d" % number, queue=1)
    home.folder.persist(home.now)
    client.call(215, {"topic": "orders"})
    for number in range(new):
        client.send(body=b"a new message %d" % number)
    home.folder.close(home.now)

    check = checked(tmp_path)

    assert damage_of(check) == {}
    assert notes_of(check)["queue offset"] == 1


def test_queue_without_its_files_has_no_units_if_rocksdb_has_them(tmp_path: Path) -> None:
    root = unpack(MIDDLE, "rocksboth", tmp_path).root
    shutil.rmtree(root / "consumequeue" / "bills" / "0")

    assert damage_of(checked(root)) == {"no queue unit": 12}

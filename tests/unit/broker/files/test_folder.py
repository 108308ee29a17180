"""A broker continues with the folder of one that ended or was killed."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire_broker.files.folder import FolderError
from tests.support.broker import Client, bodies, fields_of
from tests.support.broker_folder import BrokerWithFolder
from tests.support.values import require
from tests.support.virtual_disk import KilledError, VirtualDisk, run_until_crashes
from tests.unit.broker.groups import create_topic

Restart: TypeAlias = "Callable[[BrokerWithFolder], BrokerWithFolder]"


@pytest.fixture(params=["ended", "killed"])
def next_of(request: pytest.FixtureRequest) -> Restart:
    if request.param == "ended":
        return BrokerWithFolder.restart
    return BrokerWithFolder.restart_after_kill


def test_messages_keep_places(next_of: Restart, home: BrokerWithFolder, client: Client) -> None:
    ids = [fields_of(client.send(body=b"%d" % i, queue=i % 2))["msgId"] for i in range(6)]

    home = next_of(home)
    client = home.connect()

    assert bodies(client.pull_now(0)) == [b"0", b"2", b"4"]
    assert bodies(client.pull_now(1, queue=1)) == [b"3", b"5"]
    for number, message_id in enumerate(ids):
        answer = client.call(Code.VIEW_MESSAGE_BY_ID, {"offset": int(message_id[-16:], 16)})
        assert bodies(answer) == [b"%d" % number]
    assert fields_of(client.send(queue=1))["queueOffset"] == "3"


def test_new_topics_survive(next_of: Restart, home: BrokerWithFolder, client: Client) -> None:
    create_topic(client, "t", 3)

    assert require(next_of(home).broker.topics.get("t")).write_queue_nums == 3


def test_groups_and_offsets_survive_an_end(home: BrokerWithFolder, client: Client) -> None:
    client.send()
    client.call(
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=b'{"groupName":"readers","retryMaxTimes":3}'
    )
    fields = {"consumerGroup": "readers", "topic": "orders", "queueId": 0, "commitOffset": 1}
    client.call(Code.UPDATE_CONSUMER_OFFSET, fields)

    home = home.restart()

    assert require(home.broker.groups.get("readers")).retry_max_times == 3
    assert home.broker.offsets.get("readers", "orders", 0) == 1


def test_deleted_topic_is_empty(next_of: Restart, home: BrokerWithFolder, client: Client) -> None:
    for topic in ("orders", "gone"):
        client.send(topic, b"old")
        client.send(topic, b"older")
        client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": topic})
    client.send("orders", b"new")

    home = next_of(home)

    assert bodies(home.connect().pull_now(0)) == [b"new"]
    assert home.broker.store.max_offset("orders", 0) == 1
    assert home.broker.store.max_offset("gone", 0) == 0
    assert "gone" not in home.broker.topics


def test_the_log_goes_on_in_the_next_file_when_one_is_full(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path, log_file_size=4_096)
    client = home.connect()
    for i in range(40):
        assert client.send(body=b"%d" % i * 100).code == 0

    home = home.restart_after_kill()

    assert len(home.folder.log.starts()) > 1
    assert bodies(home.connect().pull_now(0, count=32)) == [b"%d" % i * 100 for i in range(32)]
    sizes = {path.stat().st_size for path in (tmp_path / "commitlog").iterdir()}
    assert sizes == {4_096}


def test_two_brokers_do_not_share_a_folder(client: Client, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="another broker uses the store"):
        BrokerWithFolder(tmp_path)

    assert client.send().code == 0


def test_a_full_disk_refuses_messages_and_loses_none(disk: VirtualDisk) -> None:
    home = BrokerWithFolder(disk.root)
    client = home.connect()
    client.send(body=b"before")
    disk.is_full = True

    refused = client.send(body=b"refused")
    new_topic = client.send("another", b"refused")
    disk.is_full = False

    assert refused.code == new_topic.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert (refused.remark or "").startswith("service not available now.")
    assert client.send(body=b"after").code == 0
    assert bodies(home.restart_after_kill().connect().pull_now(0)) == [b"before", b"after"]


def test_a_delayed_message_comes_when_the_disk_has_room_again(disk: VirtualDisk) -> None:
    home = BrokerWithFolder(disk.root)
    client = home.connect()
    client.send(properties={"DELAY": "1"})
    client.send("other")  # the topics exist
    client.send(body=b"at once")
    disk.is_full = True
    home.pass_time(10_000)
    disk.is_full = False
    home.pass_time(10_000)

    assert bodies(client.pull_now(0)) == [b"at once", b"body"]


def test_a_message_whose_write_is_cut_short_is_whole(disk: VirtualDisk) -> None:
    disk.is_short = True

    home = BrokerWithFolder(disk.root)
    home.connect().send("new", b"whole" * 1_000)

    assert bodies(home.restart_after_kill().connect().pull_now(0, "new")) == [b"whole" * 1_000]


NAMES_ON_DISK = (
    *("CURRENT", "LOCK", "MANIFEST-000001", "abort", "checkpoint", "lock", "commitlog", "config"),
    *("consumequeue", "batchconsumequeue", "consumequeue_rocksdb", "dledger-x", "index", "cut"),
    *("%LMQ%foo", "%LMQ%", "%RETRY%x", "%DLQ%x", "timerwheel", "timerlog", "topics-json-bak"),
    *("-", "|", "%", "0", "00000000000000000000", "x" * 127),
)
"""Legal names of topics that mean something on a disk, to Java, or to RocksDB."""


def test_topics_named_like_files_of_stores_are_served(
    next_of: Restart, home: BrokerWithFolder, client: Client
) -> None:
    for name in NAMES_ON_DISK:
        assert client.send(name, name.encode()).code == 0
    home.folder.persist(home.now)

    client = next_of(home).connect()

    assert [bodies(client.pull_now(0, name)) for name in NAMES_ON_DISK] == [
        [name.encode()] for name in NAMES_ON_DISK
    ]


def test_messages_of_a_topic_whose_configuration_is_lost_are_kept(
    home: BrokerWithFolder, client: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client.send("first", b"1")
    topics = (tmp_path / "config/topics.json").read_bytes()
    client.send("lost", b"2", queue=3)
    home.folder.release()
    (tmp_path / "config/topics.json").write_bytes(topics)

    home = BrokerWithFolder(tmp_path)

    assert bodies(home.connect().pull_now(0, "lost", queue=3)) == [b"2"]
    assert "topic lost has messages, but no configuration" in caplog.text


def test_no_queue_of_a_deleted_topic_comes_back(
    next_of: Restart, home: BrokerWithFolder, client: Client
) -> None:
    client.send(body=b"old", queue=1)
    client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})
    client.send(body=b"new", queue=0)

    client = next_of(next_of(home)).connect()

    assert bodies(client.pull_now(0)) == [b"new"]
    assert client.pull_now(0, queue=1).code == ResponseCode.PULL_NOT_FOUND


def test_a_table_that_is_written_in_parts_is_whole(disk: VirtualDisk) -> None:
    disk.is_short = True
    home = BrokerWithFolder(disk.root)
    for number in range(200):
        home.connect().send(f"topic-{number}", b"1")

    home = home.restart_after_kill()

    assert all(f"topic-{number}" in home.broker.topics for number in range(200))


@pytest.mark.parametrize(
    "seeds", [(1,), pytest.param((None, *range(2, 12)), marks=pytest.mark.full)]
)
def test_what_is_on_the_disk_survives_a_crash_at_each_step(
    seeds: tuple[int | None, ...], tmp_path: Path
) -> None:
    def send_all(root: Path, acknowledged: list[tuple[str, bytes]]) -> None:
        home = BrokerWithFolder(root, flush_disk_type="SYNC_FLUSH", log_file_size=1_024)
        log = home.folder.log
        for number in range(5):
            topic, body = f"topic-{number % 2}", b"%d" % number * 100
            if home.connect().send(topic, body).code == 0:
                log.sync(log.descriptors())
                acknowledged.append((topic, body))
            if number == 2:
                home.folder.persist(home.now)

    for root, acknowledged in run_until_crashes(tmp_path, send_all, seeds):
        home = BrokerWithFolder(root, log_file_size=1_024)
        client = home.connect()
        for topic in {topic for topic, _ in acknowledged}:
            expected = [body for name, body in acknowledged if name == topic]
            assert bodies(client.pull_now(0, topic))[: len(expected)] == expected
        home.folder.release()


def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    BrokerWithFolder(tmp_path / "a/store")

    assert (tmp_path / "a/store").stat().st_mode & 0o777 == 0o700


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"text")
    (tmp_path / "store").mkdir()
    (tmp_path / "store/lock").symlink_to(tmp_path / "mine")

    with pytest.raises(OSError, match="symbolic link"):
        BrokerWithFolder(tmp_path / "store")

    assert (tmp_path / "mine").read_bytes() == b"text"


def send_twelve(root: Path, acknowledged: list[bytes]) -> None:
    home = BrokerWithFolder(root, log_file_size=2_048)
    client = home.connect()
    for number in range(12):
        body = b"%02d" % number * 40
        if client.send(f"topic{number % 2}", body).code == 0:
            acknowledged.append(body)
    home.folder.close(home.now)


def test_no_acknowledged_message_is_lost_at_any_step(tmp_path: Path) -> None:
    """The process is killed at each system call; half of the bytes of that call are written."""
    with VirtualDisk(tmp_path / "whole") as disk:
        send_twelve(disk.root, [])
    for calls in range(len(disk.calls)):
        acknowledged: list[bytes] = []
        with VirtualDisk(tmp_path / str(calls), calls) as disk:
            with pytest.raises(KilledError):
                send_twelve(disk.root, acknowledged)
            disk.revive()

            client = BrokerWithFolder(disk.root, log_file_size=2_048).connect()
            stored = [bodies(client.pull_now(0, f"topic{number}")) for number in range(2)]

        for number in range(2):
            expected = acknowledged[number::2]
            sent = [b"%02d" % i * 40 for i in range(number, 12, 2)]
            assert stored[number] in (expected, sent[: len(expected) + 1])

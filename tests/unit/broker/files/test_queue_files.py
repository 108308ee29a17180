"""The files of the queues, byte for byte as Java wrote them."""

from pathlib import Path

import pytest

from rocketwire.codes import RequestCode as Code
from tests.peers.peers import CURRENT, OLD
from tests.support.broker import Client
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores.fixtures import unpack

LATER = 1_900_000_000_000


def read_files(root: Path) -> dict[str, bytes]:
    folder = root / "consumequeue"
    files = {str(path.relative_to(folder)): path for path in folder.rglob("0*") if path.is_file()}
    return {name: data for name, path in files.items() if any(data := path.read_bytes())}


@pytest.mark.parametrize("release", [CURRENT, OLD])
@pytest.mark.parametrize("name", ["plain", "ipv6"])
def test_they_are_those_of_java(release: str, name: str, tmp_path: Path) -> None:
    source = unpack(release, name, tmp_path)
    java = read_files(source.root)
    home = BrokerWithFolder(source.root, now=LATER)

    home.folder.persist(LATER)

    assert java
    assert read_files(source.root) == java


def test_damaged_file_is_rewritten(home: BrokerWithFolder, client: Client, tmp_path: Path) -> None:
    for _ in range(250):  # a file has 100 units
        client.send()
    home.folder.persist(home.now)
    files = read_files(tmp_path)
    name = sorted(files)[1]
    (tmp_path / "consumequeue" / name).write_bytes(bytes(2_000))

    home.restart_after_kill().folder.close(home.now)

    assert len(files) == 3
    assert read_files(tmp_path) == files


def test_later_messages_are_added(home: BrokerWithFolder, client: Client, tmp_path: Path) -> None:
    for _ in range(2):
        client.send()
        home.folder.persist(home.now)

    [data] = read_files(tmp_path).values()

    size = int.from_bytes(data[8:12])
    assert [int.from_bytes(data[place : place + 8]) for place in (0, 20, 40)] == [0, size, 0]


def test_deleted_topic_has_no_files(home: BrokerWithFolder, client: Client, tmp_path: Path) -> None:
    client.send("gone")
    home.folder.persist(home.now)
    client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": "gone"})
    client.send()
    home.folder.persist(home.now)

    assert [name.partition("/")[0] for name in read_files(tmp_path)] == ["orders"]


def test_files_go_with_their_messages(tmp_path: Path) -> None:
    home = BrokerWithFolder(
        tmp_path, log_file_size=4_096, queue_file_size=100, store_retain_bytes=4_096
    )
    client = home.connect()
    for _ in range(60):
        client.send(body=b"x" * 100)
    home.folder.persist(home.now)
    assert len(read_files(tmp_path)) == 12

    home.broker.store.expire(home.now)
    home.folder.persist(home.now)
    names = sorted(read_files(tmp_path))
    home = home.restart_after_kill()

    first = home.broker.store.min_offset("orders", 0)
    assert 0 < first < 60
    assert names[0] == f"orders/0/{first // 5 * 100:020d}"
    home.folder.close(home.now)
    assert sorted(read_files(tmp_path)) == names
    data = (tmp_path / "consumequeue" / names[0]).read_bytes()[: 20 * (first % 5)]
    assert data == bytes.fromhex("0000000000000000 7fffffff 0000000000000000") * (first % 5)

"""The files of the queues, byte for byte as Java wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.peers.peers import CURRENT, OLD
from tests.support.broker_folder import BrokerWithFolder
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pathlib import Path

LATER = 1_900_000_000_000


def files_of(root: Path) -> dict[str, bytes]:
    """The files of the queues by name; those without a unit are left out."""
    folder = root / "consumequeue"
    files = {str(path.relative_to(folder)): path for path in folder.rglob("0*") if path.is_file()}
    return {name: data for name, path in files.items() if any(data := path.read_bytes())}


@pytest.mark.parametrize("release", [CURRENT, OLD])
@pytest.mark.parametrize("kind", ["plain", "ipv6"])
def test_they_are_those_of_java(release: str, kind: str, tmp_path: Path) -> None:
    source = unpack(release, kind, tmp_path)
    java = files_of(source.root)
    home = BrokerWithFolder(source.root, now=LATER)

    home.folder.persist(LATER)

    assert java
    assert files_of(source.root) == java


def test_what_a_kill_has_left_is_written_anew(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    for _ in range(250):  # a file has 100 units
        client.send()
    home.folder.persist(home.now)
    whole = files_of(tmp_path)
    name = sorted(whole)[1]
    (tmp_path / "consumequeue" / name).write_bytes(bytes(2_000))

    home.restart_after_kill().folder.close(home.now)

    assert len(whole) == 3
    assert files_of(tmp_path) == whole


def test_later_messages_are_added(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    client.send()
    home.folder.persist(home.now)
    client.send()
    home.folder.persist(home.now)

    [data] = files_of(tmp_path).values()

    size = int.from_bytes(data[8:12])
    assert [int.from_bytes(data[at : at + 8]) for at in (0, 20, 40)] == [0, size, 0]


def test_a_deleted_topic_has_no_files(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    client.send("gone")
    home.folder.persist(home.now)
    client.call(215, {"topic": "gone"})
    client.send()
    home.folder.persist(home.now)

    assert [name.partition("/")[0] for name in files_of(tmp_path)] == ["orders"]


def test_files_go_with_their_messages(tmp_path: Path) -> None:
    home = BrokerWithFolder(
        tmp_path, log_file_size=4_096, queue_file_size=100, store_retain_bytes=4_096
    )
    client = home.connect()
    for _ in range(60):
        client.send(body=b"x" * 100)
    home.folder.persist(home.now)
    before = len(files_of(tmp_path))

    home.broker.store.expire(home.now)
    home.folder.persist(home.now)
    after = sorted(files_of(tmp_path))
    home = home.restart_after_kill()

    first = home.broker.store.min_offset("orders", 0)
    assert 0 < first < 60
    assert before == 12
    assert after[0] == f"orders/0/{first // 5 * 100:020d}"
    home.folder.close(home.now)
    assert sorted(files_of(tmp_path)) == after
    with (tmp_path / "consumequeue" / after[0]).open("rb") as file:
        data = file.read(20 * (first % 5))
    assert data == bytes.fromhex("0000000000000000 7fffffff 0000000000000000") * (first % 5)

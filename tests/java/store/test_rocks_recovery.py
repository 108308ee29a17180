"""What Java does at its start with queues in RocksDB is what was predicted."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import Message
from rocketwire.store.java_records import Release
from tests.support.java.peers import CURRENT, MIDDLE
from tests.support.stores import copy_store, damage
from tests.support.stores.checked import checked
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.kinds import rockskilled
from tests.support.stores.recording import until_dispatched
from tests.support.stores.restarts import check_start
from tests.support.stores.sending import Sender, noise_body

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.java.peers import JavaNameServer
    from tests.support.stores import BrokerStore

OPTIONS: dict[str, Mapping[str, object]] = {
    "rocksdb": {"storeType": "defaultRocksDB"},
    "rockskilled": rockskilled.OPTIONS,
}


def remove_rocksdb(root: Path) -> None:
    """The RocksDB of the queues is gone."""
    for name in ("consumequeue", "consumequeue_rocksdb"):
        shutil.rmtree(root / name, ignore_errors=True)


def keep_two_rocksdbs(root: Path) -> None:
    """Somebody has copied the RocksDB from one folder to the other, and left both."""
    folders = [root / "consumequeue", root / "consumequeue_rocksdb"]
    present = next(folder for folder in folders if (folder / "CURRENT").exists())
    other = next(folder for folder in folders if folder != present)
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(present, other)


DAMAGE = {
    function.__name__: function
    for function in (
        damage.nothing,
        damage.kill,
        damage.tear_last_message,
        damage.flip_body,
        damage.flip_size,
        damage.flip_physical_offset,
        damage.zero_page,
        damage.remove_first_file,
        damage.remove_middle_file,
        damage.remove_log,
        damage.kill_and_tear,
        damage.kill_and_zero_page,
        damage.kill_and_zero_checkpoint,
        remove_rocksdb,
        keep_two_rocksdbs,
    )
}

FEW = (
    (CURRENT, "rocksdb", "flip_body"),
    (CURRENT, "rocksdb", "remove_first_file"),
    (CURRENT, "rockskilled", "remove_middle_file"),
)
"""Each case starts a broker."""


def cases() -> list[tuple[str, str, str]]:
    """Release, kind of store, and damage; all if asked for."""
    if os.environ.get("ROCKETWIRE_STORES") != "all":
        return list(FEW)
    kinds = [(CURRENT, "rocksdb"), (CURRENT, "rockskilled"), (MIDDLE, "rocksdb")]
    return [(*kind, name) for kind in kinds for name in DAMAGE]


@pytest.mark.parametrize(("release", "kind", "name"), cases())
def test_java_serves_of_a_damaged_store_with_rocksdb_what_was_predicted(
    release: str,
    kind: str,
    name: str,
    tmp_path: Path,
    name_server: JavaNameServer,
    store_of: Callable[[str, str], BrokerStore],
) -> None:
    pytest.importorskip("rocksdict")
    root = tmp_path / "store"
    if (release, kind) in PACKED:
        root = unpack(release, kind, root).root
    else:
        root = copy_store(store_of(release, kind).root, root)
    DAMAGE[name](root)

    recovery = check_start(root, release, tmp_path / "broker", name_server, OPTIONS[kind])

    assert bool(recovery.refusal) is (name == "keep_two_rocksdbs" and release == CURRENT)
    assert not recovery.hang


@pytest.mark.skipif(
    os.environ.get("ROCKETWIRE_STORES") != "all", reason="takes two starts of a broker"
)
def test_java_puts_the_messages_of_ten_files_alone_into_queues_that_a_killed_broker_lost(
    tmp_path: Path, name_server: JavaNameServer
) -> None:
    pytest.importorskip("rocksdict")
    options = {"storeType": "defaultRocksDB", "mappedFileSizeCommitLog": 16 * 1024}

    async def fill() -> None:
        async with cluster.session() as session:
            sender = Sender(session)
            await session.create_topic("orders", 2)
            messages = (Message("orders", noise_body(3000, number)) for number in range(80))
            await sender.send_all(messages, (0, 1))
            await until_dispatched(session, sender.sent)

    with StoreCluster(tmp_path / "killed", CURRENT, options, name_server=name_server) as cluster:
        trio.run(fill)
        cluster.broker.kill()
    check = checked(cluster.store)
    recovery = check_start(cluster.store, CURRENT, tmp_path / "broker", name_server, options)

    in_queues = sum(len(list(recovery.served(queue))) for queue in recovery.queues)
    assert check.queues.unqueued == 80
    assert 0 < in_queues < 10 * 5 < 80
    assert {start.recovery.release: start.not_served for start in check.starts}[Release.V5_5_0] == (
        80 - in_queues
    )

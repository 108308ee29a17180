"""``rockskilled``: as ``rocksdb``, with all configuration in one RocksDB, queues in a folder of
their own, and SIGKILL in the end (5.5).

The newest records of a RocksDB are then in its own log only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from tests.support.stores.cluster import StoreCluster
from tests.support.stores.kinds import plain
from tests.support.stores.recording import (
    ask_restarted,
    take_store,
    truth_of,
    until_dispatched,
)
from tests.support.stores.sending import Sender

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.truth import Truth

OPTIONS: Final = {
    "storeType": "defaultRocksDB",
    "useSingleRocksDBForAllConfigs": "true",
    "useSeparateStorePathForRocksdbCQ": "true",
}
PERSISTED: Final = 12.0
"""Seconds after which a broker has written the offsets of groups."""


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth, which a restarted broker answers."""

    async def fill() -> Sender:
        async with cluster.session() as session:
            sender = Sender(session)
            await plain.fill(session, sender, release)
            await until_dispatched(session, sender.sent)
            await trio.sleep(PERSISTED)
            return sender

    with StoreCluster(folder, release, OPTIONS) as cluster:
        sent = tuple(trio.run(fill).sent)
        cluster.broker.kill()
    take_store(folder, cluster)
    topics = tuple(plain.TOPICS)
    answers = ask_restarted(folder, release, folder / "store", sent, topics, options=OPTIONS)
    return truth_of(
        release,
        "rockskilled",
        cluster,
        sent,
        {},
        answers,
        topics,
        stop="killed",
        live="restarted",
    )

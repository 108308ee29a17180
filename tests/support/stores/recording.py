"""Making a store: start a broker, fill it, ask it, end it, take its store."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import trio

from tests.support.stores import plain
from tests.support.stores.answers import Answers, ask_everything
from tests.support.stores.cluster import StoreCluster, copy_store
from tests.support.stores.sending import Sender
from tests.support.stores.store import TRUTH, BrokerStore, open_folder
from tests.support.stores.truth import Sent, Truth, save

ROCKSDB: Final = {"storeType": "defaultRocksDB"}
OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "plain": {},
    "crc": {"enabledAppendPropCRC": "true"},
    "rocksdb": ROCKSDB,
    "rocksv2": {
        **ROCKSDB,
        "configManagerVersion": "v2",
        "indexRocksDBEnable": "true",
        "indexFileWriteEnable": "true",
    },
    "rocksboth": {"rocksdbCQDoubleWriteEnable": "true"},
}
"""Kinds of stores that can be recorded again, and the settings of their brokers."""


def record(folder: Path, release: str, kind: str) -> BrokerStore:
    topics = tuple(plain.TOPICS)

    async def run() -> tuple[tuple[Sent, ...], Answers]:
        async with cluster.session() as session:
            sender = Sender(session)
            await plain.fill(session, sender, release)
            sent = tuple(sender.sent)
            await session.wait_until_dispatched()
            return sent, await ask_everything(session, sent, topics)

    with StoreCluster(folder, release, OPTIONS[kind]) as cluster:
        sent, answers = trio.run(run)
        cluster.stop()
    truth = Truth(
        release=release,
        kind=kind,
        settings={name: str(value) for name, value in cluster.settings.items()},
        stop="clean",
        live="same",
        sent=sent,
        topics=topics,
        queues=answers.queues,
        lookups=answers.lookups,
        by_id=answers.by_id,
        consumer_offsets=answers.consumer_offsets,
        delay_offsets=answers.delay_offsets,
    )
    copy_store(cluster.store, folder / "store")
    save(truth, folder / TRUTH)
    return open_folder(folder)


def ask_restarted(
    folder: Path,
    release: str,
    store: Path,
    sent: Collection[Sent],
    topics: Collection[str],
    *,
    options: Mapping[str, object] | None = None,
) -> Answers:
    """Responses of a broker that is started on a copy of a store.

    Args:
        folder: of the store; the copy lies there as long as it is needed.
    """

    async def run() -> Answers:
        async with cluster.session() as session:
            await session.wait_until_dispatched()
            return await ask_everything(session, sent, topics)

    scratch = folder / "restarted"
    cluster = StoreCluster(scratch, release, options)
    copy_store(store, cluster.store)
    with cluster:
        answers = trio.run(run)
    shutil.rmtree(scratch)
    return answers

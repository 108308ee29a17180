"""A broker that is started on a copy of a store, and asked."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import trio

from tests.support.stores.answers import Answers, ask_everything
from tests.support.stores.cluster import StoreCluster, copy_store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from tests.support.stores.truth import Sent


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
        release: of the broker.
        store: the store.
        sent: as of ``ask_everything``.
        topics: as of ``ask_everything``.
        options: of the broker.
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

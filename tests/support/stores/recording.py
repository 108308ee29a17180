"""Making a store: start a broker, let a kind fill it, ask it, end it, take its store."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

from tests.support.processes import LOOPBACK
from tests.support.stores.answers import Answers, ask_everything
from tests.support.stores.cluster import Session, StoreCluster, copy_store, move_store
from tests.support.stores.sending import Sender
from tests.support.stores.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from tests.support.stores.truth import Sent

NOT_IN_THEIR_QUEUE: Final = ("delayed", "half", "timer")
"""How messages were sent that are in a queue of the broker's own at first."""


class Fill(Protocol):
    """Fills a store through a sender; returns the truth's notes."""

    async def __call__(
        self, session: Session, sender: Sender, release: str
    ) -> Mapping[str, Any]: ...


def record(
    folder: Path,
    release: str,
    kind: str,
    fill: Fill,
    *,
    options: Mapping[str, object] | None = None,
    topics: Collection[str],
    more: Collection[str] = (),
    deleted_topics: Collection[str] = (),
    host: str = LOOPBACK,
) -> Truth:
    """Make ``folder/store`` with a broker that is asked before it ends cleanly; returns the truth.

    Args:
        folder: empty.
        release: of the broker.
        kind: name of the kind.
        fill: sends the messages.
        options: of the broker.
        topics: the test's own.
        more: as of ``ask_everything``.
        deleted_topics: those of ``topics`` that are gone in the end.
        host: as of ``StoreCluster``.
    """
    present = [topic for topic in topics if topic not in deleted_topics]

    async def run() -> tuple[tuple[Sent, ...], Mapping[str, Any], Answers]:
        async with cluster.session() as session:
            sender = Sender(session)
            notes = await fill(session, sender, release)
            sent = tuple(sender.sent)
            await until_dispatched(session, [one for one in sent if one.topic in present])
            return sent, notes, await ask_everything(session, sent, present, more=more)

    with StoreCluster(folder, release, options, host=host) as cluster:
        sent, notes, answers = trio.run(run)
        cluster.stop()
    truth = truth_of(
        release, kind, cluster, sent, notes, answers, topics, deleted_topics=deleted_topics
    )
    take_store(folder, cluster)
    return truth


def ask_restarted(
    folder: Path,
    release: str,
    store: Path,
    sent: Collection[Sent],
    topics: Collection[str],
    *,
    options: Mapping[str, object] | None = None,
    more: Collection[str] = (),
) -> Answers:
    """What a broker answers that is started on a copy of a store.

    Args:
        folder: of the store; the copy lies there as long as it is needed.
        release: of the broker.
        store: the store.
        sent: as of ``ask_everything``.
        topics: likewise.
        options: of the broker.
        more: as of ``ask_everything``.
    """

    async def run() -> Answers:
        async with cluster.session() as session:
            await until_dispatched(session, sent)
            return await ask_everything(session, sent, topics, more=more)

    scratch = folder / "restarted"
    cluster = StoreCluster(scratch, release, options)
    copy_store(store, cluster.store)
    with cluster:
        answers = trio.run(run)
    shutil.rmtree(scratch)
    return answers


async def until_dispatched(session: Session, sent: Collection[Sent]) -> None:
    """Wait until every message is in its queue, and the index with it."""
    ends: dict[tuple[str, int], int] = {}
    for one in sent:
        if one.how in NOT_IN_THEIR_QUEUE:
            continue
        place = one.topic, one.queue_id
        ends[place] = max(ends.get(place, 0), one.queue_offset + 1)
    with trio.fail_after(120):
        for (topic, queue_id), end in ends.items():
            queue = Sender.queue(topic, queue_id)
            while await session.client.brokers.max_offset(session.address, queue) < end:
                await trio.sleep(0.1)
    await trio.sleep(0.5)  # the index follows the queues


def truth_of(
    release: str,
    kind: str,
    cluster: StoreCluster,
    sent: tuple[Sent, ...],
    notes: Mapping[str, Any],
    answers: Answers,
    topics: Collection[str],
    *,
    stop: str = "clean",
    live: str = "same",
    deleted_topics: Collection[str] = (),
) -> Truth:
    """The truth of its parts."""
    return Truth(
        release=release,
        kind=kind,
        settings={name: str(value) for name, value in cluster.settings.items()},
        stop=stop,
        live=live,
        sent=sent,
        topics=tuple(topics),
        deleted_topics=tuple(deleted_topics),
        queues=answers.queues,
        lookups=answers.lookups,
        by_id=answers.by_id,
        consumer_offsets=answers.consumer_offsets,
        delay_offsets=answers.delay_offsets,
        notes=notes,
    )


def take_store(folder: Path, cluster: StoreCluster) -> None:
    """Move the store of a cluster to ``folder/store`` and remove all homes in that folder."""
    move_store(cluster.store, folder / "store")
    for home in folder.iterdir():
        if home.name == "namesrv" or home.name.startswith("home-"):
            shutil.rmtree(home)

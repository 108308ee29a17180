"""``killed``: the messages of ``plain``, then more that are in no queue yet, then SIGKILL.

The broker acknowledged all of them.  ``HeldBroker.java`` suspends the thread that builds queues and
index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import Message
from tests.support.processes import PeerFailedError
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.kinds import plain
from tests.support.stores.recording import (
    ask_restarted,
    take_store,
    truth_of,
    until_dispatched,
)
from tests.support.stores.sending import Sender, text_body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.truth import Truth

QUEUED_LATE: Final = 97
"""Messages without an entry in a queue, batches not counted."""


def make(folder: Path, release: str) -> Truth:
    """Make the store; returns its truth, which a restarted broker answers."""

    async def fill() -> tuple[Sender, dict[str, Any]]:
        async with cluster.session() as session:
            sender = Sender(session)
            await plain.fill(session, sender, release)
            await until_dispatched(session, sender.sent)
            await _until_persisted(cluster)
            dispatched = len(sender.sent)
            await _hold(cluster)
            await _send_more(sender)
            await _check_ends(session, sender, dispatched)
            first = int(sender.sent[dispatched].offset_msg_id[-16:], 16)
            return sender, {"not_queued": len(sender.sent) - dispatched, "queued_until": first}

    with StoreCluster(folder, release, program="HeldBroker.java") as cluster:
        sender, notes = trio.run(fill)
        cluster.broker.kill()
    take_store(folder, cluster)
    topics = tuple(plain.TOPICS)
    sent = tuple(sender.sent)
    answers = ask_restarted(folder, release, folder / "store", sent, topics)
    return truth_of(
        release, "killed", cluster, sent, notes, answers, topics, stop="killed", live="restarted"
    )


async def _send_more(sender: Sender) -> None:
    """Enough for a new file."""
    late = (
        Message(
            (plain.ORDERS, plain.BILLS)[number % 2],
            text_body(50 + number * 37 % 4000, number),
            tags="late",
            keys=(f"late-{number}",),
        )
        for number in range(QUEUED_LATE)
    )
    await sender.send_all(late, (0, 1))
    batch = [
        Message(plain.ORDERS, text_body(60_000, number), keys=(f"late-batch-{number}",))
        for number in range(3)
    ]
    await sender.send_batch(batch, 3)
    await sender.send_all([Message(plain.LEDGER, b"last", keys=("last",))])


async def _hold(cluster: StoreCluster) -> None:
    """Have the broker's queues stand still."""
    home = cluster.broker.folder
    (home / "hold").touch()
    with trio.fail_after(120):
        while not (home / "held").exists():
            await trio.sleep(0.05)


async def _until_persisted(cluster: StoreCluster) -> None:
    """Wait for the offsets of consumers, which a broker first writes after ten seconds."""
    with trio.fail_after(120):
        path = cluster.store / "config" / "consumerOffset.json"
        while not path.exists() or "printers" not in path.read_text():
            await trio.sleep(0.2)


async def _check_ends(session: Session, sender: Sender, dispatched: int) -> None:
    """The broker has put none of the last messages into its queue.

    Raises:
        PeerFailedError: it has.
    """
    for sent in sender.sent[dispatched:]:
        queue = sender.queue(sent.topic, sent.queue_id)
        end = await session.client.brokers.max_offset(session.address, queue)
        if end > sent.queue_offset:
            raise PeerFailedError(f"{sent.topic}/{sent.queue_id}/{sent.queue_offset} is queued")

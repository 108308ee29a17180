"""A stream of Spark reads a store while a Java broker writes it: each message once, and whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import Message
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import parts
from rocketwire_tools.spark.stores.reading import read
from rocketwire_tools.spark.stores.streaming import Offset, latest, parts_between
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.sending import Sender, text_body
from tests.support.stores.truth import digest

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire_tools.spark.stores.options import Settings
    from rocketwire_tools.store.queued.parts import LogPart

pytestmark = [pytest.mark.java, pytest.mark.slow]

FIELDS = ("physical_offset", "queue_id", "queue_offset", "body", "crc_ok")
BATCHES = 25


def rows_of(planned: list[LogPart], settings: Settings) -> list[dict[str, Any]]:
    return [
        row
        for part in planned
        for batch in read(part, FIELDS, settings)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_stream_holds_each_message_once_while_a_broker_writes(
    release: str, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = []
    counts: list[int] = []
    is_sent = False
    senders: list[Sender] = []

    async def send(sender: Sender) -> None:
        nonlocal is_sent
        for number in range(BATCHES):
            bodies = (text_body(200 + 37 * (number + place) % 3000) for place in range(20))
            await sender.send_all([Message("orders", body) for body in bodies], (0, 1, 2, 3))
        is_sent = True

    def next_batch(settings: Settings, start: Offset) -> Offset:
        end = latest(settings, start, 100_000)
        batch = rows_of(parts_between(settings, start, end), settings)
        rows.extend(batch)
        counts.append(len(batch))
        # a batch read ends where the log ended when it was planned
        planned = parts(settings, FIELDS)
        assert rows_of(planned, settings) == rows_of(planned, settings)
        return end

    async def run() -> None:
        settings = read_options({"path": str(cluster.store), "topic": "orders"})
        start: Offset = {}
        async with cluster.session() as session, trio.open_nursery() as nursery:
            await session.create_topic("orders", 4)
            senders.append(Sender(session))
            nursery.start_soon(send, senders[0])
            while not (is_sent and counts and not counts[-1]):
                await trio.sleep(0.05)
                if any((cluster.store / "commitlog").glob("0*")):
                    start = await trio.to_thread.run_sync(next_batch, settings, start)

    with StoreCluster(tmp_path, release) as cluster:
        trio.run(run)

    (sender,) = senders
    expected = [(sent.queue_id, sent.queue_offset, sent.body_digest) for sent in sender.sent]
    assert len(expected) == 20 * BATCHES
    assert all(row["crc_ok"] for row in rows)
    assert sorted(
        (row["queue_id"], row["queue_offset"], digest(row["body"])) for row in rows
    ) == sorted(expected)
    assert sum(count > 0 for count in counts) > 3

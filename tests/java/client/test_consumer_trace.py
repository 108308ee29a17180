"""Records of consumers in the trace topic, read by mqadmin and Java's decoder (case P33)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
    PushConsumerConfig,
    open_client,
    open_push_consumer,
)
from rocketwire.client.admin import open_admin
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, eventually, send, unique, until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


TRACED = PushConsumerConfig(
    enable_trace=True, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
)


@pytest.fixture
async def client(java_cluster: JavaCluster) -> AsyncGenerator[ClientInstance]:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as opened:
        yield opened


class Failing:
    """Raises at the first attempt at ``bad``, and asks for another at ``later``."""

    def __init__(self, later: object) -> None:
        self.attempts: list[tuple[bytes | None, int]] = []
        self._later = later

    async def __call__(self, messages: Sequence[StoredMessage], _: object) -> Any:
        await trio.lowlevel.checkpoint()
        body, times = messages[0].body, messages[0].reconsume_times
        self.attempts.append((body, times))
        if times == 0 and body == b"bad":
            raise ValueError("on purpose")
        return self._later if times == 0 and body == b"later" else None


@pytest.mark.parametrize("mode", ["concurrently", "orderly"])
async def test_each_record_has_the_fields_of_java_s_own_consumer(
    mode: str, client: ClientInstance, java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    topic = await create_topic(client, unique("traced"), queues=1)
    theirs, ours = unique("java"), unique("python")
    bodies = [b"good", b"bad", b"later"]
    await send(client, topic, bodies, queue_id=0)
    java_peer.trace(java_cluster.address, topic, theirs, mode)
    if mode == "orderly":
        orderly = Failing(ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT)
        handler, opened = (
            orderly,
            open_push_consumer(client, ours, {topic: "*"}, orderly_listener=orderly, config=TRACED),
        )
    else:
        handler = Failing(ConsumeConcurrentlyStatus.RECONSUME_LATER)
        opened = open_push_consumer(client, ours, {topic: "*"}, handler, config=TRACED)
    async with opened:
        await until(lambda: {(b"bad", 1), (b"later", 1)} <= set(handler.attempts))

    for body in bodies:
        layouts = {
            group: await layouts_of(
                client, topic, group, body.decode(), attempts=1 + (body != b"good")
            )
            for group in (theirs, ours)
        }
        assert layouts[ours] == layouts[theirs]
    await trio.to_thread.run_sync(java_peer.close, theirs)


async def layouts_of(
    client: ClientInstance, topic: str, group: str, key: str, attempts: int
) -> list[list[str]]:
    """The fields of a group's records about a message, without those that differ with each run."""
    kept: list[list[str]] = []

    async def are_there() -> bool:
        kept.clear()
        async with open_admin(client) as admin:
            (sent,) = await admin.messages.by_key(topic, key)
            bodies = [m.body or b"" for m in await admin.messages.by_key(TRACE_TOPIC, sent.msg_id)]
        texts = dict.fromkeys(t for body in bodies for t in body.decode().split("\x02"))
        fields = [text.split("\x01") for text in texts]
        calls = {one[4]: one for one in fields if one[0] == "SubBefore" and one[3] == group}
        for call in sorted(calls, key=lambda call: int(calls[call][1])):
            pair = [calls[call], *(one for one in fields if one[:2] == ["SubAfter", call])]
            varying = (one for one in pair if sent.msg_id in one)
            kept.extend([WORDS.get((one[0], i), f) for i, f in enumerate(one)] for one in varying)
        return len(kept) >= 2 * attempts

    await eventually(are_there)
    return kept


WORDS = {
    **{("SubBefore", i): word for i, word in ((1, "time"), (3, "group"), (4, "call"))},
    **{("SubAfter", i): word for i, word in ((1, "call"), (3, "cost"), (7, "time"), (8, "group"))},
}
"""Fields that differ with each run, by record and position."""

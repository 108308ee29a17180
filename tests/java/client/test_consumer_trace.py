"""Records of consumers in the trace topic, read by mqadmin and Java's decoder (case P33)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
    PopConsumerConfig,
    PushConsumerConfig,
    open_client,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.admin import open_admin
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from contextlib import AbstractAsyncContextManager

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer, TraceFields


TRACED = PushConsumerConfig(
    enable_trace=True, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
)


@pytest.fixture
async def client(java_cluster: JavaCluster) -> AsyncGenerator[ClientInstance]:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as opened:
        yield opened


class Handler:
    """Keeps what it is given, and fails the first time on the bodies in ``failing``."""

    def __init__(self, *failing: bytes) -> None:
        self.messages: list[StoredMessage] = []
        self._failing = set(failing)

    async def __call__(self, messages: Any, *_: object) -> None:
        await trio.lowlevel.checkpoint()
        given: list[StoredMessage] = messages if isinstance(messages, list) else [messages]  # pyright: ignore[reportUnknownVariableType] - one or many
        self.messages += given
        for message in given:
            if message.body in self._failing:
                self._failing.discard(message.body or b"")
                raise ValueError("on purpose")


def consumer(
    flavour: str, client: ClientInstance, group: str, topic: str, handler: Handler
) -> AbstractAsyncContextManager[object]:
    if flavour == "pop":
        config = PopConsumerConfig(enable_trace=True)
        return open_pop_consumer(client, group, {topic: "*"}, handler, config=config)
    if flavour == "orderly":
        return open_push_consumer(
            client, group, {topic: "*"}, orderly_listener=handler, config=TRACED
        )
    return open_push_consumer(client, group, {topic: "*"}, handler, config=TRACED)


@pytest.mark.parametrize("flavour", ["concurrent", "orderly", "pop"])
async def test_java_reads_what_came_of_each_message(
    flavour: str, client: ClientInstance, java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    topic, group = await create_topic(client, unique("traced"), queues=1), unique("readers")
    await send(client, topic, [b"good", b"bad"], queue_id=0)
    handler = Handler(b"bad")
    async with consumer(flavour, client, group, topic, handler):
        await until(lambda: {one.body for one in handler.messages} == {b"good", b"bad"})
    good, bad = (
        next(one.msg_id for one in handler.messages if one.body == body)
        for body in (b"good", b"bad")
    )

    before, after = await records(client, java_peer, group, good)
    assert (before.kind, after.kind) == ("SubBefore", "SubAfter")
    assert before.request_id == after.request_id
    assert len(before.request_id) == 32
    assert (before.region, before.retry_times, before.keys) == ("DefaultRegion", "0", "good")
    assert (after.is_success, after.context_code, after.keys) == ("true", "0", "good")
    assert int(before.timestamp) <= int(after.timestamp)
    _, failed, *_ = await records(client, java_peer, group, bad)
    assert (failed.is_success, failed.context_code) == ("false", "2")
    assert await shown(java_cluster, java_peer, group, good) == ["success"]
    assert "failed" in await shown(java_cluster, java_peer, group, bad)


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


async def test_a_batch_of_which_some_come_back_has_a_record_of_each(
    client: ClientInstance, java_peer: JavaPeer
) -> None:
    topic, group = await create_topic(client, unique("traced"), queues=1), unique("readers")
    await send(client, topic, numbered(3), queue_id=0)
    config = PushConsumerConfig(
        enable_trace=True,
        consume_message_batch_max_size=3,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    )
    batches: list[list[str]] = []

    async def first_only(messages: list[StoredMessage], context: object) -> object:
        await trio.lowlevel.checkpoint()
        batches.append([one.msg_id for one in messages])
        if len(batches[-1]) == 3:
            context.ack_index = 0  # type: ignore[attr-defined]  # as the documentation says
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async with open_push_consumer(client, group, {topic: "*"}, first_only, config=config):  # type: ignore[arg-type]  # one argument is enough
        await until(lambda: bool(batches) and len(batches[0]) == 3)

    outcomes: list[tuple[str, str]] = []
    requests: set[str] = set()
    for msg_id in batches[0]:
        before, after, *_ = await records(client, java_peer, group, msg_id)
        outcomes.append((after.is_success, after.context_code))
        requests |= {before.request_id, after.request_id}
    assert outcomes == [("true", "0"), ("false", "4"), ("false", "4")]
    assert len(requests) == 1


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


async def records(
    client: ClientInstance, java_peer: JavaPeer, group: str, msg_id: str
) -> list[TraceFields]:
    """The records of a group about a message, before and after, decoded by Java."""
    decoded: list[TraceFields] = []

    async def are_there() -> bool:
        decoded.clear()
        async with open_admin(client) as admin:
            for message in await admin.messages.by_key(TRACE_TOPIC, msg_id):
                decoded.extend(java_peer.traces(message.body or b""))
        decoded[:] = [one for one in decoded if one.msg_id == msg_id and one.group in (group, "")]
        return {one.kind for one in decoded} >= {"SubBefore", "SubAfter"}

    await eventually(are_there)
    return sorted(decoded, key=lambda one: (int(one.timestamp), one.kind != "SubBefore"))


async def shown(
    java_cluster: JavaCluster, java_peer: JavaPeer, group: str, msg_id: str
) -> list[str]:
    """The results that mqadmin's queryMsgTraceById shows of a group."""
    lines: list[list[str]] = []

    async def are_there() -> bool:
        line = f"queryMsgTraceById -i {msg_id}"
        ask = partial(java_peer.admin, java_cluster.address, line)
        out = (await trio.to_thread.run_sync(ask)).out
        lines[:] = [one.split() for one in out.splitlines() if one.startswith("Sub")]
        return any(one[1] == group for one in lines)

    await eventually(are_there)
    return [one[-1] for one in lines if one[1] == group]

"""Offsets that brokers keep: when a consumer waits for their answer."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire.client import ClientConfig, open_client
from rocketwire.client.offset_store import RemoteBrokerOffsetStore
from rocketwire.codes import RequestCode as Code
from rocketwire.messages import decode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import UpdateConsumerOffsetRequestHeader
from rocketwire.testing import ScriptedPeer, open_network, reply
from tests.client.producing import NS, A, route

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.wire.command import RemotingCommand

ZERO, ONE = (MessageQueue(topic="T", broker_name="a", queue_id=number) for number in range(2))


@asynccontextmanager
async def stored() -> AsyncGenerator[tuple[RemoteBrokerOffsetStore, ScriptedPeer]]:
    """A store that has come to 5 in one queue and to 6 in the other, and the broker of both."""
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
        broker = network.peer(A)
        config = ClientConfig(namesrv_addr=NS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            store = RemoteBrokerOffsetStore(client, "g")
            store.update(ZERO, 5, increase_only=True)
            store.update(ONE, 6, increase_only=True)
            yield store, broker


def told(broker: ScriptedPeer) -> set[tuple[int | None, int | None, bool]]:
    """Queue and offset of each request, and whether it was one-way."""
    found: set[tuple[int | None, int | None, bool]] = set()
    for one in broker.requests:
        header = decode_header(UpdateConsumerOffsetRequestHeader, one.ext_fields)
        found.add((header.queue_id, header.commit_offset, one.is_oneway))
    return found


async def test_the_offset_of_a_queue_that_is_left_is_with_the_broker_and_others_are_on_their_way(
    autojump_clock: trio.abc.Clock,
) -> None:
    async def slowly(_: RemotingCommand) -> RemotingCommand:
        await trio.sleep(2)
        return reply()

    async with stored() as (store, broker):
        broker.on(Code.UPDATE_CONSUMER_OFFSET, slowly)
        began = trio.current_time()
        await store.persist([ZERO, ONE], leaving=(ONE,))
        assert trio.current_time() - began == 2

        assert told(broker) == {(0, 5, True), (1, 6, False)}
        broker.requests.clear()
        await store.persist([ZERO, ONE], leaving=(ONE,))
        assert not broker.requests


async def test_offsets_that_are_not_taken_keep_none_of_the_others_back_and_are_told_again() -> None:
    def refuses_one(request: RemotingCommand) -> RemotingCommand:
        header = decode_header(UpdateConsumerOffsetRequestHeader, request.ext_fields)
        return reply(code=1 if header.queue_id == 0 else 0)

    async with stored() as (store, broker):
        broker.on(Code.UPDATE_CONSUMER_OFFSET, refuses_one)
        await store.persist([ZERO, ONE], leaving=(ZERO, ONE))
        assert told(broker) == {(0, 5, False), (1, 6, False)}
        broker.requests.clear()
        await store.persist([ZERO, ONE], leaving=(ZERO, ONE))

        assert told(broker) == {(0, 5, False)}

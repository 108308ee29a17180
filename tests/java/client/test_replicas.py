"""Cases C10, C36 and C37: pulls redirected to replicas, and two clients with the same name."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import open_client, open_push_consumer
from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus, build_pull_header
from rocketwire.client.net.pool import SILENCE
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, RequestTimeoutError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from tests.java.client.client_process import FIRST
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until
from tests.support.fakes.member_fakes import Consumer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire.wire.request_template import PreparedRequest
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


def pull_of(
    topic: str, group: str, version: int, offset: int = 0, queue_id: int = 0, **more: object
) -> PullRequest:
    return PullRequest(
        queue=MessageQueue(topic=topic, broker_name="broker-a", queue_id=queue_id),
        offset=offset,
        group=group,
        subscription=subscription_data(topic, version=version),
        suspend_timeout=0,
        send_subscription=bool(more),
    )


async def test_c10_a_newer_subscription_is_refused_until_the_broker_has_heard_of_it(
    java_cluster: JavaCluster,
) -> None:
    group = unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c10"))
        await send(client, topic, [b"x"], queue_id=0)
        client.add_consumer(Consumer(group, (topic,)))  # tells version 1
        await client.send_heartbeats()
        calls = PullCalls(client)
        known = await calls.pull(pull_of(topic, group, 1), within=PATIENCE)
        with pytest.raises(BrokerError) as newer:
            await calls.pull(pull_of(topic, group, 2), within=PATIENCE)

    assert known.status is PullStatus.FOUND
    assert newer.value.code == ResponseCode.SUBSCRIPTION_NOT_LATEST


async def test_c36_a_pull_of_old_messages_goes_to_the_slave_that_the_master_suggests(
    java_cluster: JavaCluster, java_peer: JavaPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    master = java_cluster.master
    asked: list[str] = []

    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        # every broker has it from the start, a slave hears of others only after a minute
        topic = "BenchmarkTest"
        first, end = await _send_64(client, topic, 0)
        slave = await trio.to_thread.run_sync(java_cluster.slave)
        await until_the_slave_has(client, slave.address, topic, end)
        await client.refresh_route(topic)
        request = client.pool.request_by

        async def noting(
            address: str, command: RemotingCommand | PreparedRequest, **others: Any
        ) -> RemotingCommand:
            if command.code == RequestCode.PULL_MESSAGE:
                asked.append(address)
            return await request(address, command, **others)

        monkeypatch.setattr(client.pool, "request_by", noting)
        calls, offset, bodies = PullCalls(client), first, list[bytes]()
        await set_ratio(java_cluster, java_peer, 0)
        try:
            while offset < end:
                pull = pull_of(topic, unique("g"), 1, offset, subscription=True)
                result = await calls.pull(pull, within=PATIENCE)
                offset = result.next_begin_offset
                bodies += [message.body or b"" for message in result.messages]
        finally:
            await set_ratio(java_cluster, java_peer, 40)

    assert asked[0] == master.address
    assert slave.address in asked
    assert bodies == numbered(64)


async def test_pulls_go_back_to_the_master_where_the_slave_that_it_suggests_hangs(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    """The system has stopped it: it takes connections and requests, and answers nothing."""
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = "BenchmarkTest"
        first, end = await _send_64(client, topic, 1)
        slave = await trio.to_thread.run_sync(java_cluster.slave)
        await until_the_slave_has(client, slave.address, topic, end, queue_id=1)
        await client.refresh_route(topic)
        calls, group, offset = PullCalls(client), unique("g"), first
        bodies, silent = list[bytes](), list[str]()
        await set_ratio(java_cluster, java_peer, 0)
        slave.freeze()
        try:
            while offset < end:
                pull = pull_of(topic, group, 1, offset, 1, subscription=True)
                if bodies and not silent:
                    with pytest.raises(RequestTimeoutError) as caught:
                        await calls.pull(pull, within=0.5)
                    silent.append(caught.value.address)
                result = await calls.pull(pull, within=PATIENCE)
                offset = result.next_begin_offset
                bodies += [message.body or b"" for message in result.messages]
        finally:
            slave.thaw()
            await set_ratio(java_cluster, java_peer, 40)

    assert silent == [slave.address]
    assert bodies == numbered(64)


async def _send_64(client: ClientInstance, topic: str, queue_id: int) -> tuple[int, int]:
    """Send 64 messages.

    Returns the first offset and the one behind them: an earlier attempt has left some before.
    """
    answers = await send(client, topic, numbered(64), queue_id=queue_id)
    return answers[0].queue_offset or 0, (answers[-1].queue_offset or 0) + 1


async def set_ratio(java_cluster: JavaCluster, java_peer: JavaPeer, value: int) -> None:
    """Have the master take so many per cent of memory for what is not old."""
    address = java_cluster.master.address
    line = f"updateBrokerConfig -b {address} -k accessMessageInMemoryMaxRatio -v {value}"
    done = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
    assert "success" in done.out, done


async def until_the_slave_has(
    client: ClientInstance, slave: str, topic: str, count: int, queue_id: int = 0
) -> None:
    pull = pull_of(topic, "g", 1, count - 1, queue_id, subscription=True)
    header = build_pull_header(pull, to_slave=True)

    async def has() -> bool:
        answer = await client.brokers.call(slave, RequestCode.PULL_MESSAGE, header, within=PATIENCE)
        return bool(answer.header.max_offset == count)

    await eventually(has)


async def test_c37_two_clients_of_one_name_get_the_same_queues_and_say_so(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """A broker lists the name twice, and each takes itself for the first of the two.

    With Java's clients it is the same.
    """
    group, got = unique("g"), list[tuple[int, int]]()
    config = patient(namesrv_addr=java_cluster.address, instance_name=unique("same"))

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        got.extend((one.queue_id, one.queue_offset) for one in messages)

    async with open_client(config) as one, open_client(config) as two:
        assert one.client_id == two.client_id
        topic = await create_topic(one, unique("c37"))
        async with (
            open_push_consumer(one, group, {topic: "*"}, listen, config=FIRST) as a,
            open_push_consumer(two, group, {topic: "*"}, listen, config=FIRST) as b,
        ):
            await until(lambda: _of(topic, a.assigned) == _of(topic, b.assigned) == {0, 1})
            await send(one, topic, numbered(8))
            await until(lambda: len(got) >= 8)

    assert sorted(got) == sorted([(queue, offset) for queue in (0, 1) for offset in (0, 1)] * 2)
    assert f"2 clients have the client id {one.client_id}" in caplog.text


async def test_c37_a_client_that_connects_anew_keeps_its_queues(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """While its pulls are held over the old connection, the broker lists the client twice."""
    caplog.set_level(logging.INFO, "rocketwire.client")
    group, broker = unique("g"), java_cluster.master.address

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        del messages

    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c37"))
        async with open_push_consumer(
            client, group, {topic: "*"}, listen, config=FIRST
        ) as consumer:
            await until(lambda: _of(topic, consumer.assigned) == {0, 1, 2, 3})
            held = replace(pull_of(topic, group, 0), suspend_timeout=PATIENCE)

            async def is_listed_twice() -> bool:
                with suppress(RequestTimeoutError):  # which gives a silent connection up
                    await PullCalls(client).pull(held, within=2 * SILENCE)
                await client.send_heartbeats()
                return len(await client.brokers.consumer_ids(broker, group)) > 1

            await eventually(is_listed_twice)
            consumer.rebalance_soon()
            await until(lambda: "connections of this client" in caplog.text)
            assert _of(topic, consumer.assigned) == {0, 1, 2, 3}

    assert "clients have the client id" not in caplog.text


def _of(topic: str, queues: Sequence[MessageQueue]) -> set[int]:
    return {queue.queue_id for queue in queues if queue.topic == topic}

"""Pulls that the master redirects to its slave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.pull import PullCalls, PullRequest, build_pull_header
from rocketwire.codes import RequestCode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import eventually, numbered, send, unique

if TYPE_CHECKING:
    import pytest

    from rocketwire.client import ClientInstance
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import PreparedRequest
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


def make_pull(topic: str, group: str, offset: int) -> PullRequest:
    return PullRequest(
        queue=MessageQueue(topic=topic, broker_name="broker-a", queue_id=0),
        offset=offset,
        group=group,
        subscription=subscription_data(topic, version=1),
        suspend_timeout=0,
        send_subscription=True,
    )


async def test_c36_a_pull_of_old_messages_goes_to_the_slave_that_the_master_suggests(
    java_cluster: JavaCluster, java_peer: JavaPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    master = java_cluster.master
    asked: list[str] = []

    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        # every broker has it from the start, a slave hears of others only after a minute
        topic = "BenchmarkTest"
        answers = await send(client, topic, numbered(64), queue_id=0)
        offset, end = answers[0].queue_offset or 0, (answers[-1].queue_offset or 0) + 1
        slave = await trio.to_thread.run_sync(java_cluster.slave)
        await wait_for_slave(client, slave.address, topic, end)
        await client.refresh_route(topic)
        request = client.pool.request_by

        async def noting(
            address: str, command: RemotingCommand | PreparedRequest, **others: Any
        ) -> RemotingCommand:
            if command.code == RequestCode.PULL_MESSAGE:
                asked.append(address)
            return await request(address, command, **others)

        monkeypatch.setattr(client.pool, "request_by", noting)
        calls, bodies = PullCalls(client), list[bytes]()
        await set_ratio(java_cluster, java_peer, 0)
        try:
            while offset < end:
                pull = make_pull(topic, unique("g"), offset)
                result = await calls.pull(pull, within=PATIENCE)
                offset = result.next_begin_offset
                bodies += [message.body or b"" for message in result.messages]
        finally:
            await set_ratio(java_cluster, java_peer, 40)

    assert asked[0] == master.address
    assert slave.address in asked
    assert bodies == numbered(64)


async def set_ratio(java_cluster: JavaCluster, java_peer: JavaPeer, value: int) -> None:
    """Have the master take so many per cent of memory for what is not old."""
    address = java_cluster.master.address
    line = f"updateBrokerConfig -b {address} -k accessMessageInMemoryMaxRatio -v {value}"
    done = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
    assert "success" in done.out, done


async def wait_for_slave(client: ClientInstance, slave: str, topic: str, end: int) -> None:
    """Wait until the slave has the messages before that offset."""
    header = build_pull_header(make_pull(topic, "g", end - 1), to_slave=True)

    async def has_all() -> bool:
        answer = await client.brokers.call(slave, RequestCode.PULL_MESSAGE, header, within=PATIENCE)
        return bool(answer.header.max_offset == end)

    await eventually(has_all)

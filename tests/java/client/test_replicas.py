"""Case C36: pulls redirected to replicas."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from rocketwire.client import ClientInstance
from rocketwire.client.consumer.pull import PullCalls, PullRequest, build_pull_header
from rocketwire.codes import RequestCode
from rocketwire.errors import RequestTimeoutError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.request_template import PreparedRequest
from tests.java.client.conftest import Mqadmin
from tests.peers.client_settings import PATIENCE
from tests.peers.cluster import JavaCluster
from tests.peers.messages import eventually, numbered, send
from tests.peers.peers import JavaBroker

OLD_TOPIC = "BenchmarkTest"
"""Every broker has it from the start; a slave hears of other topics only after a minute."""


class OldMessages:
    """64 old messages in a queue of the master, which a slave has too."""

    def __init__(
        self, client: ClientInstance, queue_id: int, offset: int, slave: JavaBroker
    ) -> None:
        self.calls = PullCalls(client)
        self.slave = slave
        self.queue_id = queue_id
        self.offset = offset
        self.end = offset + 64
        self.bodies: list[bytes] = []

    def request(self, offset: int) -> PullRequest:
        return PullRequest(
            queue=MessageQueue(topic=OLD_TOPIC, broker_name="broker-a", queue_id=self.queue_id),
            offset=offset,
            group="old-messages",
            subscription=subscription_data(OLD_TOPIC, version=1),
            suspend_timeout=0,
            send_subscription=True,
        )

    async def pull(self) -> None:
        result = await self.calls.pull(self.request(self.offset), within=PATIENCE)
        self.offset = result.next_begin_offset
        self.bodies += [message.body or b"" for message in result.messages]


@asynccontextmanager
async def store_old_messages(
    java_cluster: JavaCluster, client: ClientInstance, mqadmin: Mqadmin, queue_id: int
) -> AsyncGenerator[OldMessages]:
    answers = await send(client, OLD_TOPIC, numbered(64), queue_id=queue_id)
    slave = await trio.to_thread.run_sync(java_cluster.slave)
    messages = OldMessages(client, queue_id, answers[0].queue_offset or 0, slave)
    header = build_pull_header(messages.request(messages.end - 1), to_slave=True)

    async def has_all() -> bool:
        code = RequestCode.PULL_MESSAGE
        answer = await client.brokers.call(slave.address, code, header, within=PATIENCE)
        return bool(answer.header.max_offset == messages.end)

    async def set_ratio(percent: int) -> None:
        key = f"-b {java_cluster.master.address} -k accessMessageInMemoryMaxRatio"
        assert "success" in await mqadmin(f"updateBrokerConfig {key} -v {percent}")

    await eventually(has_all)
    await client.refresh_route(OLD_TOPIC)
    await set_ratio(0)
    try:
        yield messages
    finally:
        await set_ratio(40)


async def test_c36_a_pull_of_old_messages_goes_to_the_slave(
    java_cluster: JavaCluster,
    client: ClientInstance,
    mqadmin: Mqadmin,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses: list[str] = []
    request = client.pool.request_by

    async def note_address(
        address: str, command: RemotingCommand | PreparedRequest, **limits: Any
    ) -> RemotingCommand:
        if command.code == RequestCode.PULL_MESSAGE:
            addresses.append(address)
        return await request(address, command, **limits)

    async with store_old_messages(java_cluster, client, mqadmin, 0) as old:
        monkeypatch.setattr(client.pool, "request_by", note_address)
        while old.offset < old.end:
            await old.pull()

    assert addresses[0] == java_cluster.master.address
    assert old.slave.address in addresses
    assert old.bodies == numbered(64)


async def test_pulls_return_to_the_master_if_its_slave_hangs(
    java_cluster: JavaCluster, client: ClientInstance, mqadmin: Mqadmin
) -> None:
    # The system has stopped it: it takes connections and requests, and answers nothing.
    silent: list[str] = []
    async with store_old_messages(java_cluster, client, mqadmin, 1) as old:
        old.slave.freeze()
        try:
            while old.offset < old.end:
                if old.bodies and not silent:
                    with pytest.raises(RequestTimeoutError) as caught:
                        await old.calls.pull(old.request(old.offset), within=0.5)
                    silent.append(caught.value.address)
                await old.pull()
        finally:
            old.slave.thaw()

    assert silent == [old.slave.address]
    assert old.bodies == numbered(64)

"""Cases C36 and C37: pulls redirected to replicas, and two clients with the same name."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio

from rocketwire.client import ClientInstance, PushConsumer, open_client
from rocketwire.client.consumer.pull import PullCalls, PullRequest, build_pull_header
from rocketwire.client.net.pool import SILENCE
from rocketwire.codes import RequestCode
from rocketwire.errors import RequestTimeoutError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.request_template import PreparedRequest
from tests.java.client.conftest import Mqadmin
from tests.java.client.consuming import Listener, consume
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until
from tests.peers.peers import JavaBroker

OLD_TOPIC = "BenchmarkTest"
"""Every broker has it from the start; a slave hears of other topics only after a minute."""


def pull_of(
    topic: str, group: str, version: int, offset: int = 0, queue_id: int = 0, **settings: Any
) -> PullRequest:
    return PullRequest(
        queue=MessageQueue(topic=topic, broker_name="broker-a", queue_id=queue_id),
        offset=offset,
        group=group,
        subscription=subscription_data(topic, version=version),
        **{"suspend_timeout": 0, "send_subscription": False, **settings},
    )


def list_queues(topic: str, consumer: PushConsumer) -> set[int]:
    return {queue.queue_id for queue in consumer.assigned if queue.topic == topic}


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
        settings = {"queue_id": self.queue_id, "send_subscription": True}
        return pull_of(OLD_TOPIC, "old-messages", 1, offset, **settings)

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


async def test_c37_two_clients_of_one_name_get_the_same_queues(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    # A broker lists the name twice, and each takes itself for the first of the two, as Java's do.
    group, listener = unique("g"), Listener()
    config = patient(namesrv_addr=java_cluster.address, instance_name=unique("same"))
    async with open_client(config) as first, open_client(config) as second:
        assert first.client_id == second.client_id
        topic = await create_topic(first, unique("c37"))
        async with (
            consume(first, group, topic, listener) as a,
            consume(second, group, topic, listener) as b,
        ):
            await until(lambda: list_queues(topic, a) == list_queues(topic, b) == {0, 1})
            await send(first, topic, numbered(8))
            await until(lambda: len(listener.messages) >= 8)

    places = [(message.queue_id, message.queue_offset) for message in listener.messages]
    assert sorted(places) == sorted([(queue, offset) for queue in (0, 1) for offset in (0, 1)] * 2)
    assert f"2 clients have the client id {first.client_id}" in caplog.text


async def test_c37_a_client_that_connects_anew_keeps_its_queues(
    java_cluster: JavaCluster, client: ClientInstance, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    group, broker = unique("g"), java_cluster.master.address
    topic = await create_topic(client, unique("c37"))
    async with consume(client, group, topic, Listener()) as consumer:
        await until(lambda: list_queues(topic, consumer) == {0, 1, 2, 3})
        pull = pull_of(topic, group, 0, suspend_timeout=PATIENCE)

        async def is_listed_twice() -> bool:
            with suppress(RequestTimeoutError):  # the pool closes a silent connection
                await PullCalls(client).pull(pull, within=2 * SILENCE)
            await client.send_heartbeats()
            return len(await client.brokers.consumer_ids(broker, group)) > 1

        await eventually(is_listed_twice)
        consumer.rebalance_soon()
        await until(lambda: "connections of this client" in caplog.text)
        assert list_queues(topic, consumer) == {0, 1, 2, 3}

    assert "clients have the client id" not in caplog.text

"""Cases A09 and A14, and operators' calls about members and replication."""

from collections.abc import Sequence

import pytest
import trio

from rocketwire.client import (
    Message,
    PushConsumerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.client.addresses import vip_address
from rocketwire.client.admin import Admin, TrackType, message_tracks
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.enums import CMResult, ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import PopMessageRequestHeader
from rocketwire.messages.pull import PullMessageRequestHeader
from rocketwire.wire.message.stored import StoredMessage
from tests.java.admin.commands import CLUSTER
from tests.peers.client_settings import patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, unique, until
from tests.peers.peers import JavaPeer

SLOW = patient_producer()
FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


async def test_a09_the_second_port_takes_sends_but_no_pulls_or_pops(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    second = vip_address(java_cluster.master.address)
    topic = await create_topic(admin.client, unique("a09"))
    config = patient(namesrv_addr=java_cluster.address, vip_channel_enabled=True)
    async with open_client(config) as client, open_producer(client, unique("p"), SLOW) as producer:
        await producer.send(Message(topic, b"by the second port"))
        assert second in client.pool.addresses
    assert (await admin.brokers.runtime_info(second))["brokerVersionDesc"] == "V5_5_0"

    pull = PullMessageRequestHeader(
        consumer_group="g", topic=topic, queue_id=0, queue_offset=0, max_msg_nums=1, sys_flag=4,
        commit_offset=0, suspend_timeout_millis=0, subscription="*", sub_version=0,
    )  # fmt: skip
    pop = PopMessageRequestHeader(
        consumer_group="g", topic=topic, queue_id=0, max_msg_nums=1, invisible_time=60_000,
        poll_time=0, born_time=0, init_mode=0,
    )  # fmt: skip
    for code, header in ((RequestCode.PULL_MESSAGE, pull), (RequestCode.POP_MESSAGE, pop)):
        with pytest.raises(BrokerError) as refused:
            await admin.brokers.ask(second, code, header)
        assert refused.value.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


async def test_a14_members_with_short_heartbeats_are_seen_and_asked(
    java_cluster: JavaCluster, java_peer: JavaPeer, admin: Admin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("a14"), queues=1)
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
    group, producers = unique("g"), unique("p")
    bodies: list[bytes | None] = []

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        bodies.extend(message.body for message in messages)

    config = patient(
        namesrv_addr=java_cluster.address,
        use_heartbeat_v2=True,
        heartbeat_broker_interval=0.2,
        persist_consumer_offset_interval=0.2,
    )
    async with open_client(config) as client:
        traced = patient_producer(enable_trace=True)
        async with (
            open_producer(client, producers, traced) as producer,
            open_push_consumer(client, group, {topic: "*"}, listen, config=FIRST),
        ):
            sent = await producer.send(Message(topic, b"seen", tags="t"))
            await until(lambda: bodies == [b"seen"])
            await trio.sleep(0.5)  # several heartbeats without the subscription
            connection = await admin.consumers.connection(group)
            assert (connection.subscription_table or {})[topic].sub_string == "*"
            line = f"consumerConnection -g {group}"
            output = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
            assert topic in output.out
            await check_members(admin, group, topic, client.client_id, producers, address)

            async def is_committed() -> bool:
                stats = await admin.consumers.stats(group, topic)
                return (stats.offset_table or {})[queue].consumer_offset == 1

            await eventually(is_committed)
            members = await admin.offsets.of_members(group, topic)
            assert members[client.client_id][queue] == 1
            (span,) = await admin.consumers.time_spans(group, topic)
            assert span.message_queue == queue

            message = await admin.messages.by_offset_id(topic, sent.offset_msg_id or "")
            tracks = await message_tracks(admin, message)
            (track,) = [track for track in tracks if track.consumer_group == group]
            assert track.track_type is TrackType.CONSUMED
            result = await admin.messages.consume_directly(
                group, client.client_id, topic, sent.msg_id
            )
            assert result is not None
            assert result.consume_result == CMResult.CR_SUCCESS
            assert bodies == [b"seen", b"seen"]
            await admin.messages.send_back(message, group, delay_level=1)
            await until(lambda: len(bodies) >= 3)

    async def is_offline() -> bool:
        try:
            await admin.consumers.connection(group)
        except BrokerError as error:
            return error.code == ResponseCode.CONSUMER_NOT_ONLINE
        return False

    await eventually(is_offline)

    async def is_traced() -> bool:
        records = await admin.messages.trace(sent.msg_id)
        return [(record.trace_type, record.group_name) for record in records] == [
            ("Pub", producers)
        ]

    await eventually(is_traced)


async def check_members(
    admin: Admin, group: str, topic: str, client_id: str, producers: str, address: str
) -> None:
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
    for connection in (
        await admin.consumers.connection(group),
        await admin.consumers.producer_connection(producers, topic),
    ):
        assert [member.client_id for member in connection.connection_set or ()] == [client_id]
    assert producers in await admin.consumers.producers_of(address)
    info = await admin.consumers.running_info(group, client_id, stack=True)
    assert queue in (info.mq_table or {})
    assert (await admin.consumers.queue_owners(group))[queue] == client_id
    assert group in await admin.topics.consumer_groups(topic)
    assert topic in await admin.groups.topics(group)
    subscription = await admin.groups.subscription(group, topic)
    assert subscription is not None
    assert subscription.sub_string == "*"
    stats_list = (await admin.brokers.consume_stats(address)).consume_stats_list
    assert any(group in stats for stats in stats_list or ())


@pytest.mark.full
async def test_a_master_and_its_slave_show_replication_and_clean_up(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    slave = java_cluster.slave()

    async def is_connected() -> bool:
        return len((await admin.brokers.ha_status(address)).ha_connection_info or ()) == 1

    await eventually(is_connected)
    assert (await admin.brokers.ha_status(address)).master
    assert not (await admin.brokers.ha_status(slave.address)).master
    both = {address, slave.address}
    assert both <= set(await admin.clusters.replicas(CLUSTER))
    assert both & set(await admin.clusters.masters(CLUSTER)) == {address}
    assert await admin.clusters.broker_name(slave.address) == "broker-a"
    assert both <= set(await admin.brokers.clean_unused_topics(cluster=CLUSTER))
    assert await admin.brokers.clean_expired_queues(broker=address) == (address,)
    assert await admin.brokers.delete_expired_commit_log(broker=address) == (address,)
    with pytest.raises(BrokerError):
        await admin.brokers.epoch_cache(address)

    async def is_reset() -> bool:
        for broker in both:  # a master takes no notice
            await admin.brokers.reset_master_flush_offset(broker, 123_456_789_012)
        info = (await admin.brokers.ha_status(slave.address)).ha_client_runtime_info
        return info is not None and info.master_flush_offset == 123_456_789_012

    await eventually(is_reset)

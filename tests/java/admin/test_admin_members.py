"""Cases A09 and A14, and operators' calls about messages, members, replication, static topics and lite topics."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    Message,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.client.addresses import vip_address
from rocketwire.client.admin import Admin, TrackType, message_tracks, open_admin
from rocketwire.client.consumer.config import ConsumeConcurrentlyContext, PushConsumerConfig
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.enums import CMResult, ConsumeFromWhere
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import PopMessageRequestHeader
from rocketwire.messages.pull import PullMessageRequestHeader
from rocketwire.messages.topic_config import TopicConfig
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import (
    create_topic,
    eventually,
    numbered,
    send,
    unique,
    until,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


CLUSTER = "DefaultCluster"
SLOW = patient_producer()
FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


@pytest.fixture
async def admin(java_cluster: JavaCluster) -> AsyncGenerator[Admin]:
    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as made:
        yield made


async def test_a09_the_second_port_takes_sends_and_questions_but_neither_pulls_nor_pops(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    second = vip_address(java_cluster.master.address)
    topic = await create_topic(admin.client, unique("a09"))
    config = patient(namesrv_addr=java_cluster.address, vip_channel_enabled=True)
    async with (
        open_client(config) as client,
        open_producer(client, unique("p"), SLOW) as producer,
    ):
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


async def test_messages_are_found_by_both_ids_by_key_by_place_and_by_time(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    topic = await create_topic(admin.client, unique("found"), queues=2)
    async with open_producer(admin.client, unique("p"), SLOW) as producer:
        sent = await producer.send(Message(topic, b"one", keys=("k1", "k2")))
        await producer.send(Message(topic, b"two", keys=("k2",)))
    messages = admin.messages

    async def are_indexed() -> bool:
        return len(await messages.by_key(topic, "k2")) == 2

    await eventually(are_indexed)
    (one,) = await messages.by_key(topic, "k1")
    assert (one.body, one.msg_id, one.offset_msg_id) == (b"one", sent.msg_id, sent.offset_msg_id)
    assert await messages.by_key(topic, "nothing") == ()
    assert await messages.by_key(topic, "k1", end=1) == ()
    assert await messages.by_unique_key(topic, sent.msg_id, cluster=CLUSTER) == (one,)
    assert await messages.by_offset_id(topic, sent.offset_msg_id or "") == one
    assert await messages.by_id(topic, sent.offset_msg_id or "") == one
    assert await messages.by_id(topic, sent.msg_id) == one
    assert await messages.by_id(topic, "0" * 32) is None

    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=one.queue_id)
    assert await messages.at(queue, one.queue_offset) == one
    assert await messages.at(queue, 99) is None
    async with aclosing(messages.walk(topic)) as walk:
        assert {message.body async for message in walk} == {b"one", b"two"}
    async with aclosing(messages.walk(topic, begin=one.store_timestamp + 3_600_000)) as walk:
        assert [message.body async for message in walk] == []

    address = java_cluster.master.address
    told = await admin.brokers.consume_queue(address, queue, one.queue_offset, 1)
    (entry,) = list((told and told.queue_data) or ())
    assert entry.physic_offset == one.commit_log_offset
    nowhere = MessageQueue(topic=unique("none"), broker_name="", queue_id=0)
    with pytest.raises(BrokerError, match="is not exist!"):
        await admin.brokers.consume_queue(address, nowhere, 0, 1)
    assert await admin.brokers.consume_queue(address, queue, 99, 1) is None


async def test_a14_members_are_seen_asked_and_told_also_with_short_heartbeats(
    java_cluster: JavaCluster, java_peer: JavaPeer, admin: Admin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("a14"), queues=1)
    group, producers = unique("g"), unique("p")
    seen: list[bytes | None] = []

    async def listen(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        del context
        seen.extend(message.body for message in messages)

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
            await until(lambda: seen == [b"seen"])
            await trio.sleep(0.5)  # several heartbeats without the subscription
            connection = await admin.consumers.connection(group)
            assert (connection.subscription_table or {})[topic].sub_string == "*"
            line = f"consumerConnection -g {group}"
            told = await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
            assert topic in told.out

            assert [one.client_id for one in connection.connection_set or ()] == [client.client_id]
            table = (await admin.consumers.producer_connection(producers, topic)).connection_set
            assert [one.client_id for one in table or ()] == [client.client_id]
            assert producers in await admin.consumers.producers_of(address)

            info = await admin.consumers.running_info(group, client.client_id, stack=True)
            queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
            assert queue in (info.mq_table or {})
            assert (await admin.consumers.queue_owners(group))[queue] == client.client_id

            async def is_committed() -> bool:
                stats = await admin.consumers.stats(group, topic)
                return (stats.offset_table or {})[queue].consumer_offset == 1

            await eventually(is_committed)
            members = await admin.offsets.of_members(group, topic)
            assert members[client.client_id][queue] == 1
            (span,) = await admin.consumers.time_spans(group, topic)
            assert span.message_queue == queue
            assert group in await admin.topics.consumer_groups(topic)
            assert topic in await admin.groups.topics(group)
            subscription = await admin.groups.subscription(group, topic)
            assert subscription is not None
            assert subscription.sub_string == "*"
            stats_list = await admin.brokers.consume_stats(address)
            assert any(group in one for one in stats_list.consume_stats_list or ())

            message = await admin.messages.by_offset_id(topic, sent.offset_msg_id or "")
            (track,) = [
                t for t in await message_tracks(admin, message) if t.consumer_group == group
            ]
            assert track.track_type is TrackType.CONSUMED
            result = await admin.messages.consume_directly(
                group, client.client_id, topic, sent.msg_id
            )
            assert result is not None
            assert result.consume_result == CMResult.CR_SUCCESS
            assert seen == [b"seen", b"seen"]
            await admin.messages.send_back(message, group, delay_level=1)
            await until(lambda: len(seen) >= 3)

    async def is_offline() -> bool:
        try:
            await admin.consumers.connection(group)
        except BrokerError as error:
            return error.code == ResponseCode.CONSUMER_NOT_ONLINE
        return False

    await eventually(is_offline)

    async def is_traced() -> bool:
        found = await admin.messages.trace(sent.msg_id)
        return [one.trace_type for one in found] == ["Pub"] and found[0].group_name == producers

    await eventually(is_traced)


@pytest.mark.full
async def test_a_master_and_its_slave_tell_of_replication_and_clean_up(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    slave = java_cluster.slave()

    async def is_connected() -> bool:
        return len((await admin.brokers.ha_status(address)).ha_connection_info or ()) == 1

    await eventually(is_connected)
    status = await admin.brokers.ha_status(address)
    assert status.master
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
    assert await admin.brokers.timer_metrics(address) is not None

    async def is_told() -> bool:
        for one in both:  # a master takes no notice
            await admin.brokers.reset_master_flush_offset(one, 123_456_789_012)
        seen = (await admin.brokers.ha_status(slave.address)).ha_client_runtime_info
        return seen is not None and seen.master_flush_offset == 123_456_789_012

    await eventually(is_told)


async def test_write_permission_is_taken_and_given_back(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    topic = await create_topic(admin.client, unique("perm"))

    async def perms() -> set[int]:
        return {one.perm for one in (await admin.clusters.route(topic)).queue_datas or ()}

    async def is_taken_and_given_back() -> bool:
        """Unless its broker registers anew in between, which other tests' topics are a reason for."""
        try:
            wiped = await admin.name_servers.wipe_write_perm("broker-a")
            taken = await perms()
        finally:
            given = await admin.name_servers.add_write_perm("broker-a")
        assert wiped[java_cluster.address] > 0
        return (taken, await perms()) == ({4}, {6}) and given == wiped

    await eventually(is_taken_and_given_back)


@pytest.mark.full
async def test_a_static_topic_is_created_grows_and_moves_to_another_broker(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    second = java_cluster.broker("broker-b")
    topic = unique("static")
    await admin.static_topics.create_or_update(topic, 2, ["broker-a"])
    await admin.static_topics.create_or_update(topic, 3, ["broker-a"])
    configs = await admin.static_topics.configs(topic)
    assert set(configs) == {"broker-a", "broker-b"}
    assert configs["broker-a"].write_queue_nums == 3

    async def is_routed(owner: str) -> bool:
        route = await admin.clusters.route(topic)
        infos = route.topic_queue_mapping_by_broker or {}
        return len(infos[owner].curr_id_map or {}) == 3

    await eventually(lambda: is_routed("broker-a"))
    async with open_producer(
        patient(namesrv_addr=java_cluster.address), unique("p"), SLOW
    ) as producer:
        for number in range(6):
            await producer.send(Message(topic, b"%d" % number))
    before = await admin.static_topics.stats(topic)
    assert sum(one.max_offset for one in before.values()) == 6

    plan = await admin.static_topics.remap(topic, ["broker-b"])
    assert (plan.broker_to_map_in, plan.broker_to_map_out) == (("broker-b",), ("broker-a",))
    await eventually(lambda: is_routed("broker-b"))
    after = await admin.static_topics.stats(topic)
    assert {one.max_offset for one in after.values()} == {10_000}
    async with open_producer(
        patient(namesrv_addr=java_cluster.address), unique("p"), SLOW
    ) as producer:
        stored = await producer.send(Message(topic, b"moved"))
    assert stored.queue_offset == 10_000
    table = (await admin.topics.stats_of(second.address, topic)).offset_table or {}
    assert sum(one.max_offset for one in table.values()) == 1


async def test_lite_topics_and_pops_tell_numbers(java_cluster: JavaCluster, admin: Admin) -> None:
    address = java_cluster.master.address
    topic, group = unique("lite"), unique("g")
    config = TopicConfig(topic_name=topic, attributes={"message.type": "LITE"})
    await admin.topics.create_or_update(config, broker=address)
    lite_group = SubscriptionGroupConfig(group_name=group, attributes={"lite.bind.topic": topic})
    await admin.groups.create_or_update(lite_group, broker=address)

    assert (await admin.lite.of_broker(address)).store_type
    assert (await admin.lite.parent(address, topic)).topic == topic
    assert (await admin.lite.group(address, group)).group == group
    assert await admin.lite.polling_num(address, group, topic) == 0
    with pytest.raises(BrokerError):
        await admin.lite.parent(address, unique("no-such"))


async def test_numbers_of_a_topic_are_counted(java_cluster: JavaCluster, admin: Admin) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("stats"))
    await send(admin.client, topic, numbered(3))
    found = await admin.brokers.stats(address, "TOPIC_PUT_NUMS", topic)
    assert found.stats_day is not None
    with pytest.raises(BrokerError):
        await admin.brokers.stats(address, "TOPIC_PUT_NUMS", unique("none"))
    assert await admin.brokers.cold_data_info(address)
    for limit, before in ((1000, None), (2000, 1000), (None, 2000)):
        (change,) = await admin.brokers.set_cold_data_limit(address, "some-group", limit)
        assert (change.before, change.after) == (before, limit)

"""Cases A01 to A08 and A17: operators' calls about topics, groups, offsets, brokers and name servers, compared with Java's mqadmin."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client.admin import NOW, Admin, open_admin
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ClusterNotFoundError, TopicRouteNotFoundError
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import TopicConfig
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


CLUSTER = "DefaultCluster"


@pytest.fixture
async def admin(java_cluster: JavaCluster) -> AsyncGenerator[Admin]:
    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as made:
        yield made


class Mqadmin:
    """Java's own, for comparison."""

    def __init__(self, cluster: JavaCluster, peer: JavaPeer) -> None:
        self._cluster = cluster
        self._peer = peer

    async def __call__(self, line: str) -> str:
        output = await trio.to_thread.run_sync(self._peer.admin, self._cluster.address, line)
        return output.out + output.err


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Mqadmin:
    return Mqadmin(java_cluster, java_peer)


def rows(output: str, *, of: str) -> set[tuple[str, ...]]:
    """The words of the lines of a table that begin with a word."""
    return {tuple(line.split()) for line in output.splitlines() if line.startswith(of)}


async def test_a01_a_topic_is_created_changed_and_deleted(
    java_cluster: JavaCluster, admin: Admin, mqadmin: Mqadmin
) -> None:
    topic = unique("a01")
    address = java_cluster.master.address
    config = TopicConfig(
        topic_name=topic,
        read_queue_nums=5,
        write_queue_nums=3,
        attributes={"message.type": "NORMAL"},
    )

    async def queues() -> tuple[int, int, int]:
        (one,) = list((await admin.clusters.route(topic)).queue_datas or ())
        return one.read_queue_nums, one.write_queue_nums, one.perm

    async def becomes(wanted: tuple[int, int, int]) -> None:
        async def is_so() -> bool:
            return await queues() == wanted

        await eventually(is_so)

    assert await admin.topics.create_or_update(config, cluster=CLUSTER) == (address,)
    await becomes((5, 3, 6))
    told = await mqadmin(f"topicRoute -t {topic}")
    assert '"readQueueNums":5' in re.sub(r"\s", "", told)
    assert '"writeQueueNums":3' in re.sub(r"\s", "", told)
    assert (await admin.topics.config(address, topic)).attributes == {"message.type": "NORMAL"}
    assert topic in await admin.topics.names()
    assert topic in await admin.topics.names(CLUSTER)
    assert await admin.clusters.of_topics(topic) == (CLUSTER,)
    assert CLUSTER in await mqadmin(f"topicClusterList -t {topic}")

    (change,) = await admin.topics.update({topic: lambda old: replace(old, perm=4)}, broker=address)
    assert change.before == replace(change.after or config, perm=6)
    await becomes((5, 3, 4))
    assert (await admin.topics.config(address, topic)).attributes == {"message.type": "NORMAL"}
    removal = TopicConfig(topic_name=topic, attributes={"-message.type": ""})
    await admin.topics.create_or_update(removal, broker=address)
    await becomes((16, 16, 6))
    assert (await admin.topics.config(address, topic)).attributes == {}

    await admin.topics.delete(topic, CLUSTER)
    with pytest.raises(TopicRouteNotFoundError):
        await admin.clusters.route(topic)
    with pytest.raises(BrokerError) as gone:
        await admin.topics.config(address, topic)
    assert gone.value.code == ResponseCode.TOPIC_NOT_EXIST
    assert "No topic route" in await mqadmin(f"topicRoute -t {topic}")


async def test_a01_several_topics_are_created_in_one_request(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    names = [unique("a01-list") for _ in range(3)]
    address = java_cluster.master.address
    new = TopicConfig(read_queue_nums=2)
    await admin.topics.update(dict.fromkeys(names, lambda topic: topic), new=new, broker=address)

    found = await admin.topics.configs(address)
    assert [found[name].read_queue_nums for name in names] == [2, 2, 2]
    assert "TBW102" in await admin.topics.system_names(address)


@pytest.mark.parametrize("topic", ["TBW102", "SCHEDULE_TOPIC_XXXX", "a b"])
async def test_a02_a_name_of_the_systems_is_refused(
    java_cluster: JavaCluster, admin: Admin, topic: str
) -> None:
    with pytest.raises(BrokerError) as refused:
        await admin.topics.create_or_update(
            TopicConfig(topic_name=topic),
            broker=java_cluster.master.address,
            force=True,  # delayed messages of other tests may be in it
        )
    assert refused.value.code == ResponseCode.INVALID_PARAMETER


async def test_a_cluster_that_nobody_knows_is_told(admin: Admin) -> None:
    with pytest.raises(ClusterNotFoundError, match="nowhere"):
        await admin.topics.create_or_update(TopicConfig(topic_name="a"), cluster="nowhere")


async def test_a03_the_queues_of_an_ordered_topic_are_kept_and_told_in_its_route(
    java_cluster: JavaCluster, admin: Admin, mqadmin: Mqadmin
) -> None:
    topic = unique("a03")
    config = TopicConfig(topic_name=topic, order=True)
    await admin.topics.create_or_update(config, broker=java_cluster.master.address)

    assert await admin.topics.order_conf(topic) is None
    (put,) = await admin.topics.put_order_conf(topic, "broker-a:4;broker-b:2")
    assert (put.before, put.after) == (None, "broker-a:4;broker-b:2")
    (put,) = await admin.topics.put_order_conf(topic, "broker-a:8", whole=False)
    changed = "broker-a:8;broker-b:2"
    assert (put.before, put.after) == ("broker-a:4;broker-b:2", changed)
    assert changed in await mqadmin(f"updateOrderConf -t {topic} -m get")
    name_servers = admin.name_servers
    try:
        await name_servers.update_configs({"orderMessageEnable": "true"})

        async def is_told() -> bool:
            return (await admin.clusters.route(topic)).order_topic_conf == changed

        await eventually(is_told)
    finally:
        await name_servers.update_configs({"orderMessageEnable": "false"})
    await admin.topics.delete_order_conf(topic)
    assert await admin.topics.order_conf(topic) is None


async def test_a05_offsets_of_queues_and_groups_are_what_mqadmin_prints(
    admin: Admin, mqadmin: Mqadmin
) -> None:
    topic = await create_topic(admin.client, unique("a05"), queues=2)
    group, other = unique("g"), unique("other")
    await send(admin.client, topic, numbered(6), queue_id=1)
    for name in (group, other):
        await admin.groups.create_or_update(
            SubscriptionGroupConfig(group_name=name), cluster=CLUSTER
        )
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=1)
    (address,) = await admin.clusters.masters(CLUSTER)
    await admin.client.brokers.update_consumer_offset(address, group, queue, 2)

    stats = await admin.topics.stats(topic)
    printed = rows(await mqadmin(f"topicStatus -t {topic}"), of="broker-a")
    ours = {
        (q.broker_name, str(q.queue_id), str(one.min_offset), str(one.max_offset))
        for q, one in (stats.offset_table or {}).items()
    }
    assert ours == {row[:4] for row in printed}
    assert ("broker-a", "1", "0", "6") in ours

    progress = await admin.consumers.stats(group, topic)
    table = progress.offset_table or {}
    printed = rows(await mqadmin(f"consumerProgress -g {group} -t {topic}"), of=topic)
    assert {
        (topic, "broker-a", str(q.queue_id), str(w.broker_offset), str(w.consumer_offset))
        for q, w in table.items()
    } == {row[:5] for row in printed}
    assert (table[queue].broker_offset, table[queue].consumer_offset) == (6, 2)

    ends = await admin.offsets.of_queues(topic)
    assert ends[queue][:2] == (0, 6)
    assert ends[queue].earliest_store_time > 0
    first = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
    assert await admin.offsets.copy(group, other, topic) == {first: 0, queue: 2}
    assert await admin.client.brokers.consumer_offset(address, other, queue) == 2
    assert (await admin.offsets.all_of_broker(address))[f"{topic}@{other}"][1] == 2


async def test_a06_topics_and_groups_come_in_pages_and_none_is_missing(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    groups = [unique("a06") for _ in range(7)]
    new = SubscriptionGroupConfig(retry_max_times=3)
    await admin.groups.update(dict.fromkeys(groups, lambda group: group), new=new, broker=address)

    whole = await admin.groups.configs(address)
    assert set(groups) <= set(whole)
    assert {whole[name].retry_max_times for name in groups} == {3}
    size = -(-len(whole) // 3)
    assert set(await admin.groups.configs(address, page_size=size)) == set(whole)
    one_short = (len(whole) - 1) // 2  # the last page holds one entry where that number is even
    assert set(await admin.groups.configs(address, page_size=one_short)) == set(whole)
    topics = await admin.topics.configs(address)
    for pages in (3, len(topics) - 1):
        page_size = max(len(topics) // pages, 1)
        assert set(await admin.topics.configs(address, page_size=page_size)) == set(topics)


async def test_a07_offsets_are_reset_by_time_by_queue_and_for_a_group_that_is_away(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("a07"), queues=1)
    group = unique("g")
    await send(admin.client, topic, numbered(5), queue_id=0)
    await admin.groups.create_or_update(SubscriptionGroupConfig(group_name=group), broker=address)
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)

    async def offset() -> int | None:
        return await admin.client.brokers.consumer_offset(address, group, queue)

    assert await admin.offsets.reset_by_time(group, topic, NOW) == {queue: 5}
    assert await admin.offsets.reset_by_time(group, topic, 0) == {queue: 0}
    assert await admin.offsets.reset_queue(address, group, queue, 3) == {queue: 3}
    assert await offset() == 3
    assert await admin.offsets.skip_accumulated(group, topic) == {queue: 5}

    other = unique("never-there")
    await admin.groups.create_or_update(SubscriptionGroupConfig(group_name=other), broker=address)
    (rolled,) = await admin.offsets.reset_by_time_old(other, topic, 0)
    assert (rolled.rollback_offset, rolled.broker_offset) == (0, 5)
    (rolled,) = await admin.offsets.reset_by_time_old(other, topic, NOW, force=False)
    assert (rolled.timestamp_offset, rolled.rollback_offset) == (5, 0)
    with pytest.raises(BrokerError):
        await admin.offsets.reset_queue(address, group, queue, 99)


async def test_a08_key_value_configuration_is_kept_by_every_name_server(
    admin: Admin, mqadmin: Mqadmin
) -> None:
    space = unique("a08")
    await admin.name_servers.put_kv(space, "colour", "green")
    await mqadmin(f"updateKvConfig -s {space} -k size -v large")
    assert await admin.name_servers.kv_value(space, "size") == "large"
    assert await admin.name_servers.kv_namespace(space) == {"colour": "green", "size": "large"}
    await admin.name_servers.delete_kv(space, "colour")
    assert await admin.name_servers.kv_value(space, "colour") is None
    assert await admin.name_servers.kv_namespace(space + "-none") == {}


async def test_groups_are_configured_forbidden_switched_to_pop_and_deleted(
    java_cluster: JavaCluster, admin: Admin, mqadmin: Mqadmin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("groups"))
    group = unique("g")
    config = SubscriptionGroupConfig(
        group_name=group, retry_max_times=2, consume_message_orderly=True
    )
    assert await admin.groups.create_or_update(config, cluster=CLUSTER) == (address,)
    assert (await admin.groups.config(address, group)).consume_message_orderly
    told = re.sub(r"\s", "", await mqadmin(f"getConsumerConfig -g {group}"))
    assert "retryMaxTimes=2" in told

    await admin.groups.set_request_mode(
        group, topic, MessageRequestMode.POP, pop_share_queue_num=2, cluster=CLUSTER
    )
    modes = await admin.groups.request_modes(address)
    assert modes[topic][group].mode == MessageRequestMode.POP
    assert modes[topic][group].pop_share_queue_num == 2

    assert (await admin.groups.read_forbidden(address, group, topic)).readable is not False
    forbidden = await admin.groups.read_forbidden(address, group, topic, readable=False)
    assert forbidden.readable is False

    await admin.groups.delete(group, cluster=CLUSTER, clean_offset=True)
    assert group not in await admin.groups.configs(address)
    with pytest.raises(BrokerError) as refused:
        await admin.groups.create_or_update(
            SubscriptionGroupConfig(group_name="a b"), broker=address
        )
    assert refused.value.code == ResponseCode.INVALID_PARAMETER

"""Operators' calls about topics, groups, offsets and messages (A01 to A08, A17) that no command of ``rocketwire-admin`` makes."""

import pytest

from rocketwire.client import LocalTransactionState, Message, open_producer
from rocketwire.client.admin import Admin
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import QueryCorrectionOffsetHeader
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.policy.resource_names import retry_topic
from tests.java.admin.commands import CLUSTER
from tests.peers.client_settings import patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"


@pytest.fixture
def broker(java_cluster: JavaCluster) -> str:
    return java_cluster.master.address


def queue_of(topic: str, queue_id: int = 0) -> MessageQueue:
    return MessageQueue(topic=topic, broker_name="broker-a", queue_id=queue_id)


async def create_group(admin: Admin, name: str) -> str:
    await admin.groups.create_or_update(SubscriptionGroupConfig(group_name=name), cluster=CLUSTER)
    return name


async def commit_offsets(admin: Admin, broker: str, topic: str, **offsets: int) -> None:
    for group, offset in offsets.items():
        await create_group(admin, group)
        await admin.client.brokers.update_consumer_offset(broker, group, queue_of(topic), offset)


async def read_offset(admin: Admin, broker: str, topic: str, group: str) -> int | None:
    return (await admin.offsets.all_of_broker(broker)).get(f"{topic}@{group}", {}).get(0)


# ---- topics and groups


async def test_a03_an_order_is_in_the_route_of_its_topic(broker: str, admin: Admin) -> None:
    topic, order = unique("a03"), "broker-a:8;broker-b:2"
    await admin.topics.create_or_update(TopicConfig(topic_name=topic, order=True), broker=broker)
    await admin.topics.put_order_conf(topic, order)
    try:
        await admin.name_servers.update_configs({"orderMessageEnable": "true"})

        async def is_routed() -> bool:
            return (await admin.clusters.route(topic)).order_topic_conf == order

        await eventually(is_routed)
    finally:
        await admin.name_servers.update_configs({"orderMessageEnable": "false"})


async def test_a06_pages_of_topics_and_groups_are_complete(broker: str, admin: Admin) -> None:
    groups = [unique("a06") for _ in range(7)]
    new = SubscriptionGroupConfig(retry_max_times=3)
    await admin.groups.update(dict.fromkeys(groups, lambda group: group), new=new, broker=broker)

    configs = await admin.groups.configs(broker)
    assert {configs[name].retry_max_times for name in groups} == {3}
    # the last page holds one entry where the number of groups without one is even
    for size in (-(-len(configs) // 3), (len(configs) - 1) // 2):
        assert set(await admin.groups.configs(broker, page_size=size)) == set(configs)
    topics = await admin.topics.configs(broker)
    for pages in (3, len(topics) - 1):
        size = max(len(topics) // pages, 1)
        assert set(await admin.topics.configs(broker, page_size=size)) == set(topics)
    assert "TBW102" in await admin.topics.system_names(broker)


async def test_a_group_is_forbidden_to_read_and_deleted(broker: str, admin: Admin) -> None:
    topic = await create_topic(admin.client, unique("groups"))
    group = await create_group(admin, unique("g"))
    assert (await admin.groups.read_forbidden(broker, group, topic)).readable is not False
    forbidden = await admin.groups.read_forbidden(broker, group, topic, readable=False)
    assert forbidden.readable is False

    await admin.groups.delete(group, cluster=CLUSTER, clean_offset=True)
    assert group not in await admin.groups.configs(broker)
    with pytest.raises(BrokerError) as refused:
        await create_group(admin, "a b")
    assert refused.value.code == ResponseCode.INVALID_PARAMETER


# ---- offsets


async def test_a_broker_clones_the_offsets_of_a_group(broker: str, admin: Admin) -> None:
    source, target, second_target = unique("from"), unique("to"), unique("second")
    topics = [await create_topic(admin.client, unique("clone")) for _ in range(2)]
    await create_topic(admin.client, retry_topic(source), queues=1)
    for topic in topics:
        await send(admin.client, topic, numbered(3), queue_id=0)
        await commit_offsets(admin, broker, topic, **{source: 2})

    assert await admin.offsets.clone(source, target, topics[0]) == (broker,)
    assert await read_offset(admin, broker, topics[0], target) == 2
    assert await read_offset(admin, broker, topics[1], target) is None
    await admin.offsets.clone(source, second_target)
    offsets = [await read_offset(admin, broker, topic, second_target) for topic in topics]
    assert offsets == [2, 2]


async def test_the_lowest_offset_of_all_groups_is_read(broker: str, admin: Admin) -> None:
    topic = await create_topic(admin.client, unique("corrections"))
    await send(admin.client, topic, numbered(5), queue_id=0)
    low, high = unique("low"), unique("high")
    await commit_offsets(admin, broker, topic, **{low: 1, high: 4})
    assert await admin.offsets.corrections(broker, topic, high) == {0: 1}

    # ``corrections`` takes no groups to leave out, because a broker deletes their offsets
    header = QueryCorrectionOffsetHeader(topic=topic, compare_group=high, filter_groups=low)
    answer = await admin.offsets.ask(broker, RequestCode.QUERY_CORRECTION_OFFSET, header)
    assert answer.body.correction_offsets == {0: 4}
    assert await read_offset(admin, broker, topic, low) is None


async def test_progress_of_delayed_messages_is_read(broker: str, admin: Admin) -> None:
    topic = await create_topic(admin.client, unique("delays"))
    async with open_producer(admin.client, unique("p"), patient_producer()) as producer:
        await producer.send(Message(topic, b"later", delay_level=1))

    async def is_delivered() -> bool:
        return (await admin.offsets.delays(broker)).get(1, -1) >= 0

    await eventually(is_delivered)
    assert await admin.brokers.timer_metrics(broker) is not None


# ---- messages


async def test_a_half_message_is_checked_again(broker: str, admin: Admin) -> None:
    topic = await create_topic(admin.client, unique("half"))
    async with open_producer(
        admin.client, unique("p"), patient_producer(), check=lambda _: LocalTransactionState.UNKNOW
    ) as producer:
        ended = await producer.send_in_transaction(
            Message(topic, b"half"), lambda _message, _result: LocalTransactionState.UNKNOW
        )
        half = ended.send_result.offset_msg_id
        assert (await admin.messages.by_offset_id(HALF_TOPIC, half)).topic == HALF_TOPIC

        async def count_halves() -> int:
            table = (await admin.topics.stats_of(broker, HALF_TOPIC)).offset_table or {}
            return sum(offsets.max_offset for offsets in table.values())

        count = await count_halves()
        assert await admin.messages.resume_half(HALF_TOPIC, half)

        async def is_back() -> bool:
            return await count_halves() > count

        await eventually(is_back)
    assert not await admin.messages.resume_half(topic, "0" * 32)

"""Rare operators' calls with a broker of 5.5.0, whose effect differs from its response for some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.client import LocalTransactionState, Message, open_producer
from rocketwire.client.admin import Admin, open_admin
from rocketwire.codes import RequestCode
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import QueryCorrectionOffsetHeader
from rocketwire.policy.resource_names import retry_topic
from tests.java.admin.commands import CLUSTER
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, eventually, numbered, send, unique

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.peers.cluster import JavaCluster


HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
SLOW = patient_producer()


@pytest.fixture
async def admin(java_cluster: JavaCluster) -> AsyncGenerator[Admin]:
    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as made:
        yield made


async def commit(admin: Admin, address: str, topic: str, **offsets: int) -> None:
    """Groups that have come so far in the first queue of a topic."""
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
    for group, offset in offsets.items():
        await admin.groups.create_or_update(
            SubscriptionGroupConfig(group_name=group), cluster=CLUSTER
        )
        await admin.client.brokers.update_consumer_offset(address, group, queue, offset)


async def offset_of(admin: Admin, address: str, topic: str, group: str) -> int | None:
    return (await admin.offsets.all_of_broker(address)).get(f"{topic}@{group}", {}).get(0)


async def test_a_broker_gives_one_group_the_offsets_of_another(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    source, target, other = unique("from"), unique("to"), unique("other")
    topics = [await create_topic(admin.client, unique("clone")) for _ in range(2)]
    await create_topic(admin.client, retry_topic(source), queues=1)
    for topic in topics:
        await send(admin.client, topic, numbered(3), queue_id=0)
        await commit(admin, address, topic, **{source: 2})

    assert await admin.offsets.clone(source, target, topics[0]) == (address,)
    assert await offset_of(admin, address, topics[0], target) == 2
    assert await offset_of(admin, address, topics[1], target) is None
    await admin.offsets.clone(source, other)
    assert [await offset_of(admin, address, topic, other) for topic in topics] == [2, 2]


async def test_lowest_offset_of_all_groups_and_filtered_groups_lose_theirs(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("corrections"))
    await send(admin.client, topic, numbered(5), queue_id=0)
    low, high = unique("low"), unique("high")
    await commit(admin, address, topic, **{low: 1, high: 4})
    assert await admin.offsets.corrections(address, topic, high) == {0: 1}

    # why ``corrections`` takes no groups to leave out
    header = QueryCorrectionOffsetHeader(topic=topic, compare_group=high, filter_groups=low)
    answer = await admin.offsets.ask(address, RequestCode.QUERY_CORRECTION_OFFSET, header)
    assert answer.body.correction_offsets == {0: 4}
    assert await offset_of(admin, address, topic, low) is None


async def test_how_far_delays_have_been_delivered_is_told(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    topic = await create_topic(admin.client, unique("delays"))
    async with open_producer(admin.client, unique("p"), SLOW) as producer:
        await producer.send(Message(topic, b"later", delay_level=1))

    async def is_told() -> bool:
        return (await admin.offsets.delays(java_cluster.master.address)).get(1, -1) >= 0

    await eventually(is_told)
    assert await admin.brokers.timer_metrics(java_cluster.master.address) is not None


async def test_a_half_message_is_put_back_to_be_checked_again(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    topic = await create_topic(admin.client, unique("half"))
    async with open_producer(
        admin.client, unique("p"), SLOW, check=lambda _: LocalTransactionState.UNKNOW
    ) as producer:
        ended = await producer.send_in_transaction(
            Message(topic, b"half"), lambda _message, _result: LocalTransactionState.UNKNOW
        )
        half = ended.send_result.offset_msg_id
        assert (await admin.messages.by_offset_id(HALF_TOPIC, half)).topic == HALF_TOPIC

        async def halves() -> int:
            table = (await admin.topics.stats_of(address, HALF_TOPIC)).offset_table or {}
            return sum(one.max_offset for one in table.values())

        before = await halves()
        assert await admin.messages.resume_half(HALF_TOPIC, half)

        async def is_back() -> bool:
            return await halves() > before

        await eventually(is_back)
    assert not await admin.messages.resume_half(topic, "0" * 32)


async def test_pops_are_written_back_and_files_read_ahead(
    java_cluster: JavaCluster, admin: Admin
) -> None:
    address = java_cluster.master.address
    await admin.lite.export_pop_records(address)
    assert "mode: 0" in (await admin.brokers.set_read_ahead_mode(address, "0") or "")

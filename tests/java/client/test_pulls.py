"""Cases C02, C03, C07 to C12: single pulls and start offsets, at a real Java broker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.offset_store import RemoteBrokerOffsetStore
from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.rebalance import find_initial_offset
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, numbered, send, unique

if TYPE_CHECKING:
    from rocketwire.client.consumer.pull import PullResult
    from tests.peers.cluster import JavaCluster


def queue(topic: str, queue_id: int = 0) -> MessageQueue:
    return MessageQueue(topic=topic, broker_name="broker-a", queue_id=queue_id)


def request(topic: str, offset: int, group: str = "pulls", **more: Any) -> PullRequest:
    settings: dict[str, Any] = {"suspend_timeout": 0.0, "send_subscription": True, **more}
    return PullRequest(
        queue=queue(topic),
        offset=offset,
        group=group,
        subscription=subscription_data(topic, version=0),
        **settings,
    )


async def test_c02_a_new_group_starts_at_0_in_a_young_topic_unless_it_asks_not_to(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c02"))
        await send(client, topic, numbered(3), queue_id=0)
        address, group = await client.master("broker-a"), unique("g")

        told = await RemoteBrokerOffsetStore(client, group).fetch(queue(topic))
        asked = await client.brokers.consumer_offset(
            address, group, queue(topic), zero_if_not_found=False
        )

        assert (told, asked) == (0, None)


async def test_c03_a_group_without_offsets_begins_first_last_or_at_a_time(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c03"))
        await send(client, topic, numbered(3), queue_id=0)
        await trio.sleep(0.05)
        between = round(time.time() * 1000)
        await trio.sleep(0.05)
        await send(client, topic, numbered(2), queue_id=0)
        where = ConsumeFromWhere
        begun = [
            await find_initial_offset(client, queue(topic), where.CONSUME_FROM_FIRST_OFFSET),
            await find_initial_offset(client, queue(topic), where.CONSUME_FROM_LAST_OFFSET),
            await find_initial_offset(client, queue(topic), where.CONSUME_FROM_TIMESTAMP, between),
        ]

        assert begun == [0, 5, 3]


async def test_c07_a_pull_at_the_end_is_held_until_a_message_comes_or_time_is_up(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c07"))
        (sent,) = await send(client, topic, numbered(1), queue_id=0)
        end = (sent.queue_offset or 0) + 1
        calls = PullCalls(client)
        results: list[tuple[PullResult, float]] = []

        async def pull(wanted: PullRequest) -> None:
            started = trio.current_time()
            result = await calls.pull(wanted)
            results.append((result, trio.current_time() - started))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pull, request(topic, end, suspend_timeout=100.0))
            await trio.sleep(1)
            before = list(results)
            await send(client, topic, numbered(1), queue_id=0)
        ((found, seconds),) = results

        assert before == []
        assert found.status is PullStatus.FOUND
        assert seconds < 90  # because of the message, not because time was up

        started = trio.current_time()
        nothing = await calls.pull(request(topic, end + 1, suspend_timeout=1.0))

        assert nothing.status is PullStatus.NO_NEW_MSG
        assert trio.current_time() - started >= 1


async def test_c08_an_offset_outside_the_queue_is_illegal_and_the_answer_says_where_to_go_on(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c08"))
        await send(client, topic, numbered(3), queue_id=0)
        calls = PullCalls(client)
        below = await calls.pull(request(topic, -1))
        beyond = await calls.pull(request(topic, 103))

        assert (below.status, below.next_begin_offset) == (PullStatus.OFFSET_ILLEGAL, 0)
        assert (beyond.status, beyond.next_begin_offset) == (PullStatus.OFFSET_ILLEGAL, 3)


async def test_c12_big_messages_come_in_pages_of_256_kib(java_cluster: JavaCluster) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c12"))
        await send(client, topic, [b"x" * 102_400] * 6, queue_id=0)
        calls, offset, pages = PullCalls(client), 0, list[int]()
        while offset < 6:
            page = await calls.pull(request(topic, offset))
            pages.append(len(page.messages))
            offset = page.next_begin_offset

        assert sum(pages) == 6
        assert max(pages) <= 2


async def test_c23_a_lite_pull_is_a_code_of_its_own(java_cluster: JavaCluster) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("lite"))
        await send(client, topic, numbered(2), queue_id=0)
        result = await PullCalls(client).pull(request(topic, 0, lite=True))

        assert [message.body for message in result.messages] == numbered(2)

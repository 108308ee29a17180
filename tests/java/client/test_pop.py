"""Cases C23 to C29: popped messages, and lite pulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    PushConsumerConfig,
    open_client,
)
from rocketwire.client.consumer.lite.lite_pull_consumer import open_lite_pull_consumer
from rocketwire.client.consumer.lite.lite_pull_state import LitePullConsumerConfig
from rocketwire.client.consumer.pop.pop import InitMode, PopCalls, PopStatus, with_handle
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.client.consumer.rebalance import Rebalance
from rocketwire.errors import BrokerError, LocalProtocolError
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from tests.java.client.pop_consumer_process import messages_acknowledged_together_are_gone
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.messages import create_topic, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


async def popped(
    calls: PopCalls, topic: str, count: int, *, invisible: float = 30.0, orderly: bool = False
) -> list[StoredMessage]:
    """So many messages, from however many pops."""
    found: list[StoredMessage] = []
    with trio.fail_after(120):
        while len(found) < count:
            result = await calls.pop(
                topic,
                "broker-a",
                invisible_time=invisible,
                poll_time=2.0,
                init_mode=InitMode.MIN,
                orderly=orderly,
                queue_id=0 if orderly else -1,
            )
            found += result.messages
    return found


async def left(calls: PopCalls, topic: str, seconds: float = 1.0) -> list[bytes | None]:
    """What a last pop brings."""
    result = await calls.pop(topic, "broker-a", poll_time=seconds, init_mode=InitMode.MIN)
    return [message.body for message in result.messages]


async def filled(client: ClientInstance, count: int, queues: int = 1) -> str:
    topic = await create_topic(client, unique("pop"), queues=queues)
    await send(client, topic, numbered(count), queue_id=0)
    return topic


async def test_c24_c25_a_popped_message_is_hidden_and_comes_back_unless_it_is_acknowledged(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        for seconds in (
            5.0,
            20.0,
            60.0,
        ):  # the first but on a machine that takes longer for all this
            started = trio.current_time()
            topic, calls = await filled(client, 2), PopCalls(client, unique("g"))
            first, second = await popped(calls, topic, 2, invisible=seconds)
            shown = await left(calls, topic)
            await calls.ack(first)
            if trio.current_time() - started < seconds:
                break
        assert shown == []

        (again,) = await popped(calls, topic, 1)
        await calls.ack(again)

        assert (again.body, again.reconsume_times, again.topic) == (second.body, 1, topic)


async def test_c26_hiding_a_message_for_longer_makes_its_old_handle_worthless(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, calls = await filled(client, 2), PopCalls(client, unique("g"))
        first, second = await popped(calls, topic, 2, invisible=60)
        for message in (first, second):
            handle = await calls.change_invisible_time(message, 30 if message is second else 3)
            if message is second:
                await calls.ack(with_handle(message, handle))
            else:
                await calls.ack(message)  # the broker agrees, and it means nothing
        (again,) = await popped(calls, topic, 1)

        assert again.body == first.body


async def test_c27_acknowledgements_of_one_pop_travel_together(java_cluster: JavaCluster) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, calls = await filled(client, 10), PopCalls(client, unique("g"))
        messages = await popped(calls, topic, 10, invisible=60)
        await calls.batch_ack([messages[0], messages[3], messages[9]])
        others = [messages[number] for number in (1, 2, 4, 5, 6, 7, 8)]
        for message in others:  # so that nobody has to wait for a minute
            await calls.change_invisible_time(message, 1)
        back = await popped(calls, topic, 7)

        expected = [message.body for message in others]
        assert sorted(one.body or b"" for one in back) == sorted(one or b"" for one in expected)


async def test_c28_an_ordered_queue_gives_nothing_more_before_its_messages_are_acknowledged(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, calls = await filled(client, 3), PopCalls(client, unique("g"))
        first = await calls.pop(
            topic, "broker-a", queue_id=0, max_msg_nums=1, init_mode=InitMode.MIN, orderly=True
        )
        blocked = await calls.pop(
            topic, "broker-a", queue_id=0, max_msg_nums=1, poll_time=0.5, orderly=True
        )
        await calls.ack(first.messages[0])
        second = await calls.pop(topic, "broker-a", queue_id=0, max_msg_nums=1, orderly=True)

        assert [one.body for one in first.messages] == [b"0"]
        assert blocked.status is not PopStatus.FOUND
        assert [one.body for one in second.messages] == [b"1"]


async def test_c29_an_operator_sets_a_group_to_pop_and_the_broker_says_so(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, group = await filled(client, 1), unique("g")
        line = f"setConsumeMode -b {java_cluster.master.address} -t {topic} -g {group} -m POP -q 1"
        await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
        strategy = AllocateMessageQueueAveragely()
        sharing = Rebalance(client, group, MessageModel.CLUSTERING, strategy)
        async with open_lite_pull_consumer(client, group) as consumer:
            consumer.subscribe(topic)
            await client.send_heartbeats()
            assigned = await sharing.query_assignment(topic)

        assert assigned is not None
        assert {one.mode for one in assigned} == {"POP"}


async def test_a_pop_consumer_acknowledges_what_its_handler_handled_and_gets_the_rest_again(
    java_cluster: JavaCluster,
) -> None:
    seen: list[tuple[bytes | None, int]] = []

    async def listen(message: StoredMessage) -> bool:
        seen.append((message.body, message.reconsume_times))
        return message.body != b"3" or message.reconsume_times > 0

    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled(client, 6)
        async with open_pop_consumer(client, unique("g"), {topic: "*"}, listen):
            await until(lambda: len(seen) >= 7)

    assert sorted(seen) == sorted([(body, 0) for body in numbered(6)] + [(b"3", 1)])


async def test_a_group_that_goes_over_to_pop_gets_the_messages_that_a_push_consumer_sent_back(
    java_cluster: JavaCluster,
) -> None:
    sent_back: list[bytes | None] = []
    seen: list[tuple[bytes | None, str, int]] = []

    async def refuse(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        context.delay_level_when_next_consume = 3  # ten seconds, in which the consumer is closed
        sent_back.extend(message.body for message in messages)
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    async def listen(message: StoredMessage) -> None:
        seen.append((message.body, message.topic, message.reconsume_times))

    begin = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic, group = await filled(client, 2), unique("g")
        async with open_push_consumer(client, group, {topic: "*"}, refuse, config=begin):
            await until(lambda: len(sent_back) == 2)
        config = PopConsumerConfig(init_mode=InitMode.MAX)
        async with open_pop_consumer(client, group, {topic: "*"}, listen, config=config):
            await until(lambda: {(b"0", topic, 1), (b"1", topic, 1)} <= set(seen))


async def test_a_lite_pull_consumer_lets_a_broker_check_its_expression(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled(client, 1)
        async with open_lite_pull_consumer(client, unique("g")) as consumer:
            consumer.subscribe(topic, "a >", expression_type="SQL92")
            with pytest.raises(BrokerError, match="SUBSCRIPTION_PARSE_FAILED"):
                await consumer.poll(PATIENCE)
            consumer.subscribe(topic)
            await consumer.poll(0.1)


async def test_what_a_pop_consumer_acknowledges_together_is_gone_and_the_rest_comes_back(
    java_cluster: JavaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        await messages_acknowledged_together_are_gone(client, monkeypatch)


async def test_c23_a_lite_pull_consumer_subscribes_seeks_and_commits(
    java_cluster: JavaCluster,
) -> None:
    group = unique("g")
    config = LitePullConsumerConfig(
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, auto_commit=False
    )
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled(client, 5)
        async with open_lite_pull_consumer(client, group, config=config) as consumer:
            consumer.subscribe(topic)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            queue = polled.message_queue
            assert [one.body for one in polled.messages] == numbered(5)
            assert await consumer.committed(queue) in (None, 0)
            await consumer.commit()
            assert await consumer.committed(queue) == 5

            await consumer.seek(queue, 3)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            assert [one.body for one in polled.messages] == numbered(2, 3)
            with pytest.raises(LocalProtocolError, match="not between"):
                await consumer.seek(queue, 99)
            with pytest.raises(LocalProtocolError, match="either"):
                consumer.assign([queue])
        async with open_lite_pull_consumer(client, group, config=config) as consumer:
            consumer.assign(await consumer.fetch_message_queues(topic))
            await consumer.seek_to_begin(queue)
            polled = await consumer.poll(PATIENCE)
            assert polled is not None
            assert polled.messages[0].body == b"0"

"""Push consumers at a real broker (C01, C04-C06, C10, C16, C18, C22, C33-C35, C38)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    PushConsumerConfig,
)
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.messages.message_queue import MessageQueue
from tests.peers.client_settings import patient
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


class Listener:
    """Remembers what it was given.

    ``failing`` are bodies that it does not handle the first so many times.
    """

    def __init__(self, failing: dict[bytes, int] | None = None, delay_level: int = 1) -> None:
        self.messages: list[StoredMessage] = []
        self._failing = failing or {}
        self._delay_level = delay_level

    @property
    def bodies(self) -> list[bytes]:
        return [message.body or b"" for message in self.messages]

    async def __call__(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus | None:
        self.messages += messages
        for message in messages:
            if message.reconsume_times < self._failing.get(message.body or b"", 0):
                context.delay_level_when_next_consume = self._delay_level
                return ConsumeConcurrentlyStatus.RECONSUME_LATER
        return None


async def committed(client: ClientInstance, group: str, topic: str, queues: int = 4) -> list[int]:
    address = await client.master("broker-a")
    found = [
        await client.brokers.consumer_offset(
            address, group, MessageQueue(topic=topic, broker_name="broker-a", queue_id=number)
        )
        for number in range(queues)
    ]
    return [offset or 0 for offset in found]


async def test_c01_offsets_of_what_was_handled_are_with_the_broker_when_a_consumer_closes(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    listener, group = Listener(), unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c01"))
        await send(client, topic, numbered(200))
        async with open_push_consumer(client, group, {topic: "*"}, listener, config=FIRST):
            await until(lambda: len(set(listener.bodies)) == 200)
        progress = await trio.to_thread.run_sync(
            java_peer.admin, java_cluster.address, f"consumerProgress -g {group}"
        )

    assert sorted(listener.bodies) == sorted(numbered(200))
    assert "Consume Diff Total: 0" in progress.out


async def test_c04_tags_with_equal_hash_codes_are_told_apart_and_the_offset_goes_on(
    java_cluster: JavaCluster,
) -> None:
    listener, group = Listener(), unique("g")
    config = patient(namesrv_addr=java_cluster.address, persist_consumer_offset_interval=0.5)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c04"))
        await send(client, topic, numbered(5), TAGS="BBBB")
        async with open_push_consumer(client, group, {topic: "AaAa"}, listener, config=FIRST):
            await send(client, topic, [b"wanted"], queue_id=0, TAGS="AaAa")
            await until(lambda: listener.bodies == [b"wanted"])

            async def has_gone_on() -> bool:  # in queues, too, that have nothing to handle
                return sum(await committed(client, group, topic)) == 6

            await eventually(has_gone_on)
        offsets = await committed(client, group, topic)

    assert sum(offsets) == 6
    assert listener.bodies == [b"wanted"]


async def test_c05_messages_without_a_tag_are_not_among_those_of_a_tag(
    java_cluster: JavaCluster,
) -> None:
    listener = Listener()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c05"))
        await send(client, topic, [b"none"], queue_id=0)
        await send(client, topic, [b"a"], queue_id=0, TAGS="A")
        await send(client, topic, [b"c"], queue_id=0, TAGS="C")
        await send(client, topic, [b"b"], queue_id=0, TAGS="B")
        async with open_push_consumer(
            client, unique("g"), {topic: "A || B"}, listener, config=FIRST
        ):
            await until(lambda: len(listener.bodies) >= 2)

    assert sorted(listener.bodies) == [b"a", b"b"]


async def test_c06_sql92_is_the_brokers_business_and_is_checked_before_the_start(
    java_cluster: JavaCluster,
) -> None:
    listener = Listener()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c06"))
        await send(client, topic, [b"yes"], queue_id=0, a="6", b="x")
        await send(client, topic, [b"no"], queue_id=0, a="5", b="x")
        wanted = {topic: ("a > 5 AND b = 'x'", "SQL92")}
        async with open_push_consumer(client, unique("g"), wanted, listener, config=FIRST):
            await until(lambda: listener.bodies == [b"yes"])
            await send(client, topic, [b"too"], queue_id=0, a="7", b="x")
            await until(lambda: listener.bodies == [b"yes", b"too"])
        with pytest.raises(BrokerError) as refused:
            async with open_push_consumer(client, unique("g"), {topic: ("a >", "SQL92")}, listener):
                pass

    assert refused.value.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED


async def test_c16_a_message_that_nobody_handles_comes_back_and_ends_among_the_dead_letters(
    java_cluster: JavaCluster,
) -> None:
    listener, group = Listener({b"bad": 99}), unique("g")
    config = PushConsumerConfig(
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, max_reconsume_times=1
    )
    dead = Listener()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c16"))
        await send(client, topic, [b"bad", b"good"], queue_id=0)
        async with open_push_consumer(client, group, {topic: "*"}, listener, config=config):
            await until(lambda: listener.bodies.count(b"bad") >= 2)
            again = next(one for one in listener.messages if one.reconsume_times == 1)

            async def is_dead() -> bool:
                return bool((await client.name_servers.route(f"%DLQ%{group}")).queue_datas)

            await eventually(is_dead)
        async with open_push_consumer(
            client, unique("dead"), {f"%DLQ%{group}": "*"}, dead, config=FIRST
        ):
            await until(lambda: set(dead.bodies) == {b"bad"})

    assert again.topic == topic
    assert (again.properties or {})["ORIGIN_MESSAGE_ID"]
    assert listener.bodies.count(b"good") == 1


async def test_c18_a_message_whose_handler_does_not_end_is_sent_back(
    java_cluster: JavaCluster,
) -> None:
    seen = list[int]()

    async def listen(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> None:
        del context
        seen.append(messages[0].reconsume_times)
        if not messages[0].reconsume_times:
            await trio.sleep_forever()

    config = PushConsumerConfig(
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
        consume_timeout=1.0,
        await_termination=0.0,
    )
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("c18"))
        await send(client, topic, [b"slow"], queue_id=0)
        async with open_push_consumer(client, unique("g"), {topic: "*"}, listen, config=config):
            await until(lambda: seen[:2] == [0, 1])


async def test_c22_every_broadcasting_consumer_gets_everything_and_finds_its_offsets_again(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    config = PushConsumerConfig(
        message_model=MessageModel.BROADCASTING,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
        local_offset_store_dir=str(tmp_path),
    )
    group, listeners = unique("g"), [Listener(), Listener(), Listener()]
    names = [patient(namesrv_addr=java_cluster.address, instance_name=name) for name in ("a", "b")]
    async with open_client(names[0]) as one, open_client(names[1]) as two:
        topic = await create_topic(one, unique("c22"))
        await send(one, topic, numbered(8))
        async with (
            open_push_consumer(one, group, {topic: "*"}, listeners[0], config=config),
            open_push_consumer(two, group, {topic: "*"}, listeners[1], config=config),
        ):
            await until(lambda: all(len(set(each.bodies)) == 8 for each in listeners[:2]))
    async with open_client(names[0]) as again:
        await send(again, topic, [b"new"], queue_id=0)
        async with open_push_consumer(again, group, {topic: "*"}, listeners[2], config=config):
            await until(lambda: listeners[2].bodies == [b"new"])


async def test_c33_a_group_that_is_deleted_while_its_consumer_runs_is_made_again_by_the_heartbeat(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    listener, group = Listener(), unique("g")
    config = patient(namesrv_addr=java_cluster.address, heartbeat_broker_interval=1.0)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c33"))
        async with open_push_consumer(client, group, {topic: "*"}, listener, config=FIRST):
            await send(client, topic, [b"before"], queue_id=0)
            await until(lambda: listener.bodies == [b"before"])
            line = f"deleteSubGroup -b {java_cluster.master.address} -g {group}"
            await trio.to_thread.run_sync(java_peer.admin, java_cluster.address, line)
            await send(client, topic, [b"after"], queue_id=0)
            await until(lambda: b"after" in listener.bodies)


async def test_c34_c35_queues_that_come_are_consumed_and_those_that_go_are_dropped(
    java_cluster: JavaCluster,
) -> None:
    listener = Listener()
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=1.0)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c34"), queues=2)
        async with open_push_consumer(
            client, unique("g"), {topic: "*"}, listener, config=FIRST
        ) as consumer:

            def held() -> set[int]:
                return {queue.queue_id for queue in consumer.assigned if queue.topic == topic}

            await until(lambda: held() == {0, 1})
            await create_topic(client, topic, queues=4)
            await send(client, topic, [b"new"], queue_id=3)
            await until(lambda: listener.bodies == [b"new"])
            await create_topic(client, topic, queues=1)
            await until(lambda: held() == {0})


async def test_c38_a_topic_that_is_created_later_is_consumed_from_its_first_message(
    java_cluster: JavaCluster,
) -> None:
    listener, topic = Listener(), unique("c38")
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=1.0)
    async with (
        open_client(config) as client,
        open_push_consumer(client, unique("g"), {topic: "*"}, listener, config=FIRST),
    ):
        await create_topic(client, topic)
        await send(client, topic, [b"first"], queue_id=0)
        await until(lambda: listener.bodies == [b"first"])


async def test_a_loop_that_ends_early_leaves_its_message_to_the_next_one(
    java_cluster: JavaCluster,
) -> None:
    group, seen = unique("g"), list[bytes | None]()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("loop"))
        await send(client, topic, numbered(3), queue_id=0)
        async with open_push_consumer(client, group, {topic: "*"}, config=FIRST) as consumer:
            async for delivery in consumer:
                seen.append(delivery.message.body)
                if len(seen) == 2:
                    break  # the second was not handled
        async with open_push_consumer(client, group, {topic: "*"}, config=FIRST) as consumer:
            async for delivery in consumer:
                seen.append(delivery.message.body)
                if len(seen) == 4:
                    delivery.ack()
                    break
        offsets = await committed(client, group, topic, 1)

    assert seen == [b"0", b"1", b"1", b"2"]
    assert offsets == [3]

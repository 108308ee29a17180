"""Push consumers at a real broker (C01, C04-C06, C10, C16, C18, C22, C30, C33-C35, C38)."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from rocketwire.client import ClientInstance, open_client
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.enums import MessageModel
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.message.stored import StoredMessage
from tests.java.client.conftest import Mqadmin
from tests.java.client.consuming import Listener, consume
from tests.peers.client_settings import patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until


async def read_offsets(
    client: ClientInstance, group: str, topic: str, queues: int = 4
) -> list[int]:
    address = await client.master("broker-a")
    queue_ids = [
        MessageQueue(topic=topic, broker_name="broker-a", queue_id=number)
        for number in range(queues)
    ]
    return [await client.brokers.consumer_offset(address, group, queue) or 0 for queue in queue_ids]


async def test_c01_offsets_of_handled_messages_are_stored_at_the_end(
    client: ClientInstance, mqadmin: Mqadmin
) -> None:
    listener, group = Listener(), unique("g")
    topic = await create_topic(client, unique("c01"))
    await send(client, topic, numbered(200))
    async with consume(client, group, topic, listener):
        await until(lambda: len(set(listener.bodies)) == 200)

    assert "Consume Diff Total: 0" in await mqadmin(f"consumerProgress -g {group}")
    assert sorted(listener.bodies) == sorted(numbered(200))


async def test_c04_tags_of_equal_hash_codes_differ_and_offsets_advance(
    java_cluster: JavaCluster,
) -> None:
    listener, group = Listener(), unique("g")
    config = patient(namesrv_addr=java_cluster.address, persist_consumer_offset_interval=0.5)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c04"))
        await send(client, topic, numbered(5), TAGS="BBBB")
        async with consume(client, group, topic, listener, expression="AaAa"):
            await send(client, topic, [b"wanted"], queue_id=0, TAGS="AaAa")
            await until(lambda: listener.bodies == [b"wanted"])

            async def are_stored() -> bool:  # also for queues that have nothing to handle
                return sum(await read_offsets(client, group, topic)) == 6

            await eventually(are_stored)
        assert await are_stored()
    assert listener.bodies == [b"wanted"]


async def test_c05_messages_without_a_tag_match_no_tag(client: ClientInstance) -> None:
    listener = Listener()
    topic = await create_topic(client, unique("c05"))
    await send(client, topic, [b"none"], queue_id=0)
    for tag in ("A", "C", "B"):
        await send(client, topic, [tag.encode()], queue_id=0, TAGS=tag)
    async with consume(client, unique("g"), topic, listener, expression="A || B"):
        await until(lambda: len(listener.bodies) >= 2)

    assert sorted(listener.bodies) == [b"A", b"B"]


async def test_c06_sql92_is_evaluated_by_brokers_and_checked_at_the_start(
    client: ClientInstance,
) -> None:
    listener, group = Listener(), unique("g")
    topic = await create_topic(client, unique("c06"))
    await send(client, topic, [b"yes"], queue_id=0, a="6", b="x")
    await send(client, topic, [b"no"], queue_id=0, a="5", b="x")
    expression = ("a > 5 AND b = 'x'", "SQL92")
    async with consume(client, group, topic, listener, expression=expression):
        await until(lambda: listener.bodies == [b"yes"])
        await send(client, topic, [b"too"], queue_id=0, a="7", b="x")
        await until(lambda: listener.bodies == [b"yes", b"too"])
    with pytest.raises(BrokerError) as refused:
        async with consume(client, unique("g"), topic, listener, expression=("a >", "SQL92")):
            pass
    assert refused.value.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED


async def test_c16_a_message_that_fails_comes_back_and_becomes_a_dead_letter(
    client: ClientInstance,
) -> None:
    listener, letters, group = Listener({b"bad": 99}), Listener(), unique("g")
    topic = await create_topic(client, unique("c16"))
    await send(client, topic, [b"bad", b"good"], queue_id=0)
    async with consume(client, group, topic, listener, max_reconsume_times=1):
        await until(lambda: listener.bodies.count(b"bad") >= 2)

        async def is_dead() -> bool:
            return bool((await client.name_servers.route(f"%DLQ%{group}")).queue_datas)

        await eventually(is_dead)
    async with consume(client, unique("dead"), f"%DLQ%{group}", letters):
        await until(lambda: set(letters.bodies) == {b"bad"})

    retried = next(message for message in listener.messages if message.reconsume_times == 1)
    assert retried.topic == topic
    assert (retried.properties or {})["ORIGIN_MESSAGE_ID"]
    assert listener.bodies.count(b"good") == 1


async def test_c18_a_message_whose_handler_does_not_end_is_sent_back(
    client: ClientInstance,
) -> None:
    attempts = list[int]()

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        attempts.append(messages[0].reconsume_times)
        if not messages[0].reconsume_times:
            await trio.sleep_forever()

    topic = await create_topic(client, unique("c18"))
    await send(client, topic, [b"slow"], queue_id=0)
    limits = {"consume_timeout": 1.0, "await_termination": 0.0}
    async with consume(client, unique("g"), topic, listen, **limits):
        await until(lambda: attempts[:2] == [0, 1])


async def test_c22_broadcasting_consumers_get_everything_and_keep_offsets(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    settings = {"message_model": MessageModel.BROADCASTING, "local_offset_store_dir": str(tmp_path)}
    group, listeners = unique("g"), [Listener(), Listener(), Listener()]
    names = [patient(namesrv_addr=java_cluster.address, instance_name=name) for name in ("a", "b")]
    async with open_client(names[0]) as first, open_client(names[1]) as second:
        topic = await create_topic(first, unique("c22"))
        await send(first, topic, numbered(8))
        async with (
            consume(first, group, topic, listeners[0], **settings),
            consume(second, group, topic, listeners[1], **settings),
        ):
            await until(lambda: all(len(set(listener.bodies)) == 8 for listener in listeners[:2]))
    async with open_client(names[0]) as client:
        await send(client, topic, [b"new"], queue_id=0)
        async with consume(client, group, topic, listeners[2], **settings):
            await until(lambda: listeners[2].bodies == [b"new"])


@pytest.mark.parametrize("by_broker", [False, True], ids=["told-by-220", "told-by-pulls"])
async def test_c30_an_operator_resets_offsets_of_a_running_consumer(
    java_cluster: JavaCluster, mqadmin: Mqadmin, by_broker: bool
) -> None:
    async def set_server_side(value: str) -> None:
        place = f"-b {java_cluster.master.address} -k useServerSideResetOffset"
        await mqadmin(f"updateBrokerConfig {place} -v {value}")

    listener, group = Listener(), unique("g")
    config = patient(namesrv_addr=java_cluster.address, persist_consumer_offset_interval=0.5)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c30"), queues=1)
        await send(client, topic, numbered(3), queue_id=0)
        async with consume(client, group, topic, listener):
            await until(lambda: listener.bodies == numbered(3))

            async def is_committed() -> bool:
                return await read_offsets(client, group, topic, 1) == [3]

            await eventually(is_committed)
            try:
                await set_server_side(str(by_broker).lower())
                assert "broker-a" in await mqadmin(f"resetOffsetByTime -g {group} -t {topic} -s 0")
            finally:
                await set_server_side("true")
            await until(lambda: len(listener.bodies) >= 6)

    assert listener.bodies[:6] == numbered(3) * 2


async def test_c33_a_deleted_group_is_created_again_by_a_heartbeat(
    java_cluster: JavaCluster, mqadmin: Mqadmin
) -> None:
    listener, group = Listener(), unique("g")
    config = patient(namesrv_addr=java_cluster.address, heartbeat_broker_interval=1.0)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c33"))
        async with consume(client, group, topic, listener):
            await send(client, topic, [b"before"], queue_id=0)
            await until(lambda: listener.bodies == [b"before"])
            await mqadmin(f"deleteSubGroup -b {java_cluster.master.address} -g {group}")
            await send(client, topic, [b"after"], queue_id=0)
            await until(lambda: b"after" in listener.bodies)


async def test_c34_c35_new_queues_are_consumed_and_removed_ones_dropped(
    java_cluster: JavaCluster,
) -> None:
    listener = Listener()
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=1.0)
    async with open_client(config) as client:
        topic = await create_topic(client, unique("c34"), queues=2)
        async with consume(client, unique("g"), topic, listener) as consumer:

            def list_queues() -> set[int]:
                return {queue.queue_id for queue in consumer.assigned if queue.topic == topic}

            await until(lambda: list_queues() == {0, 1})
            await create_topic(client, topic, queues=4)
            await send(client, topic, [b"new"], queue_id=3)
            await until(lambda: listener.bodies == [b"new"])
            await create_topic(client, topic, queues=1)
            await until(lambda: list_queues() == {0})


async def test_c38_a_later_topic_is_consumed_from_its_first_message(
    java_cluster: JavaCluster,
) -> None:
    listener, topic = Listener(), unique("c38")
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=1.0)
    async with open_client(config) as client, consume(client, unique("g"), topic, listener):
        await create_topic(client, topic)
        await send(client, topic, [b"first"], queue_id=0)
        await until(lambda: listener.bodies == [b"first"])


async def test_a_loop_that_ends_early_leaves_its_message_to_another(client: ClientInstance) -> None:
    group, bodies = unique("g"), list[bytes | None]()
    topic = await create_topic(client, unique("loop"))
    await send(client, topic, numbered(3), queue_id=0)
    async with consume(client, group, topic) as consumer:
        async for delivery in consumer:
            bodies.append(delivery.message.body)
            if len(bodies) == 2:
                break  # the second was not handled
    async with consume(client, group, topic) as consumer:
        async for delivery in consumer:
            bodies.append(delivery.message.body)
            if len(bodies) == 4:
                delivery.ack()
                break

    assert bodies == [b"0", b"1", b"1", b"2"]
    assert await read_offsets(client, group, topic, 1) == [3]

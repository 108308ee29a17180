"""Messages that inflate well, and messages that cannot be read, at a real Java broker: no consumer stops at them."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import open_client
from rocketwire.client.consuming import PushConsumerConfig
from rocketwire.client.lite_pull import open_lite_pull_consumer
from rocketwire.client.lite_queue import LitePullConsumerConfig
from rocketwire.client.pop_consumer import open_pop_consumer
from rocketwire.client.push_consumer import open_push_consumer
from rocketwire.codes import RequestCode
from rocketwire.errors import MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.wire.body_compression import CompressionType
from rocketwire.wire.properties import encode_properties
from tests.client.interop.messages import create_topic, send, unique, until
from tests.client.interop.patience import PATIENCE, patient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.wire.stored import StoredMessage
    from tests.support.javacluster import JavaCluster
    from tests.support.javapeers import JavaPeer

pytestmark = [pytest.mark.java, pytest.mark.slow]

FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
LITE = LitePullConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
COMPRESSED = int(MessageSysFlag.COMPRESSED)
LARGE = 2_000_000
MANY = 40


async def send_poisoned(client: ClientInstance, topic: str, sys_flag: int) -> None:
    """A message that says that it is compressed, and is not; anybody may send one."""
    header = SendMessageRequestHeaderV2(
        producer_group="tests",
        topic=topic,
        default_topic="TBW102",
        default_topic_queue_nums=4,
        queue_id=0,
        sys_flag=sys_flag,
        born_timestamp=round(time.time() * 1000),
        flag=0,
        properties=encode_properties({"KEYS": "poisoned"}),
        reconsume_times=0,
        unit_mode=False,
        max_reconsume_times=0,
        batch=False,
        broker_name="broker-a",
    )
    address = await client.master("broker-a")
    code = RequestCode.SEND_MESSAGE_V2
    await client.brokers.call(address, code, header, b"garbage", within=PATIENCE)


async def poisoned_topic(client: ClientInstance, name: str, sys_flag: int = COMPRESSED) -> str:
    """A topic whose only queue has good messages around bad ones."""
    topic = await create_topic(client, unique(name), queues=1)
    await send(client, topic, [b"1", b"2"], queue_id=0)
    await send_poisoned(client, topic, sys_flag)
    await send_poisoned(client, topic, sys_flag)
    await send(client, topic, [b"3"], queue_id=0)
    await send_poisoned(client, topic, sys_flag)
    await send(client, topic, [b"4", b"5"], queue_id=0)
    return topic


class Bodies:
    """Remembers the bodies that a consumer was given."""

    def __init__(self) -> None:
        self.all: list[bytes] = []

    async def __call__(self, messages: Sequence[StoredMessage], _: object) -> None:
        self.all += [message.body or b"" for message in messages]

    async def one(self, message: StoredMessage, *_: object) -> None:
        self.all.append(message.body or b"")

    @property
    def sizes(self) -> list[int]:
        return [len(body) for body in self.all]


def skipped(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        one.getMessage()
        for one in caplog.records
        if one.levelno == logging.WARNING and "cannot be read" in one.getMessage()
    ]


@pytest.mark.parametrize("orderly", [False, True])
async def test_a_push_consumer_gets_all_messages_that_inflate_to_more_than_one_answer_may_hold(
    java_cluster: JavaCluster, java_peer: JavaPeer, orderly: bool
) -> None:
    bodies, group = Bodies(), unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("inflating"), queues=1)
        await trio.to_thread.run_sync(
            lambda: java_peer.fill(
                java_cluster.address, topic, unique("pg"), size=LARGE, count=MANY
            )
        )
        listeners = {"orderly_listener" if orderly else "listener": bodies}
        async with open_push_consumer(client, group, {topic: "*"}, config=FIRST, **listeners):  # type: ignore[arg-type]
            await until(lambda: len(bodies.all) >= MANY)

    assert bodies.sizes == [LARGE] * MANY


async def test_a_lite_pull_consumer_gets_all_messages_that_inflate_well(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    sizes: list[int] = []
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("inflating"), queues=1)
        await trio.to_thread.run_sync(
            lambda: java_peer.fill(
                java_cluster.address, topic, unique("pg"), size=LARGE, count=MANY
            )
        )
        config = LitePullConsumerConfig(
            pull_batch_size=32, consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        )
        async with open_lite_pull_consumer(client, unique("g"), config=config) as consumer:
            consumer.subscribe(topic)
            with trio.fail_after(PATIENCE):
                while len(sizes) < MANY:
                    polled = await consumer.poll(5)
                    sizes += [len(one.body or b"") for one in (polled.messages if polled else ())]

    assert sizes == [LARGE] * MANY


async def test_a_pop_consumer_gets_all_messages_that_inflate_well(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("inflating"), queues=1)
        await trio.to_thread.run_sync(
            lambda: java_peer.fill(
                java_cluster.address, topic, unique("pg"), size=LARGE, count=MANY
            )
        )
        async with open_pop_consumer(client, unique("g"), {topic: "*"}, bodies.one):
            await until(lambda: len(bodies.all) >= MANY)

    assert set(bodies.sizes) == {LARGE}


@pytest.mark.parametrize("kind", [0, *CompressionType, 7], ids=str)
async def test_a_push_consumer_gets_what_is_around_messages_that_cannot_be_read(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture, kind: int
) -> None:
    bodies, group = Bodies(), unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, "poisoned", COMPRESSED | kind << 8)
        async with open_push_consumer(
            client, group, {topic: "*"}, bodies, config=FIRST
        ) as consumer:
            await until(lambda: len(bodies.all) >= 5)

            assert consumer.unreadable_messages == 3
            running = consumer.running_info().properties or {}

    assert sorted(bodies.all) == [b"1", b"2", b"3", b"4", b"5"]
    assert running["PROP_UNREADABLE_MESSAGES"] == "3"
    assert [
        f"offset {number}," in line for number, line in zip((2, 3, 5), skipped(caplog), strict=True)
    ] == [True] * 3


async def test_an_orderly_consumer_gets_what_is_around_them_in_order(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, "poisoned")
        async with open_push_consumer(
            client, unique("g"), {topic: "*"}, orderly_listener=bodies, config=FIRST
        ):
            await until(lambda: len(bodies.all) >= 5)

    assert bodies.all == [b"1", b"2", b"3", b"4", b"5"]
    assert len(skipped(caplog)) == 3


async def test_a_lite_pull_consumer_gets_what_is_around_them(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    bodies: list[bytes] = []
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, "poisoned")
        async with open_lite_pull_consumer(client, unique("g"), config=LITE) as consumer:
            consumer.subscribe(topic)
            with trio.fail_after(PATIENCE):
                while len(bodies) < 5:
                    polled = await consumer.poll(5)
                    bodies += [one.body or b"" for one in (polled.messages if polled else ())]
            assert consumer.unreadable_messages == 3

    assert bodies == [b"1", b"2", b"3", b"4", b"5"]
    assert len(skipped(caplog)) == 3


async def test_a_pop_consumer_gets_what_is_around_them_with_handles_that_the_broker_takes(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    bodies, group = Bodies(), unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, "poisoned")
        async with open_pop_consumer(client, group, {topic: "*"}, bodies.one) as consumer:
            await until(lambda: len(bodies.all) >= 5)
            await until(lambda: consumer.unreadable_messages >= 3)

    assert sorted(bodies.all) == [b"1", b"2", b"3", b"4", b"5"]
    assert len([line for line in skipped(caplog) if "counts as not handled" in line]) >= 3


async def test_without_its_package_a_consumer_ends_and_names_the_extra(
    java_cluster: JavaCluster, java_peer: JavaPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("lz4"), queues=1)
        await trio.to_thread.run_sync(
            lambda: java_peer.fill(
                java_cluster.address, topic, unique("pg"), size=9000, count=1, compression="LZ4"
            )
        )
        monkeypatch.setitem(sys.modules, "lz4.frame", None)

        async def consume() -> None:
            async with open_push_consumer(
                client, unique("g"), {topic: "*"}, Bodies(), config=FIRST
            ):
                await trio.sleep(PATIENCE)

        with pytest.raises(MissingPackageError, match=r"rocketwire\[compression\]"):
            await consume()


@pytest.mark.parametrize("level", [1, 5, 19, 20, 21, 22])
async def test_zstd_of_every_level_that_javas_producers_write_is_read(
    java_cluster: JavaCluster, java_peer: JavaPeer, level: int
) -> None:
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("zstd"), queues=1)
        await trio.to_thread.run_sync(
            lambda: java_peer.fill(
                java_cluster.address,
                topic,
                unique("pg"),
                size=100_000,
                count=2,
                compression="ZSTD",
                level=level,
            )
        )
        async with open_push_consumer(client, unique("g"), {topic: "*"}, bodies, config=FIRST):
            await until(lambda: len(bodies.all) >= 2)

    assert sorted(bodies.all) == [b"a" * 100_000, b"b" * 100_000]

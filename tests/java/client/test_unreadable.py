"""Large and unreadable messages at a real Java broker: no consumer stops at them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.codes import RequestCode
from rocketwire.errors import MissingPackageError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topics import CreateTopicRequestHeader
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.body_compression import CompressionType
from tests.java.client.unreadable_messages import (
    COMPRESSED,
    INNER_BATCH,
    KINDS,
    LARGEST,
    LITE,
    ODD,
    ORDERLY,
    POP,
    PUSH,
    UNREADABLE,
    Bodies,
    consuming,
    poisoned_topic,
    redeliver_late,
    send_as_it_is,
    warnings_of,
)
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, eventually, send, unique, until

if TYPE_CHECKING:
    from rocketwire.client import ClientInstance
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


LARGE = 2_000_000
MANY = 40
SOON = 3.0
"""Seconds in which what is not to come would have come."""


async def filled_topic(
    client: ClientInstance,
    cluster: JavaCluster,
    peer: JavaPeer,
    size: int,
    count: int,
    **how: Any,
) -> str:
    """A topic whose only queue has messages of equal bytes from Java's producer."""
    topic = await create_topic(client, unique("inflating"), queues=1)
    await trio.to_thread.run_sync(
        lambda: peer.fill(cluster.address, topic, unique("pg"), size=size, count=count, **how)
    )
    return topic


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
async def test_all_messages_come_that_inflate_to_more_than_one_answer_may_hold(
    java_cluster: JavaCluster, java_peer: JavaPeer, kind: str
) -> None:
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled_topic(client, java_cluster, java_peer, LARGE, MANY)
        async with consuming(kind, client, topic, bodies):
            await until(lambda: len(bodies.all) >= MANY)

    expected = [bytes([b"a"[0] + number % 26]) * LARGE for number in range(MANY)]
    assert sorted(bodies.all) == sorted(expected)
    if kind in (ORDERLY, LITE):
        assert bodies.all == expected


@pytest.mark.parametrize("kind", KINDS)
async def test_a_body_is_read_up_to_the_setting_and_skipped_beyond_it(
    java_cluster: JavaCluster, java_peer: JavaPeer, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled_topic(client, java_cluster, java_peer, LARGE, 1)
        await send(client, topic, [b"small"], queue_id=0)
        bodies = Bodies()
        async with consuming(kind, client, topic, bodies, max_body_size=LARGE):
            await until(lambda: len(bodies.all) >= 2)
        assert sorted(bodies.sizes) == [5, LARGE]

        bodies = Bodies()
        async with consuming(kind, client, topic, bodies, max_body_size=LARGE - 1) as consumer:
            await until(lambda: len(bodies.all) >= 1 and consumer.unreadable_messages >= 1)

    assert bodies.all == [b"small"]
    assert f"more than {LARGE - 1} bytes" in warnings_of(caplog)[0]


@pytest.mark.parametrize("sort", [0, *CompressionType, 7], ids=str)
async def test_a_push_consumer_gets_what_is_around_messages_that_cannot_be_read(
    java_cluster: JavaCluster, caplog: pytest.LogCaptureFixture, sort: int
) -> None:
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, COMPRESSED | sort << 8)
        async with consuming(PUSH, client, topic, bodies) as consumer:
            await until(lambda: len(bodies.all) >= 5)

            assert consumer.unreadable_messages == 3
            running = consumer.running_info().properties or {}  # type: ignore[attr-defined]  # of push consumers

    assert sorted(bodies.all) == [b"1", b"2", b"3", b"4", b"5"]
    assert running["PROP_UNREADABLE_MESSAGES"] == "3"
    assert [
        f"offset {number}," in line
        for number, line in zip((2, 3, 5), warnings_of(caplog), strict=True)
    ] == [True] * 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["x12", "1x2", "12x", "x", "xxxx1"])
async def test_a_message_that_cannot_be_read_is_skipped_in_any_place_of_a_pull(
    java_cluster: JavaCluster,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    layout: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    redeliver_late(monkeypatch)
    bodies = Bodies()
    bad = layout.count("x")
    good = [letter.encode() for letter in layout if letter != "x"]
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, layout=layout)
        async with consuming(kind, client, topic, bodies) as consumer:
            await until(
                lambda: len(bodies.all) >= len(good) and consumer.unreadable_messages >= bad
            )
            await send(client, topic, [b"later"], queue_id=0)
            await until(lambda: b"later" in bodies.all)
            assert consumer.unreadable_messages == bad

    assert sorted(bodies.all) == [*good, b"later"]
    assert len(warnings_of(caplog)) == bad
    for offset in (at for at, letter in enumerate(layout) if letter == "x"):
        lines = [line for line in warnings_of(caplog) if f"queue 0, offset {offset}," in line]
        assert len(lines) == 1, lines
        assert topic in lines[0]
        assert "zlib" in lines[0]


@pytest.mark.full
@pytest.mark.parametrize("kind", [PUSH, ORDERLY, LITE])
async def test_what_was_skipped_is_not_met_again_by_the_next_consumer_of_the_group(
    java_cluster: JavaCluster, kind: str
) -> None:
    group = unique("g")
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await poisoned_topic(client, layout="1xx")
        queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
        address = await client.master("broker-a", topic)

        async def is_stored() -> bool:
            return await client.brokers.consumer_offset(address, group, queue) == 3

        async with consuming(kind, client, topic, Bodies(), group=group):
            await eventually(is_stored)


@pytest.mark.parametrize("kind", KINDS)
async def test_whatever_anybody_sends_the_messages_around_it_arrive(
    java_cluster: JavaCluster,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    redeliver_late(monkeypatch)
    bodies = Bodies()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await create_topic(client, unique("hostile"), queues=1)
        good: set[bytes] = set()
        for number, message in enumerate([*UNREADABLE.values(), *ODD.values(), None]):
            body = b"good-%d" % number
            await send(client, topic, [body], queue_id=0)
            good.add(body)
            if message is not None:
                await send_as_it_is(client, topic, **message)
        async with consuming(kind, client, topic, bodies) as consumer:
            await until(lambda: good <= set(bodies.all))
            assert consumer.unreadable_messages == len(UNREADABLE)

    assert bodies.all.count(b"garbage") == len(ODD)
    for line in warnings_of(caplog):
        assert line.isprintable()
        assert len(line) < 1000


@pytest.mark.parametrize("kind", KINDS)
async def test_batches_that_a_queue_keeps_whole_come_as_messages_and_broken_ones_are_skipped(
    java_cluster: JavaCluster,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    redeliver_late(monkeypatch)
    bodies, group = Bodies(), unique("g")
    many = encode_batch([BatchMessage(body=b"many") for _ in range(40_000)])
    async with (
        open_client(patient(namesrv_addr=java_cluster.address)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await batch_topic(client)
        for first in range(0, 15, 3):
            await producer.send_batch(
                [Message(topic, b"%02d" % number) for number in range(first, first + 3)],
                within=PATIENCE,
            )
            await send_as_it_is(
                client,
                topic,
                b"garbage" if first % 2 else many,  # says three
                sys_flag=INNER_BATCH,
                properties={"INNER_NUM": "3"},
            )
        expected = [b"%02d" % number for number in range(15)]
        async with consuming(kind, client, topic, bodies, group=group) as consumer:
            await until(lambda: len(bodies.all) >= 15 and consumer.unreadable_messages >= 5)
            if kind == POP:  # nothing comes back that was handled
                await trio.sleep(SOON)
        assert sorted(bodies.all) == expected
        if kind != POP:
            address = await client.master("broker-a", topic)
            queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=0)
            stored = await client.brokers.consumer_offset(address, group, queue)
            assert stored is not None
            assert stored <= 30  # not behind the end

    assert len(warnings_of(caplog)) == 5


async def batch_topic(client: ClientInstance) -> str:
    """A topic of one queue that keeps batches whole."""
    topic = unique("batches")
    await client.refresh_route("TBW102")
    header = CreateTopicRequestHeader(
        topic=topic,
        default_topic="TBW102",
        read_queue_nums=1,
        write_queue_nums=1,
        perm=6,
        topic_filter_type="SINGLE_TAG",
        topic_sys_flag=0,
        order=False,
        attributes="+queue.type=BatchCQ",
    )
    address = await client.master("broker-a")
    code = RequestCode.UPDATE_AND_CREATE_TOPIC
    await client.brokers.call(address, code, header, within=PATIENCE)

    async def is_known() -> bool:
        return bool((await client.name_servers.route(topic)).queue_datas)

    await eventually(is_known)
    return topic


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("compression", "module"), [("LZ4", "lz4.frame"), ("ZSTD", "zstandard")])
async def test_without_its_package_a_consumer_ends_and_names_the_extra(
    java_cluster: JavaCluster,
    java_peer: JavaPeer,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    compression: str,
    module: str,
) -> None:
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled_topic(
            client, java_cluster, java_peer, 9000, 1, compression=compression
        )
        monkeypatch.setitem(sys.modules, module, None)

        async def consume() -> None:
            async with consuming(kind, client, topic, Bodies()):
                await trio.sleep(PATIENCE)

        with pytest.raises(MissingPackageError, match=r"rocketwire\[compression\]"):
            await consume()

        monkeypatch.undo()
        bodies = Bodies()  # what it ended at was not lost
        async with consuming(kind, client, topic, bodies):
            await until(lambda: bool(bodies.all))
        assert bodies.sizes == [9000]


@pytest.mark.full
@pytest.mark.parametrize("level", [1, 5, 19, 20, 21, 22])
async def test_zstd_of_every_level_that_javas_producers_write_is_read(
    java_cluster: JavaCluster, java_peer: JavaPeer, level: int
) -> None:
    bodies = Bodies()
    size = 4 * 1024 * 1024 - 1024
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        topic = await filled_topic(
            client, java_cluster, java_peer, size, 2, compression="ZSTD", level=level
        )
        async with consuming(PUSH, client, topic, bodies):
            await until(lambda: len(bodies.all) >= 2)

    assert sorted(bodies.all) == [b"a" * size, b"b" * size]
    assert size < LARGEST

"""Cases P01 to P33 of producers: Java's broker stores and Java's tools read the messages."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, NamedTuple

import pytest
import trio

from rocketwire.client import LocalTransactionState, Message, open_client, open_producer
from rocketwire.wire.message.body_compression import CompressionType
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import unique
from tests.peers.processes import PeerFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.client import ClientInstance, SendResult
    from rocketwire.client.producer.producer import Producer
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


COMMIT, _, UNKNOW = LocalTransactionState


class Read(NamedTuple):
    """A message as Java's client reads it."""

    msg_id: str
    offset_msg_id: str
    queue_id: int
    offset: int
    topic: str
    body: bytes
    properties: dict[str, str]


class World(NamedTuple):
    """A producer at Java's cluster, and a Java program beside it."""

    client: ClientInstance
    producer: Producer
    cluster: JavaCluster
    java: JavaPeer

    def topic(self, case: str) -> str:
        """The name of a topic that no other test has, nor an earlier attempt at the same one."""
        return unique(case)

    async def read(self, topic: str) -> list[Read]:
        """Every message of a topic, read by Java, which may first have to hear of a new topic."""
        with trio.fail_after(120):
            while True:
                try:
                    words = await trio.to_thread.run_sync(
                        self.java.call, "read", self.cluster.address, topic
                    )
                except PeerFailedError:
                    await trio.sleep(0.2)
                else:
                    return [_parsed(word) for word in words]

    async def until_read(self, topic: str, count: int, seconds: float = 120.0) -> list[Read]:
        """The messages of a topic, once there are so many."""
        with trio.move_on_after(seconds):
            while len(found := await self.read(topic)) < count:
                await trio.sleep(0.2)
            return found
        raise AssertionError(f"{topic}: not {count} messages within {seconds} s")


def _parsed(word: str) -> Read:
    msg_id, offset_id, queue_id, offset, topic, body, *lines = word.split("\n")
    parts = [line.partition("=") for line in lines]
    properties = {name: value for name, _, value in parts}
    return Read(
        msg_id, offset_id, int(queue_id), int(offset), topic, base64.b64decode(body), properties
    )


@pytest.fixture
async def it(java_cluster: JavaCluster, java_peer: JavaPeer) -> AsyncGenerator[World]:
    config = patient(namesrv_addr=java_cluster.address)
    async with (
        open_client(config) as client,
        open_producer(client, "python-producers", patient_producer()) as producer,
    ):
        yield World(client, producer, java_cluster, java_peer)


@pytest.mark.parametrize("kind", CompressionType)
async def test_what_is_sent_is_what_java_reads(it: World, kind: CompressionType) -> None:
    topic = it.topic("P07")
    body = os.urandom(100) * 50
    message = Message(topic, body, tags="TagA", keys=("k1", "k2"), properties={"a": "1"})
    config = patient_producer(compress_type=kind)
    async with open_producer(it.client, f"compressing-{kind.name}", config) as producer:
        result = await producer.send(message, within=PATIENCE)
    (read,) = await it.until_read(topic, 1)

    assert (read.topic, read.body) == (topic, body)
    assert (read.msg_id, read.offset_msg_id) == (result.msg_id, result.offset_msg_id)
    assert (read.queue_id, read.offset) == (result.message_queue.queue_id, result.queue_offset)
    wanted = {"TAGS": "TagA", "KEYS": "k1 k2", "a": "1", "WAIT": "true", "UNIQ_KEY": result.msg_id}
    assert wanted.items() <= read.properties.items()


async def test_hundreds_of_transactions_that_a_broker_checks_at_once_are_all_answered(
    it: World,
) -> None:
    topic = it.topic("P26")
    number, at_once = 400, 300  # a client that answered 256 at a time lost the others for good
    being_checked: set[bytes] = set()
    enough = trio.Event()

    def unknown(_message: Message, _result: SendResult) -> LocalTransactionState:
        return UNKNOW

    async def check(half: StoredMessage) -> LocalTransactionState:
        being_checked.add(half.body or b"")
        if len(being_checked) >= at_once:
            enough.set()
        await enough.wait()
        return COMMIT

    async with open_producer(it.client, unique("transacting"), check=check) as producer:

        async def send(first: int) -> None:
            for body in range(first, number, 8):
                message = Message(topic, b"%d" % body)
                await producer.send_in_transaction(message, unknown, within=PATIENCE)

        async with trio.open_nursery() as nursery:
            for first in range(8):
                nursery.start_soon(send, first)
        bodies: set[bytes] = set()
        with trio.fail_after(PATIENCE):
            while len(bodies) < number:
                bodies = {one.body for one in await it.read(topic)}

    assert len(being_checked) == number

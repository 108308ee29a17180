"""Cases P01 to P33 of producers: Java's broker stores and Java's tools read the messages."""

import base64
import contextlib
import os
from collections.abc import AsyncGenerator
from functools import partial
from typing import NamedTuple

import pytest
import trio

from rocketwire.client import (
    ClientInstance,
    LocalTransactionState,
    Message,
    SendResult,
    open_producer,
)
from rocketwire.client.producer.producer import Producer
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.client_settings import PATIENCE, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import eventually, numbered, unique
from tests.peers.peers import JavaPeer
from tests.peers.processes import PeerFailedError

COMMIT, ROLLBACK, UNKNOW = LocalTransactionState


class Read(NamedTuple):
    msg_id: str
    offset_msg_id: str
    queue_id: int
    offset: int
    topic: str
    body: bytes
    properties: dict[str, str]


class Site(NamedTuple):
    client: ClientInstance
    producer: Producer
    cluster: JavaCluster
    java: JavaPeer

    async def read(self, topic: str) -> list[Read]:
        # Every message of a topic, read by Java, which may first have to hear of a new topic.
        with trio.fail_after(120):
            while True:
                try:
                    words = await trio.to_thread.run_sync(
                        self.java.call, "read", self.cluster.address, topic
                    )
                except PeerFailedError:
                    await trio.sleep(0.2)
                else:
                    return [parse_message(word) for word in words]

    async def wait_for_output(self, line: str, text: str) -> str:
        with trio.fail_after(120):
            while True:
                output = await trio.to_thread.run_sync(self.java.admin, self.cluster.address, line)
                if text in output.out:
                    return output.out
                await trio.sleep(0.2)

    async def wait_for_messages(self, topic: str, count: int) -> list[Read]:
        with trio.fail_after(120):
            while len(messages := await self.read(topic)) < count:
                await trio.sleep(0.2)
        return messages


def parse_message(word: str) -> Read:
    msg_id, offset_id, queue_id, offset, topic, body, *lines = word.split("\n")
    properties = {name: value for name, _, value in (line.partition("=") for line in lines)}
    return Read(
        msg_id, offset_id, int(queue_id), int(offset), topic, base64.b64decode(body), properties
    )


@pytest.fixture
async def it(
    java_cluster: JavaCluster, java_peer: JavaPeer, client: ClientInstance
) -> AsyncGenerator[Site]:
    async with open_producer(client, "python-producers", patient_producer()) as producer:
        yield Site(client, producer, java_cluster, java_peer)


@pytest.mark.parametrize("is_smart", [True, False], ids=["P01", "P02"])
async def test_p01_p02_java_reads_a_message_in_either_spelling(it: Site, is_smart: bool) -> None:
    topic = unique("P01")
    message = Message(
        topic, "häłło".encode(), tags="TagA", keys=("k1", "k2"), properties={"a": "1"}
    )
    config = patient_producer(send_smart_msg=is_smart)
    async with open_producer(it.client, "spelling", config) as producer:
        result = await producer.send(message, within=PATIENCE)
    (read,) = await it.wait_for_messages(topic, 1)

    assert (read.topic, read.body) == (topic, message.body)
    assert (read.msg_id, read.offset_msg_id) == (result.msg_id, result.offset_msg_id)
    assert (read.queue_id, read.offset) == (result.message_queue.queue_id, result.queue_offset)
    expected = {"TAGS": "TagA", "KEYS": "k1 k2", "a": "1", "WAIT": "true"}
    assert (expected | {"UNIQ_KEY": result.msg_id}).items() <= read.properties.items()


@pytest.mark.parametrize("compression", CompressionType)
async def test_p07_p08_java_reads_compressed_bodies(it: Site, compression: CompressionType) -> None:
    topic = unique("P08")
    body = os.urandom(100) * 50
    config = patient_producer(compress_type=compression)
    async with open_producer(it.client, f"compressing-{compression.name}", config) as producer:
        await producer.send(Message(topic, body), within=PATIENCE)

    (message,) = await it.wait_for_messages(topic, 1)
    assert message.body == body


async def test_p17_to_p19_mqadmin_finds_a_message_by_ids_and_keys(it: Site) -> None:
    topic = unique("P17")
    result = await it.producer.send(Message(topic, b"x", keys=("first", "second")))

    for line, text in (
        (f"queryMsgById -i {result.offset_msg_id}", result.msg_id),
        (f"queryMsgByUniqueKey -i {result.msg_id}", topic),
        ("queryMsgByKey -k first", result.msg_id),
        ("queryMsgByKey -k second", result.msg_id),
    ):
        await it.wait_for_output(f"{line} -t {topic}", text)


async def test_p20_p21_delayed_messages_come_later(it: Site) -> None:
    topic = unique("P21")
    for message in (
        Message(topic, b"level", delay_level=1),
        Message(topic, b"seconds", delay_seconds=2),
        Message(topic, b"millis", delay_millis=2500),
    ):
        assert (await it.producer.send(message)).is_ok
    messages = await it.wait_for_messages(topic, 3)

    assert {message.body for message in messages} == {b"level", b"seconds", b"millis"}
    assert all(message.topic == topic for message in messages)


async def test_p23_a_recalled_message_is_not_delivered(it: Site) -> None:
    for seconds in (4, 20, 60):  # more than 4 on a machine that takes longer to recall one
        topic = unique("P23")
        kept = await it.producer.send(Message(topic, b"kept", delay_seconds=seconds))
        back = await it.producer.send(Message(topic, b"back", delay_seconds=seconds))
        handle = back.recall_handle or ""
        with contextlib.suppress(BrokerError):
            assert await it.producer.recall(topic, handle) == back.msg_id
            break

    (message,) = await it.wait_for_messages(topic, 1)
    assert message.msg_id == kept.msg_id

    async def is_too_late() -> bool:  # its time may be a second after that of the first
        try:
            await it.producer.recall(topic, handle)
        except BrokerError as error:
            return error.code == ResponseCode.ILLEGAL_OPERATION
        return False

    await eventually(is_too_late)
    assert len(await it.read(topic)) == 1


async def test_p25_p26_transactions_end_by_the_application_or_a_check(it: Site) -> None:
    topic = unique("P25")
    checked: list[bytes] = []

    def check(half: StoredMessage) -> LocalTransactionState:
        checked.append(half.body or b"")  # on a busy machine it may be any of them
        return COMMIT if half.body == b"unknown" else UNKNOW

    async with open_producer(it.client, unique("transacting"), check=check) as producer:
        for body, state in ((b"commit", COMMIT), (b"rollback", ROLLBACK), (b"unknown", UNKNOW)):
            execute = partial(return_state, state)
            ended = await producer.send_in_transaction(
                Message(topic, body), execute, within=PATIENCE
            )
            assert ended.state is state
        messages = await it.wait_for_messages(topic, 2)

    assert sorted(message.body for message in messages) == [b"commit", b"unknown"]
    assert b"unknown" in checked


def return_state(
    state: LocalTransactionState, _message: Message, _result: SendResult
) -> LocalTransactionState:
    return state


async def test_hundreds_of_transactions_that_a_broker_checks_at_once_are_all_answered(
    it: Site,
) -> None:
    topic = unique("P26")
    number, at_once = 400, 300  # a client that answered 256 at a time lost the others for good
    being_checked: set[bytes] = set()
    enough = trio.Event()

    async def check(half: StoredMessage) -> LocalTransactionState:
        being_checked.add(half.body or b"")
        if len(being_checked) >= at_once:
            enough.set()
        await enough.wait()
        return COMMIT

    async with open_producer(it.client, unique("transacting"), check=check) as producer:

        async def send_halves(bodies: list[bytes]) -> None:
            for body in bodies:
                await producer.send_in_transaction(
                    Message(topic, body), partial(return_state, UNKNOW), within=PATIENCE
                )

        async with trio.open_nursery() as nursery:
            for first in range(8):
                nursery.start_soon(send_halves, numbered(number)[first::8])
        bodies: set[bytes] = set()
        with trio.fail_after(PATIENCE):
            while len(bodies) < number:
                bodies = {message.body for message in await it.read(topic)}

    assert len(being_checked) == number


async def test_p33_mqadmin_shows_the_trace_of_a_send(it: Site) -> None:
    config = patient_producer(enable_trace=True)
    async with open_producer(it.client, "traced", config) as producer:
        message = Message(unique("P33"), b"x", tags="t", keys=("k",))
        result = await producer.send(message, within=PATIENCE)

    output = await it.wait_for_output(f"queryMsgTraceById -i {result.msg_id}", "traced")
    assert "success" in output
    assert "Pub" in output

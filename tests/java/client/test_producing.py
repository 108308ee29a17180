"""Cases P01 to P33 of producers: Java's broker stores and Java's tools read the messages."""

from __future__ import annotations

import base64
import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest
import trio

from rocketwire.client import (
    LocalTransactionState,
    Message,
    open_client,
    open_producer,
)
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.wire.message.body_compression import CompressionType
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import eventually, unique
from tests.peers.processes import PeerFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.client import ClientInstance, SendResult
    from rocketwire.client.producer.producer import Producer
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


COMMIT, ROLLBACK, UNKNOW = LocalTransactionState


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

    async def admin(self, line: str) -> str:
        """What an mqadmin line prints."""
        done = await trio.to_thread.run_sync(self.java.admin, self.cluster.address, line)
        return done.out

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


@pytest.mark.parametrize("smart", [True, False], ids=["P01", "P02"])
async def test_p01_p02_what_is_sent_in_either_spelling_is_what_java_reads(
    it: World, smart: bool
) -> None:
    topic = it.topic("P01")
    message = Message(
        topic, "häłło".encode(), tags="TagA", keys=("k1", "k2"), properties={"a": "1"}
    )
    async with open_producer(
        it.client, "other", patient_producer(send_smart_msg=smart)
    ) as producer:
        result = await producer.send(message, within=PATIENCE)
    (read,) = await it.until_read(topic, 1)

    assert (read.topic, read.body) == (topic, message.body)
    assert (read.msg_id, read.offset_msg_id) == (result.msg_id, result.offset_msg_id)
    assert (read.queue_id, read.offset) == (result.message_queue.queue_id, result.queue_offset)
    wanted = {"TAGS": "TagA", "KEYS": "k1 k2", "a": "1", "WAIT": "true", "UNIQ_KEY": result.msg_id}
    assert wanted.items() <= read.properties.items()


async def test_p03_a_hundred_one_way_messages_all_arrive(it: World) -> None:
    topic = it.topic("P03")
    for number in range(100):
        await it.producer.send_oneway(Message(topic, b"%d" % number))

    read = await it.until_read(topic, 100)
    assert sorted(int(one.body) for one in read) == list(range(100))


async def test_p04_a_topic_is_created_with_four_queues(it: World) -> None:
    topic = it.topic("P04")
    await it.producer.send(Message(topic, b"x"))

    async def has_four() -> bool:  # its broker tells the name server after it has answered
        data = (await it.client.name_servers.route(topic)).queue_datas or ()
        found = [(one.read_queue_nums, one.write_queue_nums, one.perm) for one in data]
        return found == [(4, 4, 6)]

    await eventually(has_four)


async def test_p06_a_batch_has_consecutive_offsets_and_a_key_for_each(it: World) -> None:
    topic = it.topic("P06")
    result = await it.producer.send_batch([Message(topic, b"%d" % n) for n in range(10)])
    read = sorted(await it.until_read(topic, 10), key=lambda one: one.offset)

    assert [one.body for one in read] == [b"%d" % n for n in range(10)]
    assert [one.offset for one in read] == list(
        range(result.queue_offset, result.queue_offset + 10)
    )
    assert result.msg_id.split(",") == [one.properties["UNIQ_KEY"] for one in read]
    assert len(result.offset_msg_id.split(",")) == 10


@pytest.mark.parametrize("kind", CompressionType)
async def test_p07_p08_compressed_bodies_are_read_as_they_were(
    it: World, kind: CompressionType
) -> None:
    topic = it.topic("P08")
    body = os.urandom(100) * 50
    config = patient_producer(compress_type=kind)
    async with open_producer(it.client, f"compressing-{kind.name}", config) as producer:
        await producer.send(Message(topic, body), within=PATIENCE)

    (read,) = await it.until_read(topic, 1)
    assert read.body == body


async def test_p12_without_a_queue_the_broker_picks_one(it: World) -> None:
    topic = it.topic("P12")
    await it.producer.queues(topic)
    queue = MessageQueue(topic=topic, broker_name="broker-a", queue_id=-1)
    result = await it.producer.send_to(Message(topic, b"x"), queue)

    assert 0 <= result.message_queue.queue_id < 4


async def test_p17_to_p19_operators_find_a_message_by_ids_and_keys(it: World) -> None:
    topic = it.topic("P17")
    result = await it.producer.send(Message(topic, b"x", keys=("first", "second")))

    by_offset = await it.admin(f"queryMsgById -i {result.offset_msg_id} -t {topic}")
    assert result.msg_id in by_offset
    lines = {f"queryMsgByUniqueKey -i {result.msg_id} -t {topic}": topic}
    lines |= {f"queryMsgByKey -t {topic} -k {key}": result.msg_id for key in ("first", "second")}
    for line, shown in lines.items():  # once the broker has them in its index
        with trio.fail_after(120):
            while shown not in await it.admin(line):
                await trio.sleep(0.2)


async def test_p20_p21_delayed_messages_come_later(it: World) -> None:
    topic = it.topic("P21")
    messages = [
        Message(topic, b"level", delay_level=1),
        Message(topic, b"seconds", delay_seconds=2),
        Message(topic, b"millis", delay_millis=2500),
    ]
    for message in messages:
        assert (await it.producer.send(message)).is_ok
    read = await it.until_read(topic, 3)

    assert {one.body for one in read} == {b"level", b"seconds", b"millis"}
    assert all(one.topic == topic for one in read)


async def test_p22_a_timer_of_more_than_three_days_is_refused(it: World) -> None:
    topic = it.topic("P22")
    with pytest.raises(BrokerError) as caught:
        await it.producer.send(Message(topic, b"x", delay_seconds=4 * 86_400))

    assert caught.value.code == 13


async def test_p23_a_message_that_was_taken_back_is_not_delivered(it: World) -> None:
    for seconds in (4, 20, 60):  # the first but on a machine that takes longer to take one back
        topic = it.topic("P23")
        kept = await it.producer.send(Message(topic, b"kept", delay_seconds=seconds))
        back = await it.producer.send(Message(topic, b"back", delay_seconds=seconds))
        handle = back.recall_handle or ""
        with contextlib.suppress(BrokerError):
            assert await it.producer.recall(topic, handle) == back.msg_id
            break

    assert [one.msg_id for one in await it.until_read(topic, 1)] == [kept.msg_id]

    async def is_too_late() -> bool:  # its time may be a second after that of the other
        try:
            await it.producer.recall(topic, handle)
        except BrokerError as late:
            return late.code == 604
        return False

    await eventually(is_too_late)
    assert len(await it.read(topic)) == 1


async def test_p25_p26_transactions_end_as_the_application_says_or_as_the_check_finds_out(
    it: World,
) -> None:
    topic = it.topic("P25")
    asked: list[bytes] = []

    def said(
        state: LocalTransactionState, _message: Message, _result: SendResult
    ) -> LocalTransactionState:
        return state

    def check(half: StoredMessage) -> LocalTransactionState:
        asked.append(half.body or b"")  # on a busy machine it may be any of them
        return COMMIT if half.body == b"unknown" else UNKNOW

    async with open_producer(it.client, unique("transacting"), check=check) as producer:
        for body, state in ((b"commit", COMMIT), (b"rollback", ROLLBACK), (b"unknown", UNKNOW)):
            ended = await producer.send_in_transaction(
                Message(topic, body), partial(said, state), within=PATIENCE
            )
            assert ended.state is state
        read = await it.until_read(topic, 2)

    assert sorted(one.body for one in read) == [b"commit", b"unknown"]
    assert b"unknown" in asked


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


async def test_p31_a_topic_that_may_not_be_written_takes_messages_all_the_same(it: World) -> None:
    topic = it.topic("P31")
    await it.admin(f"updateTopic -t {topic} -c DefaultCluster -p 4")

    async def is_known() -> bool:
        return bool((await it.client.name_servers.route(topic)).queue_datas)

    await eventually(is_known)  # or it would be sent by the route of a topic that is to be created
    with pytest.raises(Exception, match=topic):
        await it.producer.send(Message(topic, b"x"))
    header = SendMessageRequestHeaderV2(
        producer_group="g",
        topic=topic,
        default_topic="TBW102",
        default_topic_queue_nums=4,
        queue_id=0,
        sys_flag=0,
        born_timestamp=1,
        flag=0,
    )
    address = it.cluster.master.address
    answer = await it.client.brokers.call(
        address, RequestCode.SEND_MESSAGE_V2, header, b"x", within=PATIENCE
    )
    assert answer.command.code == 0


async def test_p32_a_key_goes_to_java_s_queue(it: World) -> None:
    topic = it.topic("P32")
    for key, number in (("order-1", 2), ("order-2", 1), ("uid:42", 0)):
        result = await it.producer.send_ordered(Message(topic, key.encode()), key)
        assert result.message_queue.queue_id == number
        assert result.message_queue == queue_by_hash(await it.producer.queues(topic), key)


async def test_p33_mqadmin_shows_the_trace_of_a_send(it: World) -> None:
    topic = it.topic("P33")
    config = patient_producer(enable_trace=True)
    async with open_producer(it.client, "traced", config) as producer:
        result = await producer.send(Message(topic, b"x", tags="t", keys=("k",)), within=PATIENCE)

    with trio.fail_after(120):
        while "traced" not in (out := await it.admin(f"queryMsgTraceById -i {result.msg_id}")):
            await trio.sleep(0.5)
    assert "success" in out
    assert "Pub" in out


async def test_request_reply_reaches_the_requester_through_its_broker(it: World) -> None:
    """Half of P27: the reply is ours, the way of it the broker's."""
    topic = it.topic("P27")
    from rocketwire.client import create_reply
    from rocketwire.wire.message.stored import StoredMessage

    async def answer_one() -> None:
        (asked,) = await it.until_read(topic, 1)
        stored = StoredMessage(topic=asked.topic, properties=dict(asked.properties))
        await it.producer.send(create_reply(stored, b"that"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer_one)
        answer = await it.producer.request(Message(topic, b"what?"), within=PATIENCE)
    assert answer.body == b"that"

"""The same clients at 5.5.1, 5.3.3 and 4.9.4, and over TLS with both header formats."""

import json
import ssl
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
import trio

from rocketwire.client import (
    ClientConfig,
    ClientInstance,
    LocalTransactionState,
    Message,
    SendResult,
    open_client,
    open_producer,
)
from rocketwire.client.consumer.pop.pop import PopCalls
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig, open_pop_consumer
from rocketwire.codes import SerializeType
from rocketwire.wire.message.stored import StoredMessage
from tests.java.client.consuming import Listener, consume
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique, until
from tests.peers.peers import BINARY_HEADERS, CURRENT, MIDDLE, NEWER, OLD, JavaPeer
from tests.peers.shared_peers import have_here
from tests.support.broker import BrokerAtHand

TLS = "TLS"
PLACES = [*(pytest.param(name, marks=pytest.mark.full) for name in (NEWER, TLS)), MIDDLE, OLD]
"""Releases, and 5.5.0 over TLS."""


COUNT = 12
HIDDEN = 10.0
"""Seconds; not longer than a failed message is hidden, which would be redelivered before."""


class Place(NamedTuple):
    """A cluster of Java's, and what our clients need to talk to it."""

    name: str
    cluster: JavaCluster
    settings: dict[str, Any]

    def config(self, **settings: Any) -> ClientConfig:
        return patient(namesrv_addr=self.cluster.address, **self.settings, **settings)


def trust_anything() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@pytest.fixture(scope="module", params=PLACES)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    name: str = request.param
    version = CURRENT if name == TLS else name
    have_here(partial(java_cache.jars, version))
    jvm = [BINARY_HEADERS, "-Dtls.enable=true", "-Dtls.test.mode.enable=true"]
    settings: dict[str, Any] = {"tls": trust_anything()} if name == TLS else {}
    with JavaCluster(
        tmp_path_factory.mktemp("place"), version=version, jvm=jvm if name == TLS else []
    ) as cluster:
        yield Place(name, cluster, settings)


@pytest.fixture(params=list(SerializeType), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest, place: Place) -> SerializeType:
    # The form of our headers; both are tried at one of the places.
    if place.name != TLS and request.param is not SerializeType.JSON:
        pytest.skip("the other form is tried over TLS")
    return SerializeType(request.param)


@pytest.mark.smoke
async def test_messages_are_consumed_and_come_again_if_they_fail(
    place: Place, form: SerializeType
) -> None:
    listener = Listener({b"1": 1})
    async with (
        open_client(place.config(serialize_type=form)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("release"))
        async with consume(client, unique("g"), topic, listener):
            for body in numbered(4):
                await producer.send(Message(topic, body), within=PATIENCE)
            batch = [Message(topic, body) for body in numbered(4, 4)]
            sent = await producer.send_batch(batch, within=PATIENCE)
            await until(lambda: len(listener.messages) >= 9)

    expected = [(body, 0) for body in numbered(8)] + [(b"1", 1)]
    assert sorted(listener.attempts) == sorted(expected)
    assert len(sent.msg_id.split(",")) == 4


async def test_transactions_end_by_the_application_or_a_check(place: Place) -> None:
    listener = Listener()

    def return_state(
        state: LocalTransactionState, _message: Message, _result: SendResult
    ) -> LocalTransactionState:
        return state

    def check(half: StoredMessage) -> LocalTransactionState:
        is_unknown = half.body == b"UNKNOW"  # on a busy machine it may be any of them
        return LocalTransactionState.COMMIT_MESSAGE if is_unknown else LocalTransactionState.UNKNOW

    async with (
        open_client(place.config()) as client,
        open_producer(client, unique("p"), patient_producer(), check=check) as producer,
    ):
        topic = await create_topic(client, unique("transactions"))
        async with consume(client, unique("g"), topic, listener):
            for state in LocalTransactionState:
                message, execute = Message(topic, state.name.encode()), partial(return_state, state)
                await producer.send_in_transaction(message, execute, within=PATIENCE)
            await until(lambda: len(listener.messages) >= 2)

    assert sorted(listener.bodies) == [b"COMMIT_MESSAGE", b"UNKNOW"]


async def test_queues_are_shared_with_a_member_of_java_s(place: Place, java_peer: JavaPeer) -> None:
    if place.name == TLS:
        pytest.skip("the Java program speaks plain")
    listener, group, name = Listener(), unique("g"), unique("java")
    in_thread = trio.to_thread.run_sync
    async with (
        open_client(place.config()) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("shared"))
        async with consume(client, group, topic, listener) as consumer:
            await in_thread(java_peer.join, place.cluster.address, topic, group, name)

            async def is_shared() -> bool:
                theirs = {number for _, number in await in_thread(java_peer.queues, name)}
                ours = {queue.queue_id for queue in consumer.assigned if queue.topic == topic}
                return len(theirs) == len(ours) == 2 and theirs | ours == {0, 1, 2, 3}

            await eventually(is_shared)
            for body in numbered(8):
                await producer.send(Message(topic, body, keys=(body.decode(),)), within=PATIENCE)
            await until(lambda: len(set(listener.bodies)) >= 4)
            keys = await in_thread(java_peer.received, name, 4)
            await in_thread(java_peer.close, name)

    assert sorted([*set(listener.bodies), *(key.encode() for key in keys)]) == numbered(8)


async def handle_together(client: ClientInstance) -> tuple[list[tuple[bytes, int]], float]:
    # All deliveries, of which the last is one that failed before; and the seconds of handling.
    topic = await create_topic(client, unique("together"))
    await send(client, topic, numbered(COUNT))
    attempts: list[tuple[bytes, int]] = []
    all_here = trio.Event()

    async def listen(message: StoredMessage) -> bool:
        attempts.append((message.body or b"", message.reconsume_times))
        if len(attempts) == COUNT:
            all_here.set()
        await all_here.wait()
        return message.body != b"7" or message.reconsume_times > 0

    start = trio.current_time()
    config = PopConsumerConfig(pop_invisible_time=HIDDEN)
    async with open_pop_consumer(client, unique("g"), {topic: "*"}, listen, config=config):
        with trio.move_on_after(HIDDEN):
            await all_here.wait()
        seconds = trio.current_time() - start
        if seconds < HIDDEN:
            await until(lambda: len(attempts) > COUNT)
        all_here.set()
    return attempts, seconds


async def test_messages_acknowledged_together_are_gone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place.name == OLD:
        pytest.skip("4.9.4 knows no pop")
    sizes: list[int] = []
    batch_ack = PopCalls.batch_ack

    async def count(calls: PopCalls, messages: Iterable[StoredMessage]) -> None:
        batch = list(messages)
        await batch_ack(calls, batch)
        sizes.append(len(batch))

    monkeypatch.setattr(PopCalls, "batch_ack", count)
    attempts: list[tuple[bytes, int]] = []
    for _ in range(3):  # again on a machine that takes longer than messages are hidden
        sizes.clear()
        async with open_client(place.config()) as client:
            attempts, seconds = await handle_together(client)
        if seconds < HIDDEN:
            break
    assert sorted(attempts) == sorted([(body, 0) for body in numbered(COUNT)] + [(b"7", 1)])
    assert sum(sizes) > COUNT // 2


@pytest.mark.parametrize(("code", "key"), [(5002, "topicList"), (5003, "groupNameList")])
def test_our_broker_answers_lists_to_delete_as_java_does(place: Place, code: int, key: str) -> None:
    if place.name != NEWER:
        pytest.skip("it has no such code")
    ours, port = BrokerAtHand().connect(), int(place.cluster.master.address.split(":")[1])
    lists: tuple[list[str], ...] = ([], ["gone"], ["gone", " "], ["TBW102"])
    for body in (b"", *(json.dumps({key: names}).encode() for names in lists)):
        java = raw_call.ask(port, code, {}, body).header
        answer = ours.call(code, {}, body or None)
        assert (answer.code, answer.remark) == (java["code"], java.get("remark"))

"""The same clients at 5.5.1, 5.3.3 and 4.9.4, and over TLS with both header formats."""

from __future__ import annotations

import json
import ssl
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import trio

from rocketwire.client import (
    ConsumeConcurrentlyStatus,
    LocalTransactionState,
    Message,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.codes import SerializeType
from tests.java.client.client_process import FIRST
from tests.java.client.pop_consumer_process import messages_acknowledged_together_are_gone
from tests.java.namesrv.conftest import have_here
from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, unique, until
from tests.peers.peers import BINARY_HEADERS, CURRENT, MIDDLE, NEWER, OLD
from tests.support.broker import BrokerAtHand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.client import (
        ClientConfig,
        ConsumeConcurrentlyContext,
        SendResult,
    )
    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.peers import JavaPeer


TLS = "TLS"
PLACES = [*(pytest.param(name, marks=pytest.mark.full) for name in (NEWER, TLS)), MIDDLE, OLD]
"""Releases, and 5.5.0 over TLS."""


class Place(NamedTuple):
    """A cluster of Java's, and what our clients need to talk to it."""

    name: str
    cluster: JavaCluster
    settings: dict[str, Any]

    def config(self, **more: Any) -> ClientConfig:
        """Settings of a client."""
        return patient(namesrv_addr=self.cluster.address, **self.settings, **more)


def trusting() -> ssl.SSLContext:
    """Takes the certificate that Java makes up for tests."""
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
    settings: dict[str, Any] = {"tls": trusting()} if name == TLS else {}
    with JavaCluster(
        tmp_path_factory.mktemp("place"), version=version, jvm=jvm if name == TLS else []
    ) as cluster:
        yield Place(name, cluster, settings)


@pytest.fixture(params=list(SerializeType), ids=lambda form: form.name)
def form(request: pytest.FixtureRequest, place: Place) -> SerializeType:
    """The form of our headers; both are tried at one of the places."""
    if place.name != TLS and request.param is not SerializeType.JSON:
        pytest.skip("the other form is tried over TLS")
    return SerializeType(request.param)


@pytest.mark.smoke
async def test_what_is_sent_is_consumed_and_what_was_not_handled_comes_back(
    place: Place, form: SerializeType
) -> None:
    got: list[tuple[bytes, int]] = []

    async def listen(
        messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        got.extend((one.body or b"", one.reconsume_times) for one in messages)
        if messages[0].body == b"1" and not messages[0].reconsume_times:
            context.delay_level_when_next_consume = 1
            return ConsumeConcurrentlyStatus.RECONSUME_LATER
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async with (
        open_client(place.config(serialize_type=form)) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("release"))
        async with open_push_consumer(client, unique("g"), {topic: "*"}, listen, config=FIRST):
            for body in numbered(4):
                await producer.send(Message(topic, body), within=PATIENCE)
            batch = [Message(topic, body) for body in numbered(4, 4)]
            sent = await producer.send_batch(batch, within=PATIENCE)
            await until(lambda: len(got) >= 9)

    assert sorted(got) == sorted([(body, 0) for body in numbered(8)] + [(b"1", 1)])
    assert len(sent.msg_id.split(",")) == 4


async def test_transactions_end_as_they_were_told_or_as_the_check_says(place: Place) -> None:
    got: list[bytes] = []

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        got.extend(one.body or b"" for one in messages)

    def said(
        state: LocalTransactionState, _message: Message, _result: SendResult
    ) -> LocalTransactionState:
        return state

    def check(half: StoredMessage) -> LocalTransactionState:
        unknown = half.body == b"UNKNOW"  # on a busy machine it may be any of them
        return LocalTransactionState.COMMIT_MESSAGE if unknown else LocalTransactionState.UNKNOW

    async with (
        open_client(place.config()) as client,
        open_producer(client, unique("p"), patient_producer(), check=check) as producer,
    ):
        topic = await create_topic(client, unique("transactions"))
        async with open_push_consumer(client, unique("g"), {topic: "*"}, listen, config=FIRST):
            for state in LocalTransactionState:
                message = Message(topic, state.name.encode())
                await producer.send_in_transaction(message, partial(said, state), within=PATIENCE)
            await until(lambda: len(got) >= 2)

    assert sorted(got) == [b"COMMIT_MESSAGE", b"UNKNOW"]


async def test_queues_are_shared_with_a_member_of_java_s(place: Place, java_peer: JavaPeer) -> None:
    if place.name == TLS:
        pytest.skip("the Java program speaks plain")
    group, name, got = unique("g"), unique("java"), set[bytes]()

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        got.update(one.body or b"" for one in messages)

    async with (
        open_client(place.config()) as client,
        open_producer(client, unique("p"), patient_producer()) as producer,
    ):
        topic = await create_topic(client, unique("shared"))
        async with open_push_consumer(
            client, group, {topic: "*"}, listen, config=FIRST
        ) as consumer:
            address = place.cluster.address
            await trio.to_thread.run_sync(java_peer.join, address, topic, group, name)

            async def is_shared() -> bool:
                theirs = {
                    number for _, number in await trio.to_thread.run_sync(java_peer.queues, name)
                }
                ours = {queue.queue_id for queue in consumer.assigned if queue.topic == topic}
                return len(theirs) == len(ours) == 2 and theirs | ours == {0, 1, 2, 3}

            await eventually(is_shared)
            for body in numbered(8):
                await producer.send(Message(topic, body, keys=(body.decode(),)), within=PATIENCE)
            await until(lambda: len(got) >= 4)
            java = await trio.to_thread.run_sync(java_peer.received, name, 4)
            await trio.to_thread.run_sync(java_peer.close, name)

    assert sorted([*got, *(key.encode() for key in java)]) == numbered(8)


async def test_messages_acknowledged_together_are_gone_and_others_come_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place.name == OLD:
        pytest.skip("4.9.4 knows no pop")
    async with open_client(place.config()) as client:
        await messages_acknowledged_together_are_gone(client, monkeypatch)


@pytest.mark.parametrize("code", [5002, 5003])
def test_our_broker_answers_lists_to_delete_as_java_does(place: Place, code: int) -> None:
    if place.name != NEWER:
        pytest.skip("it has no such code")
    kind = {5002: "topicList", 5003: "groupNameList"}[code]
    ours, port = BrokerAtHand().connect(), int(place.cluster.master.address.split(":")[1])
    lists: tuple[list[str], ...] = ([], ["gone"], ["gone", " "], ["TBW102"])
    for body in (b"", *(json.dumps({kind: names}).encode() for names in lists)):
        theirs = raw_call.ask(port, code, {}, body).header
        own = ours.call(code, {}, body or None)
        assert (own.code, own.remark) == (theirs["code"], theirs.get("remark"))

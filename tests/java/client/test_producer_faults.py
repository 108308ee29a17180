"""Cases P27 to P30, A12 and A13: brokers that are full, busy or down."""

import shutil
import subprocess
from collections.abc import Generator, Sequence

import pytest
import trio

from rocketwire.client import (
    ClientInstance,
    Message,
    create_reply,
    open_client,
    open_producer,
)
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    ReplyTimeoutError,
    SendFailedError,
)
from rocketwire.wire.message.stored import StoredMessage
from tests.java.client.conftest import Mqadmin
from tests.java.client.consuming import consume
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import BROKER, ROOM, JavaCluster
from tests.peers.messages import create_topic, eventually, send, unique
from tests.peers.peers import JavaBroker, JavaNameServer, JavaPeer

STRICT = {
    **BROKER,
    "sendMessageThreadPoolNums": 1,
    "sendThreadPoolQueueCapacity": 1,
}
"""Has one place for sends that wait."""


@pytest.fixture(scope="module")
def strict(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[tuple[JavaNameServer, JavaBroker]]:
    folder = tmp_path_factory.mktemp("strict")
    server = JavaNameServer(folder / "namesrv")
    with server, JavaBroker(folder / "broker", [server.address], STRICT, jvm=ROOM) as broker:
        broker.wait_registered(server.port)
        yield server, broker


@pytest.mark.full
async def test_a12_a_busy_broker_refuses_and_stores_later(
    strict: tuple[JavaNameServer, JavaBroker],
) -> None:
    server, broker = strict
    codes: set[int] = set()
    stored: list[bytes] = []
    async with (
        open_client(patient(namesrv_addr=server.address)) as client,
        open_producer(
            client, "patient", patient_producer(retry_times_when_send_failed=500)
        ) as patient_one,
        open_producer(
            client, "hasty", patient_producer(retry_times_when_send_failed=0)
        ) as hasty_one,
    ):
        topic = await create_topic(client, unique("a12"), address=broker.address)

        async def send_once(body: bytes) -> None:
            try:
                await hasty_one.send(Message(topic, body), within=PATIENCE)
            except BrokerError as error:
                codes.add(int(error.code))

        async def send_often(body: bytes) -> None:
            await patient_one.send(Message(topic, body), within=PATIENCE)
            stored.append(body)

        async with trio.open_nursery() as nursery:
            for number in range(150):
                nursery.start_soon(send_once, b"hasty %d" % number)
                nursery.start_soon(send_often, b"steady %d" % number)

    assert codes == {ResponseCode.SYSTEM_BUSY}
    assert len(stored) == 150


@pytest.fixture(scope="module", autouse=True)
def full(
    java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Generator[JavaBroker | None]:
    """A broker on a file system of 128 MiB that is almost half full, with a limit of a third.

    It checks first after a minute, so it starts with the first test; None without mount permission.
    """
    mounting = ["unshare", "--map-root-user", "--mount"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*mounting, "true"], check=False).returncode
    ):
        yield None
        return
    options = {**BROKER, "diskSpaceWarningLevelRatio": 35}
    broker = JavaBroker(
        tmp_path_factory.mktemp("full"),
        [java_cluster.address],
        options,
        name="broker-full",
        jvm=ROOM,
        wrapper=[
            *mounting,
            "sh",
            "-c",
            "mkdir store && mount -t tmpfs -o size=128m full store"
            ' && head -c 60000000 /dev/zero > store/rest && exec "$@"',
            "sh",
        ],
    )
    with broker:
        broker.wait_registered(int(java_cluster.address.rpartition(":")[2]))
        yield broker


@pytest.mark.full
async def test_a13_a_full_disk_ends_a_send_after_all_its_tries(
    full: JavaBroker | None, client: ClientInstance
) -> None:
    if full is None:
        pytest.skip("no file system can be mounted here")
    failures: list[SendFailedError] = []
    async with open_producer(client, "p", patient_producer()) as producer:
        topic = await create_topic(client, unique("a13"), broker=full.name, address=full.address)

        async def is_full() -> bool:
            try:
                await producer.send(Message(topic, b"x"), within=PATIENCE)
            except SendFailedError as error:
                cause = error.__cause__  # a busy machine gives other reasons before
                if isinstance(cause, BrokerError) and cause.code != ResponseCode.SYSTEM_BUSY:
                    failures.append(error)
            return bool(failures)

        await eventually(is_full, 300)

    assert failures[0].brokers == (full.name,) * 3
    assert isinstance(failures[0].__cause__, BrokerError)
    assert failures[0].__cause__.code == ResponseCode.SERVICE_NOT_AVAILABLE


async def test_p27_requests_are_answered_from_python_to_java_and_back(
    java_cluster: JavaCluster, java_peer: JavaPeer, client: ClientInstance
) -> None:
    address, in_thread = java_cluster.address, trio.to_thread.run_sync
    async with open_producer(client, unique("p"), patient_producer()) as producer:

        async def answer(messages: Sequence[StoredMessage], _: object) -> None:
            for message in messages:
                reply = create_reply(message, b"re: " + (message.body or b""))
                await producer.send(reply, within=PATIENCE)

        here, there = [await create_topic(client, unique(f"p27-{place}")) for place in (1, 2)]
        group = unique("java-replies")
        await in_thread(java_peer.call, "reply", address, there, group)
        reply = await producer.request(Message(there, b"who?"), within=PATIENCE)
        async with consume(client, unique("g"), here, answer):
            replies = await in_thread(
                java_peer.call, "request", address, here, unique("java-asks"), "what?", 60_000
            )
        await in_thread(java_peer.close, group)
        with pytest.raises(ReplyTimeoutError):
            await producer.request(Message(here, b"anybody?"), within=0.5)

    assert reply.body == b"re: who?"
    assert replies == ["re: what?"]


async def test_p29_p30_c17_messages_come_back_though_their_broker_died(
    java_cluster: JavaCluster, client: ClientInstance, mqadmin: Mqadmin
) -> None:
    second = java_cluster.broker("broker-second")
    has_begun, has_come_back, may_fail = trio.Event(), trio.Event(), trio.Event()

    async def listen(messages: Sequence[StoredMessage], _: object) -> None:
        if messages[0].reconsume_times:
            has_come_back.set()
            return
        has_begun.set()
        await may_fail.wait()
        raise ValueError("not now")

    async with open_producer(client, unique("p"), patient_producer()) as producer:
        topic = unique("p29")
        for name, address in (("broker-a", None), (second.name, second.address)):
            await create_topic(client, topic, broker=name, address=address)

        async def send_to_brokers() -> set[str]:
            results = [await producer.send(Message(topic, b"x")) for _ in range(8)]
            return {result.message_queue.broker_name or "" for result in results}

        for command, expected in (
            (None, {"broker-a", second.name}),
            ("wipeWritePerm", {"broker-a"}),
            ("addWritePerm", {"broker-a", second.name}),
        ):
            if command:
                await mqadmin(f"{command} -b {second.name}")
            await client.refresh_route(topic)
            assert await send_to_brokers() == expected

        only, group = await create_topic(client, unique("c17"), broker=second.name), unique("g")
        async with consume(client, group, only, listen):
            await send(client, only, [b"to be retried"], broker=second.name)
            await has_begun.wait()
            await client.refresh_route(f"%RETRY%{group}")
            second.kill()
            assert await send_to_brokers() == {"broker-a"}  # three seconds for each
            may_fail.set()
            with trio.fail_after(120):
                await has_come_back.wait()

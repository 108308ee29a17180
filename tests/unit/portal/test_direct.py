"""Sends of threads and tasks over their own connections to a cluster over TCP."""

import asyncio
import os
import resource
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvloop

from rocketwire import aio, sync
from rocketwire.aio.direct import MAX_UNSENT
from rocketwire.client import Credentials, Message, SendResult
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelClosedError, RequestTimeoutError, RocketWireError
from rocketwire.portal.direct import WARM_SENDS
from rocketwire.sync import direct
from rocketwire.testing import reply
from tests.support.fakes.facade_clients import allow_interrupts, own_connections, threads
from tests.support.fakes.tcp_cluster import TcpCluster

LOOPS = ["asyncio", "uvloop"]


class Sender:
    """A producer that has a connection of its own; its calls block in each dialect."""

    def __init__(self, producer: Any, runner: asyncio.Runner | None) -> None:
        self.producer = producer
        self._runner = runner

    def run(self, call: Callable[[], Any]) -> Any:
        """Call a function, which the loop awaits."""
        if self._runner is None:
            return call()

        async def run_in_loop() -> Any:
            return await call()

        return self._runner.run(run_in_loop())

    def send(self, body: bytes, **named: Any) -> SendResult:
        result: SendResult = self.run(lambda: self.producer.send(Message("t", body), **named))
        return result


@contextmanager
def open_sender(dialect: str, address: str, **settings: Any) -> Generator[Sender]:
    settings = {"client_ip": "127.0.0.1", "send_msg_timeout": 60.0, **settings}
    if dialect == "threads":
        with sync.open_producer(address, "g", **settings) as producer:
            yield Sender(producer, None)
    else:
        factory = uvloop.new_event_loop if dialect == "uvloop" else asyncio.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            opening = Sender(None, runner)
            sender = Sender(
                opening.run(lambda: aio.open_producer(address, "g", **settings)), runner
            )
            try:
                yield sender
            finally:
                sender.run(sender.producer.close)
            assert asyncio.all_tasks(runner.get_loop()) == set()
    assert threads() == []


@pytest.fixture
def cluster() -> Generator[TcpCluster]:
    with TcpCluster(t=1) as cluster:
        yield cluster


@pytest.fixture(params=["threads", *LOOPS])
def sender(request: pytest.FixtureRequest, cluster: TcpCluster) -> Generator[Sender]:
    with open_sender(request.param, cluster.address) as sender:
        warm_up(sender, cluster)
        yield sender


def warm_up(sender: Sender, cluster: TcpCluster, connections: int = 2) -> None:
    """Send until the sender has its own connection in addition to those of trio."""
    for _ in range(WARM_SENDS + 1):
        sender.send(b"warm")

    async def wait_for_connection() -> None:
        async with asyncio.timeout(60):
            while not own_connections(sender.producer) or cluster.connections < connections:
                await asyncio.sleep(0)

    if isinstance(sender.producer, aio.Producer):
        sender.run(wait_for_connection)


def bodies(cluster: TcpCluster) -> list[bytes | None]:
    return [message.body for message in cluster.queues["t", 0]][WARM_SENDS + 1 :]


def write_nothing(connection: socket.socket, data: bytes) -> None:
    """Let an answer get lost."""


def test_results_are_those_of_the_broker(cluster: TcpCluster, sender: Sender) -> None:
    connections = cluster.connections
    results = [sender.send(b"%d" % number) for number in range(20)]

    assert cluster.connections == connections
    assert [result.queue_offset - WARM_SENDS - 1 for result in results] == list(range(20))
    assert [result.msg_id for result in results] == cluster.keys("t", 0)[WARM_SENDS + 1 :]
    assert all(result.is_ok and result.region == "R" for result in results)
    assert bodies(cluster) == [b"%d" % number for number in range(20)]


def test_a_response_may_come_in_pieces(cluster: TcpCluster, sender: Sender) -> None:
    def drip(connection: socket.socket, data: bytes) -> None:
        for place in range(0, len(data), 7):
            connection.sendall(data[place : place + 7])

    cluster.write = drip
    assert [sender.send(b"x").is_ok for _ in range(3)] == [True] * 3


def test_a_lost_connection_is_retried(cluster: TcpCluster, sender: Sender) -> None:
    def hang_up(connection: socket.socket, data: bytes) -> None:
        cluster.write = socket.socket.sendall
        connection.shutdown(socket.SHUT_RDWR)

    cluster.write = hang_up
    result = sender.send(b"x")
    assert result.is_ok
    assert bodies(cluster) == [b"x", b"x"]
    assert cluster.keys("t", 0)[-1] == cluster.keys("t", 0)[-2] == result.msg_id
    assert sender.send(b"y").is_ok


def test_a_silent_broker_lets_the_send_time_out(cluster: TcpCluster, sender: Sender) -> None:
    cluster.write = write_nothing
    with pytest.raises(RocketWireError) as caught:
        sender.send(b"x", within=0.2)
    errors = (caught.value, caught.value.__cause__)
    assert any(isinstance(error, RequestTimeoutError) for error in errors)
    cluster.write = socket.socket.sendall
    assert sender.send(b"y").is_ok


def test_a_refused_message_is_an_error_of_the_broker(cluster: TcpCluster, sender: Sender) -> None:
    cluster.before_store = lambda _: reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="no")
    with pytest.raises(BrokerError, match="no"):
        sender.send(b"x")


@pytest.mark.parametrize("dialect", ["threads", *LOOPS])
def test_own_connections_use_mapped_addresses(cluster: TcpCluster, dialect: str) -> None:
    reachable, cluster.address = cluster.address, "10.255.255.1:10911"
    with open_sender(dialect, reachable, address_remap={cluster.address: reachable}) as sender:
        warm_up(sender, cluster, 3)  # to the name server, by trio, and its own
        assert cluster.connections == 3
        assert sender.send(b"x").is_ok


@pytest.mark.parametrize("dialect", ["threads", *LOOPS])
def test_signed_sends_have_no_connections_of_their_own(cluster: TcpCluster, dialect: str) -> None:
    credentials = Credentials("a", "b")
    with open_sender(dialect, cluster.address, credentials=credentials) as sender:
        sender.send(b"first")
        connections = cluster.connections
        for _ in range(2 * WARM_SENDS):
            sender.send(b"x")
    assert cluster.connections == connections


# ---------------------------------------------------------------------- loops


def use_loop(dialect: str, scenario: Callable[[TcpCluster, aio.Producer], Awaitable[None]]) -> None:
    with TcpCluster(t=1) as cluster, open_sender(dialect, cluster.address) as sender:
        warm_up(sender, cluster)
        sender.run(lambda: scenario(cluster, sender.producer))


@pytest.mark.parametrize("dialect", LOOPS)
def test_many_sends_share_a_connection_and_keep_their_order(dialect: str) -> None:
    async def scenario(cluster: TcpCluster, producer: aio.Producer) -> None:
        connections = cluster.connections
        sends = [producer.send(Message("t", b"%d" % number)) for number in range(300)]
        results = await asyncio.gather(*sends)
        assert cluster.connections == connections
        assert bodies(cluster) == [b"%d" % number for number in range(300)]
        assert [result.msg_id for result in results] == cluster.keys("t", 0)[WARM_SENDS + 1 :]

    use_loop(dialect, scenario)


@pytest.mark.parametrize("dialect", LOOPS)
def test_sends_of_a_turn_beyond_the_limit_go_through_trio(dialect: str) -> None:
    async def scenario(cluster: TcpCluster, producer: aio.Producer) -> None:
        total = MAX_UNSENT // 2000
        sends = [
            asyncio.create_task(producer.send(Message("t", bytes(4000)))) for _ in range(total)
        ]
        await asyncio.sleep(0)
        (connection,) = own_connections(producer)
        assert MAX_UNSENT < sum(map(len, vars(connection)["_unsent"])) < MAX_UNSENT + 5000
        assert all(result.is_ok for result in await asyncio.gather(*sends))

    use_loop(dialect, scenario)


@pytest.mark.parametrize("dialect", LOOPS)
def test_a_cancelled_send_is_forgotten_and_closing_ends_a_waiting_one(dialect: str) -> None:
    async def scenario(cluster: TcpCluster, producer: aio.Producer) -> None:
        cluster.write = write_nothing
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await producer.send(Message("t", b"x"), within=60)
        (connection,) = own_connections(producer)
        assert not vars(connection)["_pending"]
        cluster.write = socket.socket.sendall
        assert (await producer.send(Message("t", b"y"))).msg_id == cluster.keys("t", 0)[-1]

        cluster.write = write_nothing
        task = asyncio.create_task(producer.send(Message("t", b"x"), within=60))
        await asyncio.sleep(0)
        await producer.close()
        with pytest.raises(ChannelClosedError):
            await task

    use_loop(dialect, scenario)


# ---------------------------------------------------------------------- threads


@pytest.fixture
def blocking(cluster: TcpCluster) -> Generator[Sender]:
    with open_sender("threads", cluster.address) as sender:
        warm_up(sender, cluster)
        yield sender


def test_threads_have_connections_of_their_own(cluster: TcpCluster, blocking: Sender) -> None:
    barrier = threading.Barrier(4)

    def meet(key: str) -> None:
        barrier.wait(60)

    cluster.before_store = meet  # pyright: ignore[reportAttributeAccessIssue] - a fake has it
    connections = cluster.connections
    senders = [threading.Thread(target=blocking.send, args=(b"x",)) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    assert cluster.connections == connections + 3
    assert bodies(cluster) == [b"x"] * 4


@pytest.mark.parametrize("lost", [1, 2], ids=["own", "all"])
def test_closed_connections_are_replaced(cluster: TcpCluster, blocking: Sender, lost: int) -> None:
    connections = cluster.connections
    cluster.hang_up(connections - lost)
    for number in range(4):
        assert blocking.send(b"%d" % number).is_ok
    assert bodies(cluster)[-1] == b"3"
    assert cluster.connections == connections + lost


def test_a_descriptor_can_be_large(cluster: TcpCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2048), limits[1]))
    monkeypatch.setattr(direct, "IDLE_SECONDS", -1.0)
    with ExitStack() as files, open_sender("threads", cluster.address) as sender:
        for _ in range(1024):  # more than select.select takes
            files.enter_context(open(os.devnull))
        for _ in range(WARM_SENDS + 2):
            assert sender.send(b"x").is_ok
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_an_interrupt_closes_the_connection(cluster: TcpCluster, blocking: Sender) -> None:
    def interrupt(connection: socket.socket, data: bytes) -> None:
        cluster.write = socket.socket.sendall
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    cluster.write = interrupt
    with allow_interrupts(), pytest.raises(KeyboardInterrupt):
        blocking.send(b"x", within=60)

    result = blocking.send(b"y")
    assert result.msg_id == cluster.keys("t", 0)[-1]

"""Sends of threads over connections of their own, at a cluster behind TCP."""

from __future__ import annotations

import os
import resource
import signal
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from rocketwire.client import Credentials, Message
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, RequestTimeoutError, RocketWireError
from rocketwire.portal.direct import WARM_SENDS
from rocketwire.sync import Producer, direct, open_producer
from rocketwire.testing import reply
from tests.support.fakes.facade_clients import threads
from tests.support.fakes.tcp_cluster import TcpCluster


@pytest.fixture
def cluster() -> Generator[TcpCluster]:
    with TcpCluster(t=1) as cluster:
        yield cluster


@pytest.fixture
def producer(cluster: TcpCluster) -> Generator[Producer]:
    """A producer that has a connection of its own."""
    with open_producer(cluster.address, "g", client_ip="127.0.0.1") as producer:
        for _ in range(WARM_SENDS):
            producer.send(Message("t", b"warm"))
        before = cluster.connections
        producer.send(Message("t", b"direct"))
        assert cluster.connections == before + 1
        yield producer
    assert threads() == []


def bodies(cluster: TcpCluster) -> list[bytes | None]:
    return [message.body for message in cluster.queues["t", 0]][WARM_SENDS + 1 :]


def test_results_are_those_of_the_broker(cluster: TcpCluster, producer: Producer) -> None:
    results = [producer.send(Message("t", b"%d" % n, tags="a", keys=("k",))) for n in range(20)]

    offsets = range(WARM_SENDS + 1, WARM_SENDS + 21)
    assert [result.queue_offset for result in results] == list(offsets)
    assert [result.msg_id for result in results] == cluster.keys("t", 0)[WARM_SENDS + 1 :]
    assert all(result.is_ok and result.region == "R" for result in results)
    assert bodies(cluster) == [b"%d" % n for n in range(20)]


def test_threads_have_connections_of_their_own(cluster: TcpCluster, producer: Producer) -> None:
    together = threading.Barrier(4)

    def meet(key: str) -> None:
        together.wait(60)

    cluster.before_store = meet  # pyright: ignore[reportAttributeAccessIssue] - a fake has it
    before = cluster.connections
    senders = [threading.Thread(target=producer.send, args=(Message("t", b"x"),)) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    assert cluster.connections == before + 3
    assert bodies(cluster) == [b"x"] * 4


def test_signed_sends_have_no_connections_of_their_own(cluster: TcpCluster) -> None:
    with open_producer(
        cluster.address, "g", credentials=Credentials("a", "b"), client_ip="127.0.0.1"
    ) as producer:
        producer.send(Message("t", b"first"))
        before = cluster.connections
        for _ in range(2 * WARM_SENDS):
            producer.send(Message("t", b"x"))

    assert cluster.connections == before


def test_an_answer_may_come_in_pieces(cluster: TcpCluster, producer: Producer) -> None:
    def drip(connection: socket.socket, data: bytes) -> None:
        for place in range(0, len(data), 7):
            connection.sendall(data[place : place + 7])

    cluster.write = drip

    assert [producer.send(Message("t", b"x")).is_ok for _ in range(3)] == [True] * 3


def test_a_lost_connection_is_followed_by_another_attempt(
    cluster: TcpCluster, producer: Producer
) -> None:
    def hang_up(connection: socket.socket, data: bytes) -> None:
        cluster.write = socket.socket.sendall
        connection.shutdown(socket.SHUT_RDWR)

    cluster.write = hang_up
    result = producer.send(Message("t", b"x"))

    assert result.is_ok
    assert bodies(cluster) == [b"x", b"x"]
    assert cluster.keys("t", 0)[-1] == cluster.keys("t", 0)[-2] == result.msg_id
    assert producer.send(Message("t", b"y")).is_ok


@pytest.mark.parametrize("lost", [1, 2], ids=["own", "all"])
def test_a_broker_that_has_closed_connections_is_connected_again(
    cluster: TcpCluster, producer: Producer, lost: int
) -> None:
    before = cluster.connections
    cluster.hang_up(before - lost)

    for number in range(4):
        assert producer.send(Message("t", b"%d" % number)).is_ok

    assert bodies(cluster)[-1] == b"3"
    assert cluster.connections == before + lost


def test_an_idle_connection_may_have_any_descriptor(
    cluster: TcpCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most[0], 2048), most[1]))
    monkeypatch.setattr(direct, "IDLE_SECONDS", -1.0)
    with ExitStack() as files, open_producer(cluster.address, "g") as producer:
        for _ in range(1024):  # more than select.select takes
            files.enter_context(open(os.devnull))
        for _ in range(WARM_SENDS + 2):
            assert producer.send(Message("t", b"x")).is_ok
    resource.setrlimit(resource.RLIMIT_NOFILE, most)


def test_a_silent_broker_lets_the_send_time_out(cluster: TcpCluster, producer: Producer) -> None:
    cluster.write = lambda connection, data: None
    with pytest.raises(RocketWireError) as caught:
        producer.send(Message("t", b"x"), within=0.2)
    assert isinstance(caught.value, RequestTimeoutError) or isinstance(
        caught.value.__cause__, RequestTimeoutError
    )

    cluster.write = socket.socket.sendall
    assert producer.send(Message("t", b"y")).is_ok


def test_a_refused_message_is_an_error_of_the_broker(
    cluster: TcpCluster, producer: Producer
) -> None:
    cluster.before_store = lambda _: reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="no")

    with pytest.raises(BrokerError, match="no"):
        producer.send(Message("t", b"x"))


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_closes_the_connection_of_the_send(
    cluster: TcpCluster, producer: Producer
) -> None:
    def interrupt(connection: socket.socket, data: bytes) -> None:
        cluster.write = socket.socket.sendall
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    cluster.write = interrupt
    with pytest.raises(KeyboardInterrupt):
        producer.send(Message("t", b"x"), within=60)

    result = producer.send(Message("t", b"y"))
    assert result.msg_id == cluster.keys("t", 0)[-1]

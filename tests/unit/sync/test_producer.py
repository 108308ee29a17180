"""Sends from threads, at a cluster in memory."""

import signal
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from rocketwire import errors
from rocketwire.client import LocalTransactionState, Message
from rocketwire.codes import RequestCode
from rocketwire.sync import Producer, open_producer
from tests.peers.processes import free_ports
from tests.support.fakes.facade_clients import (
    BlockingClient,
    allow_interrupts,
    no_request_is_pending,
    threads,
)
from tests.support.fakes.storing_cluster import StoringCluster


@pytest.fixture
def cluster() -> StoringCluster:
    return StoringCluster(t=2)


def test_an_unreachable_name_server_is_an_error_of_a_few_lines() -> None:
    address = f"127.0.0.1:{free_ports()}"
    with (
        open_producer(address, "g") as producer,
        pytest.raises(errors.ConnectFailedError) as caught,
    ):
        producer.send(Message("T", b"x"))

    assert str(caught.value) == f"name server {address}: Connection refused"
    assert len("".join(traceback.format_exception(caught.value)).splitlines()) < 25


@pytest.fixture
def producer(cluster: StoringCluster) -> Iterator[Producer]:
    with BlockingClient(cluster) as client, open_producer(client, "g") as producer:
        yield producer


def test_errors_are_those_of_the_trio_client(producer: Producer) -> None:
    with pytest.raises(errors.TopicRouteNotFoundError):
        producer.send(Message("other", b"x"))
    with pytest.raises(errors.IllegalMessageTypeError):
        producer.send("no message")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose


def test_send_many_returns_results_in_order(cluster: StoringCluster, producer: Producer) -> None:
    results = producer.send_many([Message("t", b"%d" % n) for n in range(100)])

    bodies = {
        (queue, message.queue_offset): message.body
        for (_, queue), stored in cluster.queues.items()
        for message in stored
    }
    assert [bodies[r.message_queue.queue_id, r.queue_offset] for r in results] == [
        b"%d" % n for n in range(100)
    ]


def test_send_many_reports_the_messages_that_failed(producer: Producer) -> None:
    with pytest.raises(errors.SendManyError, match="1 of 2 messages failed") as caught:
        producer.send_many([Message("t", b"a"), Message("other", b"b")])
    assert caught.value.results[0].is_ok  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue] - the test knows its kind
    assert isinstance(caught.value.results[1], errors.TopicRouteNotFoundError)


def test_a_transaction_runs_in_its_thread(cluster: StoringCluster, producer: Producer) -> None:
    called: list[str] = []

    def execute(message: Message, half: Any) -> LocalTransactionState:
        called.append(threading.current_thread().name)
        return LocalTransactionState.COMMIT_MESSAGE

    cluster.broker.on(RequestCode.END_TRANSACTION, None)
    ended = producer.send_in_transaction(Message("t", b"x"), execute)

    assert ended.state is LocalTransactionState.COMMIT_MESSAGE
    assert called == [threading.current_thread().name]


def test_a_coroutine_function_is_no_local_transaction(producer: Producer) -> None:
    async def execute(message: Message, half: Any) -> LocalTransactionState:
        return LocalTransactionState.COMMIT_MESSAGE

    with pytest.raises(errors.IllegalHandlerError):
        producer.send_in_transaction(Message("t", b"x"), execute)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose


def test_an_interrupt_ends_a_waiting_send(cluster: StoringCluster, producer: Producer) -> None:
    producer.send(Message("t", b"first"))
    interrupted = threading.Event()

    def lose(_: str) -> Any:
        if not interrupted.is_set():
            interrupted.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return StoringCluster.LOST

    cluster.after_store = lose
    with allow_interrupts(), pytest.raises(KeyboardInterrupt):
        producer.send(Message("t", b"x"), within=60)

    producer._call(no_request_is_pending)  # pyright: ignore[reportPrivateUsage] - the state that is tested
    cluster.after_store = lambda _: None
    assert producer.send(Message("t", b"y")).is_ok


def test_the_thread_ends_with_the_last_client(cluster: StoringCluster) -> None:
    with BlockingClient(cluster) as client:
        with open_producer(client, "g") as producer:
            assert threads() == ["rocketwire"]
        with pytest.raises(errors.ChannelClosedError):
            producer.send(Message("t", b"x"))
        producer.close()

    assert threads() == []


def test_a_failed_opening_leaves_no_thread() -> None:
    with pytest.raises(errors.IllegalValueError):
        open_producer("127.0.0.1:1", "g", send_msg_timeout=-1)
    with pytest.raises(errors.IllegalTypeError, match="no_such"):
        open_producer("127.0.0.1:1", "g", no_such=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue] - invalid on purpose
    with pytest.raises(errors.IllegalNameError):
        open_producer("127.0.0.1:1", "not a group")

    assert threads() == []


def test_keyword_settings_change_the_config(cluster: StoringCluster) -> None:
    with (
        BlockingClient(cluster) as client,
        open_producer(client, "g", send_msg_timeout=7.5) as producer,
    ):
        assert producer.config.send_msg_timeout == 7.5
    with pytest.raises(errors.IllegalTypeError, match="because of instance_name"):
        open_producer(client, "g", instance_name="x")

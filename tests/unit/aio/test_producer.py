"""Sends from tasks of asyncio and uvloop, at a cluster in memory."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop

from rocketwire.aio import Producer, open_producer
from rocketwire.client import LocalTransactionState, Message
from rocketwire.codes import RequestCode
from rocketwire.errors import ChannelClosedError, SendManyError
from tests.support.fakes.facade_clients import AsyncClient, no_request_is_pending, threads
from tests.support.fakes.storing_cluster import StoringCluster

Scenario = Callable[[StoringCluster, Producer], Awaitable[None]]
Run = Callable[[Scenario], StoringCluster]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a scenario with an open producer in a loop; returns the cluster."""
    cluster = StoringCluster(t=2)

    async def main(scenario: Scenario) -> None:
        async with (
            AsyncClient(cluster) as client,
            open_producer(client, "g", send_msg_timeout=60.0) as producer,
        ):
            await scenario(cluster, producer)

    def run_it(scenario: Scenario) -> StoringCluster:
        (uvloop.run if request.param == "uvloop" else asyncio.run)(main(scenario))
        assert threads() == []
        return cluster

    return run_it


def bodies(cluster: StoringCluster) -> set[bytes | None]:
    return {message.body for queue in cluster.queues.values() for message in queue}


def test_a_thousand_tasks_share_a_producer_and_nothing_is_lost(run: Run) -> None:
    async def scenario(_: StoringCluster, producer: Producer) -> None:
        sends = [producer.send(Message("t", b"%d" % n)) for n in range(1000)]
        results = await asyncio.gather(*sends)
        with pytest.raises(SendManyError):
            await producer.send_many([Message("other", b"x")])
        assert len({result.msg_id for result in results}) == 1000

    assert bodies(run(scenario)) == {b"%d" % n for n in range(1000)}


def test_a_call_passes_arguments_by_name_too(run: Run) -> None:
    async def scenario(_: StoringCluster, producer: Producer) -> None:
        queue = (await producer.queues(topic="t"))[1]
        sent = await producer.send_to(Message("t", b"x"), queue=queue)
        assert sent.message_queue == queue

    run(scenario)


def test_a_cancelled_send_leaves_no_request(run: Run) -> None:
    async def scenario(cluster: StoringCluster, producer: Producer) -> None:
        await producer.send(Message("t", b"first"))
        cluster.after_store = lambda _: StoringCluster.LOST
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await producer.send(Message("t", b"x"), within=60)
        task = asyncio.create_task(producer.send(Message("t", b"x"), within=60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await producer._call(no_request_is_pending)  # pyright: ignore[reportPrivateUsage] - the state that is tested
        cluster.after_store = lambda _: None
        assert (await producer.send(Message("t", b"y"))).is_ok
        assert len(asyncio.all_tasks()) == 1

    run(scenario)


def test_functions_of_a_transaction_run_in_the_loop(run: Run) -> None:
    async def scenario(cluster: StoringCluster, producer: Producer) -> None:
        cluster.broker.on(RequestCode.END_TRANSACTION, None)
        here = asyncio.get_running_loop()

        async def execute(message: Message, half: Any) -> LocalTransactionState:
            await asyncio.sleep(0)
            assert asyncio.get_running_loop() is here
            return LocalTransactionState.ROLLBACK_MESSAGE

        ended = await producer.send_in_transaction(Message("t", b"x"), execute)
        assert ended.state is LocalTransactionState.ROLLBACK_MESSAGE

    run(scenario)


def test_an_unopened_producer_raises_an_error_with_advice() -> None:
    async def main() -> None:
        with pytest.raises(ChannelClosedError, match="async with"):
            await open_producer("127.0.0.1:1", "g").send(Message("t", b"x"))

    asyncio.run(main())


def test_several_loops_of_a_process_use_a_producer() -> None:
    cluster = StoringCluster(t=2)

    async def main() -> None:
        async with AsyncClient(cluster) as client:
            producer = await open_producer(client, "g")

            async def elsewhere() -> None:
                assert (await producer.send(Message("t", b"x"))).is_ok

            thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
            thread.start()
            await asyncio.to_thread(thread.join)
            await producer.close()

    asyncio.run(main())
    assert len(bodies(cluster)) == 1

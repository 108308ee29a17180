"""Sends of tasks over connections of their loop, at a cluster behind TCP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from rocketwire.aio import Producer, open_producer
from rocketwire.aio.direct import MAX_UNSENT
from rocketwire.client import Message
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelClosedError, RequestTimeoutError, RocketWireError
from rocketwire.portal.direct import WARM_SENDS
from rocketwire.testing import reply
from tests.support.fakes.facade_clients import own_connections, threads
from tests.support.fakes.tcp_cluster import TcpCluster

Scenario = Callable[[TcpCluster, Producer], Awaitable[None]]
Run = Callable[[Scenario], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a scenario with a producer whose loop is connected to the broker."""

    async def main(scenario: Scenario) -> None:
        with TcpCluster(t=1) as cluster:
            async with open_producer(
                cluster.address, "g", client_ip="127.0.0.1", send_msg_timeout=60.0
            ) as producer:
                for _ in range(WARM_SENDS + 1):
                    await producer.send(Message("t", b"warm"))
                async with asyncio.timeout(60):
                    while not own_connections(producer) or cluster.connections < 2:  # trio's too
                        await asyncio.sleep(0)
                await scenario(cluster, producer)
            assert len(asyncio.all_tasks()) == 1
        assert threads() == []

    def run_it(scenario: Scenario) -> None:
        (uvloop.run if request.param == "uvloop" else asyncio.run)(main(scenario))

    return run_it


def bodies(cluster: TcpCluster) -> list[bytes | None]:
    return [message.body for message in cluster.queues["t", 0]][WARM_SENDS + 1 :]


def test_many_sends_share_a_connection_and_keep_their_order(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        before = cluster.connections
        sends = [producer.send(Message("t", b"%d" % n)) for n in range(300)]
        results = await asyncio.gather(*sends)
        assert cluster.connections == before
        assert bodies(cluster) == [b"%d" % n for n in range(300)]
        assert [r.msg_id for r in results] == cluster.keys("t", 0)[WARM_SENDS + 1 :]
        assert [r.queue_offset - WARM_SENDS - 1 for r in results] == list(range(300))

    run(scenario)


def test_sends_of_a_turn_beyond_the_limit_go_through_trio(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        count = MAX_UNSENT // 2000
        sends = [
            asyncio.create_task(producer.send(Message("t", bytes(4000)))) for _ in range(count)
        ]
        await asyncio.sleep(0)
        (connection,) = own_connections(producer)
        assert MAX_UNSENT < sum(map(len, vars(connection)["_unsent"])) < MAX_UNSENT + 5000
        assert all(result.is_ok for result in await asyncio.gather(*sends))

    run(scenario)


def test_an_answer_may_come_in_pieces(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        def drip(connection: socket.socket, data: bytes) -> None:
            for place in range(0, len(data), 7):
                connection.sendall(data[place : place + 7])

        cluster.write = drip
        for _ in range(3):
            assert (await producer.send(Message("t", b"x"))).is_ok

    run(scenario)


def test_a_lost_connection_is_followed_by_another_attempt(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        def hang_up(connection: socket.socket, data: bytes) -> None:
            cluster.write = socket.socket.sendall
            connection.shutdown(socket.SHUT_RDWR)

        cluster.write = hang_up
        result = await producer.send(Message("t", b"x"))
        assert bodies(cluster) == [b"x", b"x"]
        assert cluster.keys("t", 0)[-1] == cluster.keys("t", 0)[-2] == result.msg_id
        assert (await producer.send(Message("t", b"y"))).is_ok

    run(scenario)


def test_a_silent_broker_lets_the_send_time_out(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        cluster.write = lambda connection, data: None
        with pytest.raises(RocketWireError) as caught:
            await producer.send(Message("t", b"x"), within=0.2)
        assert isinstance(caught.value, RequestTimeoutError) or isinstance(
            caught.value.__cause__, RequestTimeoutError
        )
        cluster.write = socket.socket.sendall
        assert (await producer.send(Message("t", b"y"))).is_ok

    run(scenario)


def test_a_refused_message_is_an_error_of_the_broker(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        cluster.before_store = lambda _: reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="no")
        with pytest.raises(BrokerError, match="no"):
            await producer.send(Message("t", b"x"))

    run(scenario)


def test_a_cancelled_send_is_forgotten(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        cluster.write = lambda connection, data: None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await producer.send(Message("t", b"x"), within=60)
        (connection,) = own_connections(producer)
        assert not vars(connection)["_pending"]
        cluster.write = socket.socket.sendall
        assert (await producer.send(Message("t", b"y"))).msg_id == cluster.keys("t", 0)[-1]

    run(scenario)


def test_closing_ends_waiting_sends(run: Run) -> None:
    async def scenario(cluster: TcpCluster, producer: Producer) -> None:
        cluster.write = lambda connection, data: None
        task = asyncio.create_task(producer.send(Message("t", b"x"), within=60))
        await asyncio.sleep(0)
        await producer.close()
        with pytest.raises(ChannelClosedError):
            await task

    run(scenario)

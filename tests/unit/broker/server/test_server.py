"""The broker on its port."""

import time
from collections.abc import AsyncGenerator

import pytest
import trio

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.config import Config
from rocketwire_broker.server.clock import Clock
from rocketwire_broker.server.programs import open_broker
from rocketwire_broker.server.server import SLOW_SECONDS, BrokerServer
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.state.faults import Fault
from rocketwire_broker.state.response import SUCCESS, Response
from tests.support.broker_wire import encode_pull, encode_send
from tests.unit.broker.stream_client import StreamClient, open_clients, wait_for


@pytest.fixture
async def server() -> AsyncGenerator[BrokerServer]:
    async with open_broker(Config(listen_port=0)) as server:
        yield server


@pytest.fixture
async def client(server: BrokerServer) -> AsyncGenerator[StreamClient]:
    async with open_clients(server) as [client]:
        yield client


async def test_a_slow_request_is_logged_and_counted(
    server: BrokerServer, client: StreamClient, caplog: pytest.LogCaptureFixture
) -> None:
    def respond_late(request: RemotingCommand) -> Response:
        time.sleep(2 * SLOW_SECONDS)
        return SUCCESS

    codes = frozenset({RequestCode.GET_BROKER_CONFIG})
    server.broker.faults.add(Fault(codes, 1, script=respond_late))
    await client.call()

    assert server.broker.statistics.slow == 1
    assert "up to one with code 26" in caplog.text


async def test_slow_actions_are_logged_and_counted(
    server: BrokerServer, caplog: pytest.LogCaptureFixture
) -> None:
    schedule = server.broker.schedule
    schedule.at(0, lambda _: time.sleep(2 * SLOW_SECONDS))
    schedule.at(0, server.broker.statistics.sample)
    await server.settle()

    assert server.broker.statistics.slow == 1
    name = test_slow_actions_are_logged_and_counted.__name__
    assert f" s: due were 1 {name}, 1 Statistics.sample" in caplog.text


async def test_connections_that_send_at_once_are_all_answered(server: BrokerServer) -> None:
    offsets: list[int] = []

    async def send_twenty(client: StreamClient) -> None:
        for _ in range(20):
            answer = await client.call(encode_send())
            offsets.append(int((answer.ext_fields or {})["queueOffset"]))

    async with open_clients(server, 8) as clients, trio.open_nursery() as nursery:
        for client in clients:
            nursery.start_soon(send_twenty, client)

    assert sorted(offsets) == list(range(160))


async def test_end_of_a_connection_during_a_registration(
    server: BrokerServer, client: StreamClient
) -> None:
    registering = trio.Event()

    async def announce(broker: Broker) -> None:
        registering.set()
        await trio.sleep_forever()

    server.announce = announce
    await client.send(encode_send())
    with trio.fail_after(60):
        await registering.wait()
    server.announce = None
    server.cut()

    with trio.fail_after(60):
        assert await client.stream.receive_some() == b""


async def test_a_broker_stops_at_once_with_requests_that_wait() -> None:
    async with open_broker(Config(listen_port=0)) as server, open_clients(server) as [client]:
        await client.send(encode_send(), encode_pull(1, hold=60_000, opaque=2))
        await client.read_answer()


async def test_failed_action_is_logged(
    server: BrokerServer, client: StreamClient, caplog: pytest.LogCaptureFixture
) -> None:
    times: list[int] = []

    def fail(now: int) -> None:
        raise ValueError(now)

    now = server.clock.now()
    server.broker.schedule.at(now, fail)
    server.broker.schedule.at(now, times.append)
    for _ in range(2):
        assert (await client.call()).code == 0

    assert len(times) == 1
    assert "something that was due failed" in caplog.text


@pytest.mark.parametrize(("address", "count"), [("0.0.0.0", 1), ("127.0.0.1", 0)])
async def test_a_reachable_broker_logs_a_warning(
    caplog: pytest.LogCaptureFixture, address: str, count: int
) -> None:
    async with open_broker(Config(listen_port=0, bind_address=address)):
        assert caplog.text.count("can send, read and delete messages") == count


async def test_a_sleep_of_the_machine_ends_a_held_pull(
    server: BrokerServer, client: StreamClient
) -> None:
    offsets = [0.0]
    server.clock = Clock(lambda: offsets[0])
    await client.call(encode_send())
    await client.send(encode_pull(1, hold=3_600_000))
    await wait_for(lambda: len(server.broker.waits) == 1)
    offsets[0] = 7200.0

    assert (await client.read_answer()).code == ResponseCode.PULL_NOT_FOUND

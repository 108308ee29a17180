"""The broker on its port."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.codes import ResponseCode
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_broker.config import Config
from rocketwire_broker.server.clock import Clock
from rocketwire_broker.server.programs import open_broker
from rocketwire_broker.server.server import SLOW_SECONDS
from rocketwire_broker.state.faults import Fault
from rocketwire_broker.state.response import SUCCESS
from tests.support.broker_wire import encode_pull, encode_send

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire_broker.server.server import BrokerServer
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.state.response import Response

GET_CONFIG = encode(RemotingCommand(code=26, opaque=1))


@asynccontextmanager
async def connect_client(server: BrokerServer) -> AsyncGenerator[trio.SocketStream]:
    stream = await trio.open_tcp_stream("127.0.0.1", server.broker.config.listen_port)
    async with stream:
        yield stream


async def answers(stream: trio.SocketStream, count: int) -> list[RemotingCommand]:
    """Read that many answers."""
    decoder, result = CommandDecoder(), list[RemotingCommand]()
    with trio.fail_after(60):
        while len(result) < count:
            data = await stream.receive_some()
            assert data, "closed"
            decoder.feed(data)
            while (command := decoder.next_command()) is not None:
                result.append(command)
    return result


@pytest.fixture
async def server() -> AsyncGenerator[BrokerServer]:
    async with open_broker(Config(listen_port=0)) as server:
        yield server


async def test_a_slow_request_is_logged_and_counted(
    server: BrokerServer, caplog: pytest.LogCaptureFixture
) -> None:
    def respond_late(request: RemotingCommand) -> Response:
        time.sleep(2 * SLOW_SECONDS)
        return SUCCESS

    server.broker.faults.add(Fault(frozenset({26}), 1, script=respond_late))
    async with connect_client(server) as stream:
        await stream.send_all(GET_CONFIG)
        await answers(stream, 1)

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
    result: list[RemotingCommand] = []

    async def send_some(first: int) -> None:
        async with connect_client(server) as stream:
            for number in range(first, first + 20):
                await stream.send_all(encode_send(opaque=number))
                result.extend(await answers(stream, 1))

    async with trio.open_nursery() as nursery:
        for client in range(8):
            nursery.start_soon(send_some, 100 * client)

    offsets = sorted(int((answer.ext_fields or {})["queueOffset"]) for answer in result)
    assert offsets == list(range(160))


async def test_end_of_a_connection_during_a_registration(server: BrokerServer) -> None:
    registering = trio.Event()

    async def announce(broker: Broker) -> None:
        registering.set()
        await trio.sleep_forever()

    async with connect_client(server) as stream:
        await stream.send_all(GET_CONFIG)
        await answers(stream, 1)
        server.announce = announce
        await stream.send_all(encode_send(opaque=2))
        with trio.fail_after(60):
            await registering.wait()
        server.announce = None
        server.cut()

        with trio.fail_after(60):
            assert await stream.receive_some() == b""


async def test_a_broker_stops_at_once_with_requests_that_wait() -> None:
    async with open_broker(Config(listen_port=0)) as server, connect_client(server) as stream:
        await stream.send_all(encode_send(opaque=1) + encode_pull(1, hold=60_000, opaque=2))
        await answers(stream, 1)


async def test_failed_action_is_logged(
    server: BrokerServer, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[int] = []

    def fail(now: int) -> None:
        raise ValueError(now)

    now = server.clock.now()
    server.broker.schedule.at(now, fail)
    server.broker.schedule.at(now, done.append)
    async with connect_client(server) as stream:
        await stream.send_all(GET_CONFIG)
        [first] = await answers(stream, 1)
        await stream.send_all(GET_CONFIG)
        [second] = await answers(stream, 1)

    assert (first.code, second.code) == (0, 0)
    assert len(done) == 1
    assert "something that was due failed" in caplog.text


@pytest.mark.parametrize(("address", "count"), [("0.0.0.0", 1), ("127.0.0.1", 0)])
async def test_a_broker_that_other_machines_reach_is_warned_of(
    caplog: pytest.LogCaptureFixture, address: str, count: int
) -> None:
    async with open_broker(Config(listen_port=0, bind_address=address)):
        assert caplog.text.count("can send, read and delete messages") == count


async def test_held_pull_is_answered_after_a_sleep_of_the_machine(server: BrokerServer) -> None:
    offsets = [0.0]
    server.clock = Clock(lambda: offsets[0])
    async with connect_client(server) as stream:
        await stream.send_all(encode_send(opaque=1))
        await answers(stream, 1)
        await stream.send_all(encode_pull(1, hold=3_600_000, opaque=2))
        with trio.fail_after(60):
            while not len(server.broker.waits):
                await trio.sleep(0.01)
        offsets[0] = 7200.0

        assert (await answers(stream, 1))[0].code == ResponseCode.PULL_NOT_FOUND

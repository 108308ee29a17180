"""Every limit on both drivers: a peer beyond it is refused or closed, with one log line, and others are served."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire.connection.guards import Guard
from rocketwire.serving.events import Event, ExceededAgain, LimitExceeded
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.server.connection import ServerConnection
from tests.support.fakes.sansio_server import identity, registration_body
from tests.support.fakes.sansio_server import request as frame
from tests.support.running_server import (
    CLUSTER_INFO,
    Client,
    Driver,
    Site,
    client_of,
    connect_slowly,
    request,
)
from tests.support.running_server import running as running_server

pytestmark = pytest.mark.usefixtures("driver_name")


class Heard:
    def __init__(self) -> None:
        self.all: list[LimitExceeded] = []

    def record_event(self, event: Event, address: str | None) -> None:
        if isinstance(event, LimitExceeded):
            self.all.append(event)

    def record_end(self, connection: ServerConnection) -> None:
        """Of no interest."""

    @property
    def limits(self) -> list[str]:
        return [event.limit for event in self.all]


@asynccontextmanager
async def running(**changes: Any) -> AsyncGenerator[tuple[Site, Heard]]:
    heard = Heard()
    async with running_server(**changes) as site:
        site.server.journal.listeners.append(heard)
        yield site, heard


def register(topics: Any, broker: str = "b1", address: str = "1.1.1.1:1", **members: Any) -> bytes:
    fields = identity(broker, address=address, haServerAddr="")
    return frame(RequestCode.REGISTER_BROKER, fields, registration_body(topics, **members))


def put(value: str = "v", key: str = "k", namespace: str = "n") -> bytes:
    return request(RequestCode.PUT_KV_CONFIG, namespace=namespace, key=key, value=value)


TWO = ("TA", "TB")


@pytest.mark.parametrize(
    ("limit", "changes", "frame"),
    [
        (
            Guard.FRAME_LENGTH,
            {"frame_max_length": 1024},
            register(tuple(f"Topic-{number}" for number in range(100))),
        ),
        (Guard.HEADER_LENGTH, {"header_max_length": 1024}, put("v" * 1024)),
    ],
)
async def test_too_large_a_frame_ends_its_connection_on_the_first_bytes(
    limit: Limit, changes: dict[str, int], frame: bytes
) -> None:
    async with running(**changes) as (site, heard):
        peer, innocent = site.connect(), site.connect()
        await peer.send(frame[:8])

        assert await peer.is_closed()
        assert heard.limits == [limit]
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_who_holds_most_of_unfinished_frames_is_closed_when_it_is_too_much() -> None:
    data = register(tuple(f"Topic-{number}" for number in range(300)))
    async with running(max_buffered_bytes=30_000) as (site, heard):
        glutton, small, third = site.connect(), site.connect(), site.connect()
        await glutton.send(data[:20_000])
        await small.send(data[:8_000])
        await wait_all_tasks_blocked()
        assert heard.limits == []
        await third.send(data[:4_000])

        assert await glutton.is_closed()
        assert heard.limits == [Guard.BUFFERED_BYTES]
        await small.send(data[8_000:12_000])
        await third.send(register(TWO)[:0])
        await wait_all_tasks_blocked()
        assert len(site.server.connections) == 2


async def test_requests_in_flight_are_answered_before_more_are_handled() -> None:
    async with running(max_requests_in_flight=3) as (site, heard):
        peer = site.connect()
        ask = RequestCode.GET_BROKER_CLUSTER_INFO
        await peer.send(b"".join(request(ask, opaque) for opaque in range(20)))

        assert [(await peer.reply()).opaque for _ in range(20)] == list(range(20))
        assert set(heard.limits) == {Limit.REQUESTS_IN_FLIGHT}


async def test_who_does_not_take_most_answers_is_closed_when_it_is_too_much() -> None:
    listing = request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    async with running(server_socket_snd_buf_size=4096, max_all_unsent_bytes=250_000) as (
        site,
        heard,
    ):
        innocent = site.connect()
        topics = tuple(f"Topic-with-a-long-name-{number:06}" for number in range(3000))
        assert (await innocent.ask(register(topics))).code == 0
        for count in (2, 1):
            connect_slowly(site.server).send(listing * count)
            while not site.server.state.unsent.total and not heard.all:
                await trio.sleep(0.001)
            await wait_all_tasks_blocked()

        assert heard.limits == [Guard.ALL_UNSENT_BYTES]
        assert len(site.server.connections) == 2
        assert (await innocent.ask(CLUSTER_INFO)).code == 0
    assert site.server.state.unsent.total == 0


async def test_answers_not_taken_in_time_end_their_connection(autojump_clock: MockClock) -> None:
    listing = request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    async with running(server_socket_snd_buf_size=4096, send_deadline_seconds=30) as (site, heard):
        innocent = site.connect()
        topics = tuple(f"Topic-with-a-long-name-{number:06}" for number in range(3000))
        assert (await innocent.ask(register(topics))).code == 0
        with connect_slowly(site.server) as ours:
            ours.send(listing * 100)
            while len(site.server.connections) < 2:
                await wait_all_tasks_blocked()
            await wait_all_tasks_blocked()
            await trio.sleep(25)
            assert (await innocent.ask(CLUSTER_INFO)).code == 0
            assert heard.limits == [Guard.UNSENT_BYTES]
            await trio.sleep(15)

            assert heard.limits == [Guard.UNSENT_BYTES, Guard.SEND_DEADLINE]
            assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_a_frame_has_to_be_whole_in_time(autojump_clock: MockClock) -> None:
    async with running(frame_deadline_seconds=10) as (site, heard):
        slow, third, innocent = site.connect(), site.connect(), site.connect()
        await slow.send(CLUSTER_INFO[:20])
        await third.send(CLUSTER_INFO[:20])
        await trio.sleep(9)
        assert (await third.ask(CLUSTER_INFO[20:])).code == 0
        await trio.sleep(6)
        assert (await innocent.ask(CLUSTER_INFO)).code == 0

        assert await slow.is_closed()
        assert heard.limits == [Guard.FRAME_DEADLINE]


async def test_the_first_frame_has_to_come_in_time_where_that_is_asked_for(
    autojump_clock: MockClock,
) -> None:
    async with running(first_frame_deadline_seconds=10) as (site, heard):
        innocent = site.connect()
        await trio.sleep(1)
        assert (await innocent.ask(CLUSTER_INFO)).code == 0
        silent = site.connect()
        await trio.sleep(12)

        assert await silent.is_closed()
        assert heard.limits == [Guard.FIRST_FRAME_DEADLINE]
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_by_default_a_connection_may_be_silent_for_its_idle_time(
    autojump_clock: MockClock,
) -> None:
    async with running() as (site, heard):
        silent = site.connect()
        await trio.sleep(118)
        assert heard.limits == []
        await trio.sleep(4)

        assert await silent.is_closed()
        assert heard.limits == [Guard.IDLE_TIME]


async def test_connections_of_one_address_have_a_limit_where_that_is_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running(max_connections_per_address=2) as (site, heard):
        caplog.clear()
        clients = [through_kernel(site) for _ in range(2)]
        for client in clients:
            assert (await client.ask(CLUSTER_INFO)).code == 0
        for _ in range(3):
            assert await through_kernel(site).is_closed()
        assert heard.limits == [Guard.CONNECTIONS_PER_ADDRESS] * 3
        assert [type(event) for event in heard.all[1:]] == [ExceededAgain] * 2
        assert [record.levelname for record in caplog.records if "limit" in record.message] == [
            "WARNING"
        ]
        await clients.pop().stream.aclose()
        while len(site.server.connections) > 1:
            await trio.sleep(0.001)
        await wait_all_tasks_blocked()
        assert (await through_kernel(site).ask(CLUSTER_INFO)).code == 0
        for client in clients:
            await client.stream.aclose()


async def test_connections_have_a_limit_and_others_wait(caplog: pytest.LogCaptureFixture) -> None:
    async with running(max_connections=1) as (site, heard):
        first = through_kernel(site)
        assert (await first.ask(CLUSTER_INFO)).code == 0
        second = through_kernel(site)
        await second.send(CLUSTER_INFO)
        await wait_all_tasks_blocked()
        assert heard.limits == [Guard.CONNECTIONS]
        await first.stream.aclose()
        assert (await second.reply()).code == 0
        await second.stream.aclose()


def through_kernel(site: Site) -> Client:
    ours = socket.create_connection(site.server.listening)
    Driver.sockets.append(ours)
    return client_of(ours)

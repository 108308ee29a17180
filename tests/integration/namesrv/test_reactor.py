"""Behaviour of the Linux driver alone: unsent responses, work for other tasks, connections handed over."""

import os
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire_namesrv.protocol.session import Effects, Session
from rocketwire_namesrv.server import reactor
from rocketwire_namesrv.server import server as server_module
from rocketwire_namesrv.server.server import NameServer, serve
from tests.support.fakes.sansio_server import identity, registration_body
from tests.support.fakes.sansio_server import request as frame
from tests.support.running_server import (
    CLUSTER_INFO,
    LOOPBACK,
    Client,
    client_of,
    connect_slowly,
    request,
    running,
    settings,
)

pytestmark = [
    pytest.mark.skipif(not reactor.is_available(), reason="this system has no epoll"),
    pytest.mark.parametrize("driver_name", ["reactor"], indirect=True),
    pytest.mark.usefixtures("driver_name"),
]

LIST = request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
TOPICS = tuple(f"Topic-{number:05}" for number in range(4000))
ROUTE = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic=TOPICS[0])


def large(counter: int = 0, names: str = "") -> bytes:
    fields = identity()
    body = registration_body(
        tuple(f"{name}{names}" for name in TOPICS),
        data_version={"counter": counter, "stateVersion": 0, "timestamp": 1},
    )
    return frame(RequestCode.REGISTER_BROKER, fields, body)


async def test_a_peer_that_reads_late_gets_all_its_answers_in_order() -> None:
    async with running(server_socket_snd_buf_size=4096) as site:
        await site.connect().ask(large())
        with connect_slowly(site.server) as ours:
            client = client_of(ours)
            for opaque in range(8):
                await client.send(request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, opaque))
                await wait_all_tasks_blocked()
            answers = [await client.reply() for _ in range(8)]

            assert [answer.opaque for answer in answers] == list(range(8))
            assert all(answer.body == answers[0].body for answer in answers)
            assert (await client.ask(ROUTE)).code == 0


async def test_unsent_answers_are_sent_before_the_server_ends() -> None:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            config = settings(server_socket_snd_buf_size=4096)
            server: NameServer = await nursery.start(serve, config)
            with connect_slowly(server) as ours:
                client = client_of(ours)
                assert (await client.ask(large())).code == 0
                await client.send(LIST)
                await wait_all_tasks_blocked()
                await server.stop()
                await wait_all_tasks_blocked()

                assert len((await client.reply()).body or b"") > 50_000
                assert await client.is_closed()


@pytest.mark.parametrize("beginning", [b"", CLUSTER_INFO, CLUSTER_INFO[:9]])
async def test_a_connection_that_is_reset_is_gone(
    beginning: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as site:
        caplog.clear()
        ours = socket.create_connection(site.server.listening)
        ours.send(beginning)
        while not site.server.connections:
            await trio.sleep(0.001)
        await wait_all_tasks_blocked()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        ours.close()
        while site.server.connections:
            await trio.sleep(0.001)

    assert caplog.records == []


async def test_a_peer_that_goes_with_answers_unsent_is_gone() -> None:
    async with running(server_socket_snd_buf_size=4096) as site:
        innocent = site.connect()
        await innocent.ask(large())
        with connect_slowly(site.server) as ours:
            ours.send(LIST * 3)
            await wait_all_tasks_blocked()
            assert len(site.server.connections) == 2
        while len(site.server.connections) > 1:
            await trio.sleep(0.001)

        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_reads_are_answered_while_a_large_registration_goes_on() -> None:
    async with running() as site:
        broker, client = site.connect(), site.connect()
        await broker.ask(large())
        await client.ask(ROUTE)
        steps: list[bool] = []
        step = Session.proceed

        def observe(self: Session, now: float) -> Any:
            steps.append(True)
            return step(self, now)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Session, "proceed", observe)
            await broker.send(large(1, "another") + CLUSTER_INFO)
            assert (await client.ask(ROUTE)).code == 0
            assert (await broker.reply()).code == 0
        assert (await broker.reply()).opaque == 1
        assert len(steps) > 5


@pytest.mark.parametrize("seconds", [0.0, server_module.BEGINNING_SECONDS])
async def test_a_broker_that_ends_within_its_registration_leaves_nothing(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "BEGINNING_SECONDS", seconds)
    async with running() as site:
        broker = site.connect()
        proceed = Session.proceed

        def closing(self: Session, now: float) -> Any:
            effects = proceed(self, now)
            if site.server.state.table.topics.entries and (
                (link := next(iter(site.server.connections.values()))).session is self
            ):
                link.close("for a test")
            return effects

        monkeypatch.setattr(Session, "proceed", closing)
        await broker.send(large())
        assert await broker.is_closed()
        monkeypatch.undo()
        client = site.connect()

        assert await client.brokers() == {}
        assert not site.server.state.table.topics.entries
        assert (await client.ask(large())).code == 0


async def test_a_fault_in_a_task_of_a_connection_ends_that_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*_: object) -> None:
        raise RuntimeError("no step")

    async with running() as site:
        innocent, victim = site.connect(), site.connect()
        monkeypatch.setattr(Session, "proceed", faulty)
        await victim.send(large())

        assert await victim.is_closed()
        assert "no step" in caplog.text
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_a_peer_that_goes_while_its_item_is_written_is_gone(
    may_save: threading.Event, tmp_path: Path
) -> None:
    put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
    async with running(kv_config_path=str(tmp_path / "kv")) as site:
        innocent = site.connect()
        with connect_slowly(site.server) as ours:
            ours.send(put)
            while len(site.server.connections) < 2:
                await trio.sleep(0.001)
            await wait_all_tasks_blocked()
            linger = struct.pack("ii", 1, 0)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        may_save.set()
        while len(site.server.connections) > 1:
            await trio.sleep(0.001)

        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_where_there_is_no_epoll_each_connection_has_a_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reactor, "is_available", lambda: False)
    async with running() as site, await trio.open_tcp_stream(*site.server.listening) as stream:
        assert site.server.reactor is None
        assert (await Client(stream).ask(CLUSTER_INFO)).code == 0


async def test_a_lone_descriptor_is_all_that_is_waited_for() -> None:
    async with running() as site:
        await wait_all_tasks_blocked()
        tasks = trio.lowlevel.current_statistics().tasks_living
        clients = [site.connect() for _ in range(10)]
        for client in clients:
            await client.ask(CLUSTER_INFO)

        await wait_all_tasks_blocked()
        assert trio.lowlevel.current_statistics().tasks_living <= tasks
        assert LOOPBACK in site.server.listening


async def test_readers_are_answered_between_the_steps_of_a_registration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "BEGINNING_SECONDS", 0.0)
    monkeypatch.setattr(server_module, "SERVED_STEPS_SECONDS", 60.0)
    proceed = Session.proceed
    answers = {True: 0, False: 0}  # whether a registration was in the midst of its steps
    async with running() as site:
        broker = site.connect()
        await broker.ask(large())
        host, port, *_ = site.server.listening
        with socket.create_connection((str(host), int(str(port)))) as reader:
            reader.setblocking(False)

            def proceed_and_look(session: Session, now: float) -> Effects:
                effects = proceed(session, now)
                if not sum(answers.values()):
                    reader.sendall(ROUTE)
                with suppress(BlockingIOError):
                    answers[site.server.state.stepping] += len(reader.recv(65_536))
                return effects

            await wait_all_tasks_blocked()
            monkeypatch.setattr(Session, "proceed", proceed_and_look)
            assert (await broker.ask(large(1, "x"))).code == 0

    assert answers[True] > 0


async def test_registrations_that_begin_at_once_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "BEGINNING_SECONDS", 0.0)
    monkeypatch.setattr(server_module, "SERVED_STEPS_SECONDS", 0.0)
    replies: list[int] = []
    async with running() as site:

        async def register(number: int) -> None:
            reply = await site.connect().ask(large(number, str(number)))
            replies.append(int(reply.code))

        async with trio.open_nursery() as brokers:
            for number in range(3):
                brokers.start_soon(register, number)

    assert replies == [0, 0, 0]


@pytest.mark.parametrize("reader_first", [True, False])
async def test_reads_come_before_parts_of_large_bodies(
    reader_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reactor, "BODY_READ_SIZE", 1000)
    reads: list[object] = []
    received, answer_one_route = Session.receive_filled, Session.answer_one_route

    def note_received(session: Session, count: int, now: float) -> Effects:
        reads.append(count)
        return received(session, count, now)

    def note_read(session: Session, data: bytes, now: float) -> Any:
        reads.append("read")
        return answer_one_route(session, data, now)

    monkeypatch.setattr(Session, "receive_filled", note_received)
    monkeypatch.setattr(Session, "answer_one_route", note_read)
    async with running() as site:
        clients = [site.connect() for _ in range(3)]
        reader = clients.pop(0 if reader_first else 2)
        await reader.send(CLUSTER_INFO)
        await wait_all_tasks_blocked()
        for client in clients:  # both bodies have begun, and all that has come is received
            await client.send(large()[:200_000])
        await wait_all_tasks_blocked()
        reads.clear()
        for client, data in (*((sender, b" " * 1500) for sender in clients), (reader, ROUTE)):
            assert isinstance(client.stream, trio.SocketStream)
            os.write(client.stream.socket.fileno(), data)  # the reactor has no turn meanwhile
        assert site.server.reactor is not None
        for _ in range(4):
            site.server.reactor.serve_ready()

    assert reads == ["read", 1000, 1000, 500, 500] or reads == ["read", 1000, 500, 1000, 500]

"""The driver: what time brings to connections and brokers, and what brokers are told."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from tests.support.running_server import (
    CLUSTER_INFO,
    LOOPBACK,
    Client,
    registration,
    request,
    running,
    settings,
)

pytestmark = pytest.mark.usefixtures("driver_name")


# ---- time


async def test_an_idle_connection_is_closed_after_the_idle_time(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running() as site:
        caplog.clear()
        start = trio.current_time()

        assert await site.connect().is_closed()
        assert trio.current_time() - start == pytest.approx(120, abs=1.5)
        assert [record.getMessage() for record in caplog.records] == [
            "connection of client:1 closed: idle for 120 s"
        ]


@pytest.mark.parametrize("oneway", [False, True])
async def test_requests_keep_a_connection_open(autojump_clock: MockClock, oneway: bool) -> None:
    async with running(settings(server_channel_max_idle_time_seconds=2)) as site:
        client = site.connect()
        for _ in range(10):
            await client.send(request(RequestCode.GET_BROKER_CLUSTER_INFO, oneway=oneway))
            await trio.sleep(1.5)

        assert len(site.server.connections) == 1


async def test_a_trickle_of_bytes_does_not_keep_a_connection_open(
    autojump_clock: MockClock,
) -> None:
    async with running(settings(server_channel_max_idle_time_seconds=2)) as site:
        client = site.connect()
        start = trio.current_time()
        sent = 0
        await wait_all_tasks_blocked()
        while site.server.connections:
            await client.send(CLUSTER_INFO[sent : sent + 1])
            await trio.sleep(0.5)
            sent += 1

        assert trio.current_time() - start == pytest.approx(2, abs=0.6)


async def test_a_frame_has_to_be_whole_in_time(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running(settings(server_channel_max_idle_time_seconds=0)) as site:
        client = site.connect()
        await client.ask(CLUSTER_INFO)
        await trio.sleep(1000)
        start = trio.current_time()
        await client.send(CLUSTER_INFO + CLUSTER_INFO[:5])
        await client.reply()
        await trio.sleep(30)
        await client.send(CLUSTER_INFO[5:9])

        assert await client.is_closed()
        assert trio.current_time() - start == pytest.approx(60, abs=1.5)
        assert "a frame took longer than 60 s" in caplog.text


async def test_without_limits_nothing_is_closed(autojump_clock: MockClock) -> None:
    config = settings(server_channel_max_idle_time_seconds=0, frame_deadline_seconds=0)
    async with running(config) as site:
        client = site.connect()
        await client.send(CLUSTER_INFO[:5])
        await trio.sleep(2_000)
        await client.send(CLUSTER_INFO[5:])

        assert (await client.reply()).code == 0


async def test_a_peer_that_never_reads_is_not_read_from_and_ends_idle(
    autojump_clock: MockClock,
) -> None:
    async with running() as site:
        client = site.connect(lockstep_stream_pair)
        await client.send(CLUSTER_INFO)
        await wait_all_tasks_blocked()
        with trio.move_on_after(5) as waited:
            await client.send(CLUSTER_INFO)
        assert waited.cancelled_caught
        other = site.connect()
        assert (await other.ask(CLUSTER_INFO)).code == 0
        await trio.sleep(125)

        assert site.server.connections == {}


# ---- brokers


async def test_a_broker_is_gone_as_soon_as_its_connection_is() -> None:
    async with running() as site:
        broker, other = site.connect(), site.connect()
        assert (await broker.ask(registration())).code == 0
        assert list(await other.brokers()) == ["broker-a"]
        await broker.stream.aclose()
        await wait_all_tasks_blocked()

        assert await other.brokers() == {}


async def test_a_silent_broker_expires_and_its_connection_is_closed(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with running() as site:
        broker, other = site.connect(), site.connect()
        start = trio.current_time()
        await broker.ask(registration(heartbeatTimeoutMillis="1500"))

        assert await broker.is_closed()
        assert trio.current_time() - start == pytest.approx(5, abs=0.1)
        assert await other.brokers() == {}


async def test_a_fault_of_our_own_in_a_scan_ends_neither_the_scans_nor_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    expire = State.expire
    faults = [RuntimeError("no luck")]

    def faulty(self: State, now: float) -> Any:
        if faults:
            raise faults.pop()
        return expire(self, now)

    monkeypatch.setattr(State, "expire", faulty)
    async with running() as site:
        broker = site.connect()
        await broker.ask(registration(heartbeatTimeoutMillis="1500"))

        assert await broker.is_closed()
        assert "no luck" in caplog.text


async def test_a_fault_of_our_own_at_the_end_of_a_connection_stays_there(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*_: object) -> None:
        raise RuntimeError("no end")

    monkeypatch.setattr(Session, "lost", faulty)
    async with running() as site:
        innocent, victim = site.connect(), site.connect()
        await victim.ask(CLUSTER_INFO)
        await victim.stream.aclose()
        await wait_all_tasks_blocked()

        assert len(site.server.connections) == 1
        assert "no end" in caplog.text
        assert (await innocent.ask(CLUSTER_INFO)).code == 0
        monkeypatch.undo()


async def test_what_happens_is_logged_once_with_the_peer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with running() as site:
        caplog.clear()
        await site.connect().ask(registration())

        lines = [record.getMessage() for record in caplog.records]
        assert sum("new broker registered" in line for line in lines) == 1
        assert all("[client:1]" in line for line in lines)


async def test_brokers_are_told_of_a_new_smallest_broker_id() -> None:
    with trio.fail_after(60):
        config = settings(notify_min_broker_id_changed=True)
        listeners = await trio.open_tcp_listeners(0, host=LOOPBACK)
        async with running(config) as site, listeners[0] as listener:
            host, port = listener.socket.getsockname()
            broker = site.connect()
            await broker.ask(registration(address=f"{host}:{port}", brokerId="2"))
            await broker.ask(registration(address="10.0.0.2:1", brokerId="1"))

            async with await listener.accept() as stream:
                told = await Client(stream).reply()

    assert told.code == RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE
    assert told.is_oneway
    assert told.ext_fields is not None
    assert told.ext_fields["minBrokerId"] == "1"


async def test_a_broker_that_cannot_be_told_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with trio.fail_after(60):
        async with running(settings(notify_min_broker_id_changed=True)) as site:
            broker = site.connect()
            await broker.ask(registration(address="no port", brokerId="2"))
            await broker.ask(registration(address="10.0.0.2:1", brokerId="1"))
            await wait_all_tasks_blocked()

    assert "broker no port is not notified" in caplog.text

"""The driver and time: idle connections, lost brokers, and notifications to brokers."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from tests.support.running_server import CLUSTER_INFO, registration, request, running, settings

pytestmark = pytest.mark.usefixtures("driver_name")


# ---- time


@pytest.mark.parametrize("oneway", [False, True])
async def test_requests_keep_a_connection_open(autojump_clock: MockClock, oneway: bool) -> None:
    async with running(server_channel_max_idle_time_seconds=2) as site:
        client = site.connect()
        for _ in range(10):
            await client.send(request(RequestCode.GET_BROKER_CLUSTER_INFO, oneway=oneway))
            await trio.sleep(1.5)

        assert len(site.server.connections) == 1


async def test_a_trickle_of_bytes_does_not_keep_a_connection_open(
    autojump_clock: MockClock,
) -> None:
    async with running(server_channel_max_idle_time_seconds=2) as site:
        client = site.connect()
        start = trio.current_time()
        sent = 0
        await wait_all_tasks_blocked()
        while site.server.connections:
            await client.send(CLUSTER_INFO[sent : sent + 1])
            await trio.sleep(0.5)
            sent += 1

        assert trio.current_time() - start == pytest.approx(2, abs=0.6)


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
        innocent = site.connect()
        assert (await innocent.ask(CLUSTER_INFO)).code == 0
        await trio.sleep(125)

        assert site.server.connections == {}


# ---- brokers


async def test_a_fault_in_a_scan_ends_neither_scans_nor_server(
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

    monkeypatch.setattr(Session, "connection_lost", faulty)
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

"""The driver: every connection by itself, whatever comes over it."""

from typing import Any

import pytest
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from rocketwire_namesrv.protocol.session import Effects, Session
from tests.support.running_server import CLUSTER_INFO, Client, connect, running

pytestmark = pytest.mark.usefixtures("driver_name")


# ---- requests and answers


async def test_a_client_that_ends_its_side_still_gets_its_answer() -> None:
    async with running() as site, await connect(site) as stream:
        client = Client(stream)
        await client.send(CLUSTER_INFO)
        await stream.send_eof()
        assert (await client.reply()).code == 0
        assert await client.is_closed()


async def test_a_silent_connection_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as site:
        caplog.clear()
        for _ in range(20):
            await (await connect(site)).aclose()
        async with await connect(site) as stream:
            await Client(stream).ask(CLUSTER_INFO)
            await wait_all_tasks_blocked()

            assert len(site.server.connections) == 1
        assert caplog.records == []


# ---- bytes that are no command


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", "an HTTP request: GET '/health'"),
        (b"\x7f\xff\xff\xff\x00\x00\x00\x10", "a frame length of 2147483647"),
        (b"\xff\xff\xff\xff", "bytes ff ff ff ff"),
        (b"\x00\x00\x00\x10\x07\x00\x00\x02{}", "bytes 00 00 00 10 07"),
        (b"\x00\x00\x00\x10\x00\x00\x00\x0chello, world", "bytes 00 00 00 10"),
    ],
)
async def test_bytes_that_are_no_command_close_their_connection_with_one_warning(
    data: bytes, looks: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as site:
        innocent = site.connect()
        hostile = site.connect()
        caplog.clear()
        await hostile.send(data)

        assert await hostile.is_closed()
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert "client:1" in record.getMessage()
        assert f"it looks like {looks}" in record.getMessage()
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


@pytest.mark.parametrize(
    ("pieces", "line", "is_named"),
    [
        ((CLUSTER_INFO + b"SSH-2.0-x\r\n" + CLUSTER_INFO,), "exceeds the limit", False),
        ((CLUSTER_INFO, b"SSH", b"-2.0-x\r\n"), "it looks like an SSH client: 'SSH-2.0-x'", True),
    ],
)
async def test_what_came_before_the_bad_bytes_is_answered(
    pieces: tuple[bytes, ...], line: str, is_named: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with running() as site:
        client = site.connect()
        await client.ask(CLUSTER_INFO)
        caplog.clear()
        for piece in pieces:
            await client.send(piece)
            await wait_all_tasks_blocked()

        assert (await client.reply()).code == 0
        assert await client.is_closed()
        (record,) = caplog.records
        assert line in record.getMessage()
        assert ("looks like" in record.getMessage()) == is_named


async def test_of_a_long_frame_only_the_beginning_is_kept() -> None:
    async with running() as site:
        client = site.connect()
        await client.send(b"\x00\x10\x00\x00\x00\x00\x00\x02{}")
        for _ in range(10):
            await client.send(bytes(1000))
            await wait_all_tasks_blocked()

        (connection,) = site.server.connections.values()
        assert connection.opening is not None
        assert len(connection.opening) < 1000


async def test_a_fault_of_our_own_closes_one_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    receive = Session.receive

    def faulty(self: Session, data: bytes, now: float) -> Any:
        if b"poison" in data:
            raise RuntimeError("no antidote")
        return receive(self, data, now)

    monkeypatch.setattr(Session, "receive", faulty)
    async with running() as site:
        innocent, victim = site.connect(), site.connect()
        await victim.send(b"poison")

        assert await victim.is_closed()
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "no antidote" in caplog.text
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_a_session_may_have_other_connections_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as site:
        first = site.connect()
        await first.ask(CLUSTER_INFO)
        (number,) = site.server.connections

        def closing(*_: object) -> Effects:
            return Effects(close_connections=(number, 4711))

        monkeypatch.setattr(Session, "receive", closing)
        await site.connect().send(b"now")

        assert await first.is_closed()


async def test_a_connection_that_breaks_is_just_gone(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as site:
        ours, theirs = memory_stream_pair()
        site.nursery.start_soon(site.server.serve_stream, theirs, "client:2")
        await wait_all_tasks_blocked()
        theirs.receive_stream.close()
        await wait_all_tasks_blocked()

        assert site.server.connections == {}
        assert caplog.records == []
        await ours.aclose()

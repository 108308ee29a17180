"""The driver: files before answers, places for connections, and a graceful end."""

import errno
import os
import signal
import socket
import threading
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire.serving import acceptor, sockets
from rocketwire.serving.sockets import Listening
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire_namesrv.protocol.session import NOT_SAVED
from rocketwire_namesrv.runtime import storage
from rocketwire_namesrv.server.server import NameServer, serve, serve_until_signal
from rocketwire_namesrv.server.startup import load_state
from tests.support.running_server import (
    CLUSTER_INFO,
    Client,
    Site,
    connect,
    registration,
    request,
    running,
    settings,
)

pytestmark = pytest.mark.usefixtures("driver_name")


# ---- files


async def test_a_kv_item_is_on_disk_before_it_is_acknowledged(
    tmp_path: Path, may_save: threading.Event
) -> None:
    path = tmp_path / "kvConfig.json"
    put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
    async with running(settings(kv_config_path=str(path))) as site:
        client, second = site.connect(), site.connect()
        await client.send(put)
        await wait_all_tasks_blocked()
        assert (await second.ask(CLUSTER_INFO)).code == 0
        assert not path.exists()
        may_save.set()

        assert (await client.reply()).code == 0
        assert path.read_bytes() == b'{"configTable":{"ns":{"k":"v"}}}'


async def test_an_unsaved_kv_item_is_in_effect_and_saved_with_the_next_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "kvConfig.json"
    config = settings(kv_config_path=str(path))
    async with running(config) as site:
        client = site.connect()
        put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
        get = request(RequestCode.GET_KV_CONFIG, namespace="ns", key="k")

        reply = await client.ask(put)
        assert (reply.code, reply.remark) == (1, NOT_SAVED.remark)
        assert (await client.ask(get)).ext_fields == {"value": "v"}
        assert "the KV configuration is not saved" in caplog.text

        (tmp_path / "file").unlink()
        second = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="other", value="w")
        assert (await client.ask(second)).code == 0
        assert storage.load_kv(str(path)) == {"ns": {"k": "v", "other": "w"}}


def test_a_kv_file_that_cannot_be_read_is_an_empty_table(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = load_state(settings(kv_config_path=str(tmp_path)))

    assert state.kv.document() == {}
    assert "it starts empty" in caplog.text


async def test_a_kv_file_that_could_not_be_read_at_the_start_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "kvConfig.json"
    path.write_bytes(b'{"configTable":{"ns":{"old":"v"}}}')

    def unreadable(_: str) -> dict[str, dict[str, str | None]]:
        raise OSError(errno.EIO, "the disk is tired")

    monkeypatch.setattr(storage, "load_kv", unreadable)
    async with running(settings(kv_config_path=str(path))) as site:
        put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")

        assert (await site.connect().ask(put)).code == 1

    assert path.read_bytes() == b'{"configTable":{"ns":{"old":"v"}}}'
    assert "could not be read at the start" in caplog.text


# ---- listening, limits, stopping


async def test_the_lack_of_file_descriptors_is_survived(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [errno.EMFILE, errno.ENFILE]

    async def accept_later(listener: socket.socket) -> socket.socket:
        if failures:
            raise OSError(failures.pop(), "too many")
        return await sockets.accept(listener)

    monkeypatch.setattr(acceptor, "accept", accept_later)
    async with running() as site, await connect(site) as stream:
        assert (await Client(stream).ask(CLUSTER_INFO)).code == 0

    assert sum("can be accepted" in record.getMessage() for record in caplog.records) == 1


async def test_a_connection_that_ended_before_it_was_accepted_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = [errno.EINVAL]

    def refuse_first(accepted: socket.socket, **sizes: int) -> trio.abc.Stream:
        if failures:
            raise OSError(failures.pop(), "gone")
        return sockets.SocketStream(accepted, **sizes)

    monkeypatch.setattr(acceptor, "SocketStream", refuse_first)
    async with running() as site:
        async with await connect(site) as first:
            assert await Client(first).is_closed()
        async with await connect(site) as second:
            assert (await Client(second).ask(CLUSTER_INFO)).code == 0


async def test_a_stop_closes_connections_without_forgetting_brokers(
    autojump_clock: MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        server: NameServer = await nursery.start(serve, settings())
        site = Site(server, nursery)
        broker = site.connect()
        await broker.ask(registration())
        await server.stop()

        assert await broker.is_closed()

    assert list(server.state.table.groups) == ["broker-a"]
    assert server.connections == {}


async def test_answers_under_way_are_sent_before_the_server_ends(
    may_save: threading.Event, tmp_path: Path
) -> None:
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            config = settings(kv_config_path=str(tmp_path / "kv"))
            server: NameServer = await nursery.start(serve, config)
            client = Client(await trio.open_tcp_stream(*server.listening))
            await client.send(
                request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
            )
            while not server.connections:
                await trio.sleep(0.001)
            await wait_all_tasks_blocked()
            await server.stop()
            await wait_all_tasks_blocked()
            may_save.set()

            assert (await client.reply()).code == 0
            assert await client.is_closed()
            await client.stream.aclose()


async def test_a_hangup_reloads_the_certificate_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM]
    reloads: list[TlsContexts] = []

    async def reload(self: TlsContexts) -> None:
        reloads.append(self)
        os.kill(os.getpid(), numbers.pop(0))

    def on_boot(_: Listening, __: str) -> None:
        os.kill(os.getpid(), numbers.pop(0))

    monkeypatch.setattr(TlsContexts, "reload", reload)
    with trio.fail_after(60):
        assert await serve_until_signal(settings(), on_boot) == signal.SIGTERM
    assert len(reloads) == 2


async def test_a_second_signal_cuts_the_graceful_phase_short() -> None:
    config = settings(enable_shutdown_gracefully=True, shutdown_wait_time_seconds=1000)

    booted = trio.Event()

    def on_boot(_: Listening, __: str) -> None:
        booted.set()
        os.kill(os.getpid(), signal.SIGTERM)

    async def once_more() -> None:
        await booted.wait()
        await trio.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(once_more)
            assert await serve_until_signal(config, on_boot) == signal.SIGTERM

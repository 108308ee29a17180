"""The driver: every connection by itself, time limits, files before answers, and a graceful end."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, memory_stream_pair, wait_all_tasks_blocked

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_namesrv import accepting, reactor, sockets, storage
from rocketwire_namesrv.config import Config
from rocketwire_namesrv.server import NameServer, load_state, serve, serve_until_signal
from rocketwire_namesrv.session import NOT_SAVED, Outcome, Session
from rocketwire_namesrv.sockets import BindError, Listening
from rocketwire_namesrv.state import State
from rocketwire_namesrv.tls import TlsContexts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path

LOOPBACK = "127.0.0.1"
REACTOR = pytest.mark.skipif(not reactor.is_available(), reason="this system has no epoll")


class Driver:
    """The driver that a test runs on, and the sockets that the test has opened for it."""

    name = "portable"
    sockets: ClassVar[list[socket.socket]] = []


@pytest.fixture(params=["portable", pytest.param("reactor", marks=REACTOR)], autouse=True)
def driver_name(request: pytest.FixtureRequest) -> Iterator[str]:
    Driver.name = request.param
    yield Driver.name
    while Driver.sockets:
        Driver.sockets.pop().close()


def _with_driver(changes: dict[str, Any]) -> dict[str, Any]:
    return {"driver": Driver.name, **changes}


def settings(**changes: Any) -> Config:
    return Config(bind_address=LOOPBACK, listen_port=0, **_with_driver(changes))


def request(code: int, opaque: int = 1, *, oneway: bool = False, **ext: str) -> bytes:
    flag = CommandFlag.ONEWAY if oneway else 0
    return encode(RemotingCommand(code=code, opaque=opaque, flag=flag, ext_fields=ext or None))


CLUSTER_INFO = request(RequestCode.GET_BROKER_CLUSTER_INFO)


def registration(name: str = "broker-a", address: str = "10.0.0.1:10911", **more: str) -> bytes:
    topics = {
        topic: {
            "topicName": topic,
            "readQueueNums": 4,
            "writeQueueNums": 4,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": False,
        }
        for topic in ("TA", "TB")
    }
    wrapper = {
        "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": 1},
        "topicConfigTable": topics,
    }
    ext = {
        "brokerName": name,
        "brokerAddr": address,
        "clusterName": "C",
        "haServerAddr": "10.0.0.1:10912",
        "brokerId": "0",
        **more,
    }
    return encode(
        RemotingCommand(
            code=RequestCode.REGISTER_BROKER,
            opaque=7,
            ext_fields=ext,
            body=json.dumps({"topicConfigSerializeWrapper": wrapper}).encode(),
        )
    )


class Client:
    """A peer of the name server: bytes out, commands in."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._decoder = CommandDecoder()

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def reply(self) -> RemotingCommand:
        while (command := self._decoder.next_command()) is None:
            data = await self.stream.receive_some()
            assert data, "closed instead of a reply"
            self._decoder.feed(data)
        return command

    async def ask(self, data: bytes) -> RemotingCommand:
        await self.send(data)
        return await self.reply()

    async def is_closed(self) -> bool:
        """Whether the server closes without another byte; waits for it."""
        try:
            return await self.stream.receive_some() == b""
        except trio.BrokenResourceError:
            return True

    async def brokers(self) -> dict[str, Any]:
        body = (await self.ask(CLUSTER_INFO)).body
        assert body is not None
        text = body.replace(b"{0:", b'{"0":')
        table: dict[str, Any] = json.loads(text)["brokerAddrTable"]
        return table


def socket_pair() -> tuple[trio.SocketStream, socket.socket]:
    """Two ends of a connection through the kernel."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    Driver.sockets.append(ours)
    return trio.SocketStream(trio.socket.from_stdlib_socket(ours)), theirs


class Site:
    """A running server and a way to connect to it without sockets."""

    def __init__(self, server: NameServer, nursery: trio.Nursery) -> None:
        self.server = server
        self.nursery = nursery

    def connect(self, pair: Callable[[], tuple[Any, Any]] | None = None) -> Client:
        if self.server.reactor is not None and pair is None:
            stream, accepted = socket_pair()
            self.server.door.admit(accepted, "client:1")
            return Client(stream)
        ours, theirs = (pair or memory_stream_pair)()
        self.nursery.start_soon(self.server.serve_stream, theirs, "client:1")
        return Client(ours)


@asynccontextmanager
async def running(config: Config | None = None) -> AsyncGenerator[Site]:
    """A server for the length of a block; then it is cancelled."""
    async with trio.open_nursery() as nursery:
        server: NameServer = await nursery.start(serve, config or settings())
        yield Site(server, nursery)
        nursery.cancel_scope.cancel()


async def connect(site: Site) -> trio.SocketStream:
    """A connection through the kernel."""
    return await trio.open_tcp_stream(*site.server.listening)


# ---- requests and answers


async def test_a_request_over_a_real_socket_is_answered() -> None:
    with trio.fail_after(60):
        async with running() as site:
            address, port = site.server.listening
            assert address == LOOPBACK
            assert port > 0
            async with await trio.open_tcp_stream(address, port) as stream:
                client = Client(stream)
                answer = await client.ask(CLUSTER_INFO)
                assert (answer.code, answer.opaque) == (0, 1)
                assert answer.body == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'


async def test_the_real_port_is_in_the_configuration_shown() -> None:
    async with running() as site:
        answer = await site.connect().ask(request(RequestCode.GET_NAMESRV_CONFIG))

        assert answer.body is not None
        assert f"\nlistenPort={site.server.listening.port}\n".encode() in answer.body


async def test_a_request_in_single_bytes_is_answered() -> None:
    async with running() as site:
        client = site.connect()
        for byte in CLUSTER_INFO:
            await client.send(bytes([byte]))
            await wait_all_tasks_blocked()

        assert (await client.reply()).code == 0


async def test_pipelined_requests_are_answered_in_order_with_one_send() -> None:
    async with running() as site:
        client = site.connect()
        frames = [request(9999, opaque) for opaque in range(5)]
        await client.send(b"".join(frames))

        assert [(await client.reply()).opaque for _ in frames] == [0, 1, 2, 3, 4]


async def test_a_client_that_ends_its_side_after_the_request_still_gets_the_answer() -> None:
    with trio.fail_after(60):
        async with running() as site, await connect(site) as stream:
            client = Client(stream)
            await client.send(CLUSTER_INFO)
            await stream.send_eof()
            assert (await client.reply()).code == 0
            assert await client.is_closed()


async def test_a_connection_that_says_nothing_leaves_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with trio.fail_after(60):
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
        (b"\x00\x00\x00\x10\x00\x00\x00\xff{}", "a frame of 16 bytes with a header of 255"),
        (b"\x00\x00\x00\x10\x07\x00\x00\x02{}", "bytes 00 00 00 10 07"),
        (b"\x00\x00\x00\x10\x00\x00\x00\x0chello, world", "bytes 00 00 00 10"),
        (b"\x9d\x1e\xaf\x00\x01\x02\x03", "bytes 9d 1e af"),
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


async def test_what_came_before_the_bad_bytes_is_answered(caplog: pytest.LogCaptureFixture) -> None:
    async with running() as site:
        client = site.connect()
        await client.ask(CLUSTER_INFO)
        caplog.clear()
        await client.send(CLUSTER_INFO + b"SSH-2.0-x\r\n" + CLUSTER_INFO)

        assert (await client.reply()).code == 0
        assert await client.is_closed()
        (record,) = caplog.records
        assert "exceeds the limit" in record.getMessage()
        assert "looks like" not in record.getMessage()


async def test_bad_bytes_after_good_commands_are_named_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running() as site:
        client = site.connect()
        await client.ask(CLUSTER_INFO)
        await client.send(b"SSH")
        await wait_all_tasks_blocked()
        await client.send(b"-2.0-x\r\n")

        assert await client.is_closed()
        assert "it looks like an SSH client: 'SSH-2.0-x'" in caplog.text


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


async def test_a_session_may_have_other_connections_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running() as site:
        first = site.connect()
        await first.ask(CLUSTER_INFO)
        (one,) = site.server.connections

        def closing(*_: object) -> Outcome:
            return Outcome(close_connections=(one, 4711))

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

    assert "broker no port is not told" in caplog.text


# ---- files


async def test_a_kv_item_is_on_disk_before_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kvConfig.json"
    go_on = threading.Event()
    save = storage.save

    def slow(where: str, content: bytes) -> None:
        go_on.wait(10)
        save(where, content)

    monkeypatch.setattr(storage, "save", slow)
    put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
    with trio.fail_after(60):
        async with running(settings(kv_config_path=str(path))) as site:
            client, other = site.connect(), site.connect()
            await client.send(put)
            await wait_all_tasks_blocked()
            assert (await other.ask(CLUSTER_INFO)).code == 0
            assert not path.exists()
            go_on.set()

            assert (await client.reply()).code == 0
            assert path.read_bytes() == b'{"configTable":{"ns":{"k":"v"}}}'


async def test_kv_items_survive_a_restart(tmp_path: Path) -> None:
    config = settings(kv_config_path=str(tmp_path / "a" / "kvConfig.json"))
    put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
    get = request(RequestCode.GET_KV_CONFIG, namespace="ns", key="k")
    async with running(config) as site:
        await site.connect().ask(put)
    async with running(config) as site:
        assert (await site.connect().ask(get)).ext_fields == {"value": "v"}


async def test_a_kv_item_that_cannot_be_saved_is_an_error_and_in_effect_and_saved_by_the_next_one(
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
        other = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="other", value="w")
        assert (await client.ask(other)).code == 0
        assert storage.load_kv(str(path)) == {"ns": {"k": "v", "other": "w"}}


async def test_an_update_of_the_configuration_is_stored_before_it_is_acknowledged(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ns.properties"
    config = settings(config_store_path=str(path), allow_config_update=True)
    update = encode(
        RemotingCommand(code=RequestCode.UPDATE_NAMESRV_CONFIG, body=b"enableTopicList=false")
    )
    async with running(config) as site:
        assert (await site.connect().ask(update)).code == 0
        assert b"\nenableTopicList=false\n" in path.read_bytes()


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


async def test_a_port_in_use_is_no_start() -> None:
    async with running() as site:
        config = Config(bind_address=LOOPBACK, listen_port=site.server.listening.port)
        with pytest.raises(BindError):
            await serve(config)


async def test_beyond_the_limit_connections_wait_for_a_free_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with trio.fail_after(60):
        async with (
            running(settings(max_connections=1)) as site,
            await connect(site) as first,
            await connect(site) as second,
            await connect(site) as third,
        ):
            await Client(first).ask(CLUSTER_INFO)
            waiting = Client(second)
            await waiting.send(CLUSTER_INFO)
            await wait_all_tasks_blocked()
            assert len(site.server.connections) == 1
            await first.aclose()

            assert (await waiting.reply()).code == 0
            await second.aclose()
            assert (await Client(third).ask(CLUSTER_INFO)).code == 0
    warnings = [record.getMessage() for record in caplog.records]
    line = "limit rocketwire.maxConnections=1 exceeded: 1 connections, others have to wait"
    assert warnings == [line]


async def test_the_lack_of_file_descriptors_is_survived(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [errno.EMFILE, errno.ENFILE]

    async def exhausted(listener: socket.socket) -> socket.socket:
        if failures:
            raise OSError(failures.pop(), "too many")
        return await sockets.accept(listener)

    monkeypatch.setattr(accepting, "accept", exhausted)
    with trio.fail_after(60):
        async with running() as site, await connect(site) as stream:
            assert (await Client(stream).ask(CLUSTER_INFO)).code == 0

    assert sum("can be accepted" in record.getMessage() for record in caplog.records) == 1


async def test_a_connection_that_ended_before_it_was_accepted_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = [errno.EINVAL]

    def gone(accepted: socket.socket, **sizes: int) -> trio.abc.Stream:
        if failures:
            raise OSError(failures.pop(), "gone")
        return sockets.SocketStream(accepted, **sizes)

    monkeypatch.setattr(accepting, "SocketStream", gone)
    with trio.fail_after(60):
        async with running() as site:
            async with await connect(site) as first:
                assert await Client(first).is_closed()
            async with await connect(site) as second:
                assert (await Client(second).ask(CLUSTER_INFO)).code == 0


async def test_a_server_that_stops_closes_what_is_open_without_forgetting_brokers(
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
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go_on = threading.Event()

    def slow(*_: object) -> None:
        go_on.wait(10)

    monkeypatch.setattr(storage, "save", slow)
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
            go_on.set()

            assert (await client.reply()).code == 0
            assert await client.is_closed()
            await client.stream.aclose()


async def test_in_the_graceful_phase_clients_are_sent_away(autojump_clock: MockClock) -> None:
    config = settings(enable_shutdown_gracefully=True, shutdown_wait_time_seconds=30)
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        server: NameServer = await nursery.start(serve, config)
        site = Site(server, nursery)
        nursery.start_soon(server.stop)
        await wait_all_tasks_blocked()
        answer = await site.connect().ask(request(9999))
        assert (answer.code, answer.remark) == (ResponseCode.GO_AWAY, "please go away")

    assert trio.current_time() - start == pytest.approx(30, abs=1.5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_server(number: signal.Signals) -> None:
    booted: list[Listening] = []

    def on_boot(listening: Listening) -> None:
        booted.append(listening)
        os.kill(os.getpid(), number)

    with trio.fail_after(60):
        assert await serve_until_signal(settings(), on_boot) == number
    assert booted[0].port > 0


async def test_a_hangup_reloads_the_certificate_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM]
    reloads: list[TlsContexts] = []

    async def reload(self: TlsContexts) -> None:
        reloads.append(self)
        os.kill(os.getpid(), numbers.pop(0))

    def on_boot(_: Listening) -> None:
        os.kill(os.getpid(), numbers.pop(0))

    monkeypatch.setattr(TlsContexts, "reload", reload)
    with trio.fail_after(60):
        assert await serve_until_signal(settings(), on_boot) == signal.SIGTERM
    assert len(reloads) == 2


async def test_a_second_signal_cuts_the_graceful_phase_short() -> None:
    config = settings(enable_shutdown_gracefully=True, shutdown_wait_time_seconds=1000)

    def on_boot(_: Listening) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    async def once_more() -> None:
        await trio.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(once_more)
            assert await serve_until_signal(config, on_boot) == signal.SIGTERM

"""The port for operators of a running server, on both drivers."""

import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel
import trio.testing
from trio.testing import MockClock, memory_stream_pair

from rocketwire.codes import RequestCode
from rocketwire.serving.sockets import BindError
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.warm_start import KnownBroker, WarmStart
from rocketwire_namesrv.server.server import NameServer, serve
from tests.support import running_server
from tests.support.running_server import (
    CLUSTER_INFO,
    LOOPBACK,
    Client,
    registration,
    request,
    settings,
)

pytestmark = pytest.mark.usefixtures("driver_name")


@asynccontextmanager
async def running(**changes: Any) -> AsyncGenerator[NameServer]:
    config = settings(**{"observe_port": 0, "observe_address": LOOPBACK, **changes})
    async with running_server.running(config) as site:
        yield site.server


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server((LOOPBACK, 0)) as listener:
        yield listener.getsockname()[1]


async def connect(server: NameServer) -> trio.SocketStream:
    return await trio.open_tcp_stream(LOOPBACK, server.observation.listening.port)


async def everything(stream: trio.abc.Stream) -> bytes:
    data = b""
    try:
        while received := await stream.receive_some():
            data += received
    except trio.BrokenResourceError:
        pass
    return data


async def get(server: NameServer, path: str) -> tuple[int, str]:
    async with await connect(server) as stream:
        await stream.send_all(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
        answer = await everything(stream)
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split(" ")[1]), body


async def value(server: NameServer, series: str) -> float | None:
    _, text = await get(server, "/metrics")
    lines = [line for line in text.splitlines() if line.startswith(f"{series} ")]
    return float(lines[0].rpartition(" ")[2]) if lines else None


async def test_each_page_is_where_it_should_be() -> None:
    async with running() as server:
        assert await get(server, "/healthz") == (200, "ok\n")
        assert await get(server, "/readyz") == (200, "ready\n")
        assert (await get(server, "/elsewhere"))[0] == 404
        status, text = await get(server, "/")

    assert status == 200
    assert f"driver {server.driver_name}" in text


async def test_lists_of_name_servers_are_read_again_for_each_request(tmp_path: Path) -> None:
    path = tmp_path / "lists"
    path.write_text("nsaddr=a:1\n")
    async with running(address_server_file=str(path)) as server:
        assert await get(server, "/rocketmq/nsaddr-unit?nofix=1") == (200, "a:1\n")
        path.write_text("nsaddr=a:1;b:2\n")
        assert await get(server, "/rocketmq/nsaddr") == (200, "a:1;b:2\n")
        assert (await get(server, "/rocketmq/other"))[0] == 404


async def test_two_name_servers_compare_their_tables() -> None:
    async with running() as single:
        assert (await get(single, "/table-digest"))[0] == 404
    async with running(peers="127.0.0.1:1") as first:
        port = first.observation.listening.port
        async with running(peers=f"127.0.0.1:{port}") as second:
            while not second.state.peers.views:
                await trio.lowlevel.checkpoint()
            status, text = await get(second, "/table-digest")
            up = await value(second, f'rocketmq_namesrv_peer_up{{peer="127.0.0.1:{port}"}}')
            page = (await get(second, "/"))[1]

    assert (status, up) == (200, 1)
    assert text.startswith('{"form": 1')
    assert "Other name servers" in page


async def test_work_apart_from_requests_is_timed(tmp_path: Path, mock_clock: MockClock) -> None:
    put = request(RequestCode.PUT_KV_CONFIG, namespace="ns", key="k", value="v")
    names = ("kv_persist_latency", "registration_decode_latency", "expiry_scan_duration")
    async with (
        running(kv_config_path=str(tmp_path / "kv.json")) as server,
        await trio.open_tcp_stream(*server.listening) as stream,
    ):
        client = Client(stream)
        await get(server, "/healthz")  # from then on something is counted
        await client.ask(put)
        await client.ask(registration())
        mock_clock.jump(6)
        await trio.testing.wait_all_tasks_blocked()
        counts = [await value(server, f"rocketmq_namesrv_{name}_count") for name in names]

    assert counts == [1, 1, 1]


async def test_what_clients_do_is_counted_and_shown() -> None:
    route = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic="TA")
    async with running() as server:
        client = Client(await trio.open_tcp_stream(*server.listening))
        await client.ask(registration())
        for _ in range(200):
            await client.ask(route)
        await client.ask(request(RequestCode.WIPE_WRITE_PERM_OF_BROKER, brokerName="broker-a"))
        metrics = (await get(server, "/metrics"))[1]
        shown = (await get(server, "/?topic=TA"))[1]
        await client.stream.aclose()

    routes = 'request_code="get_routeinfo_by_topic",response_code="success"'
    assert f"rocketmq_namesrv_requests_total{{{routes}}} 200.0" in metrics
    timed = f'is_long_polling="false",protocol_type="remoting",{routes},result="success"'
    assert f"rocketmq_rpc_latency_count{{{timed}}}" in metrics
    assert 'rocketmq_namesrv_connection_events_total{event="opened",reason=""} 1.0' in metrics
    for text in ("broker-a", "10.0.0.1:10911", "master", "TA", "4 4 R-", ">wipe<", "new broker"):
        assert text in shown


async def test_the_reason_of_a_connections_end_is_counted_and_shown() -> None:
    async with running() as server:
        client = Client(await trio.open_tcp_stream(*server.listening))
        await client.send(b"GET / HTTP/1.1\r\n\r\n")
        assert await client.is_closed()
        await client.stream.aclose()
        series = 'rocketmq_namesrv_connection_events_total{event="closed",reason="bad_bytes"}'
        while await value(server, series) != 1:
            await trio.sleep(0.001)
        shown = (await get(server, "/"))[1]

    assert "ended: invalid command: length: a frame of 1195725860 bytes" in shown
    assert "it looks like an HTTP request: GET" in shown


async def test_a_slow_connection_is_reported_once(autojump_clock: MockClock) -> None:
    config = Config(bind_address=LOOPBACK, listen_port=0, server_channel_max_idle_time_seconds=5)
    async with running_server.running(config) as site:
        observer = Observer(lambda: 17.0)
        site.server.journal.listeners.append(observer)
        stream, theirs = memory_stream_pair()
        await site.server.serve_stream(theirs, "1.2.3.4:5")
        await stream.aclose()

    assert observer.endings == {"idle": 1}
    assert [event.text for event in observer.troubles] == [
        "connection of 1.2.3.4:5 closed: idle for 5 s"
    ]


async def test_a_server_that_gives_no_routes_out_yet_is_not_ready() -> None:
    async with running(need_wait_for_service=True) as server:
        assert await get(server, "/readyz") == (503, "not ready: no routes are returned yet\n")
        assert (await get(server, "/healthz"))[0] == 200


async def test_the_page_names_the_brokers_that_the_server_waits_for() -> None:
    async with running() as server:
        server.state.warm_start = WarmStart([KnownBroker("C", "broker-a", 0)], 1000)
        assert (await get(server, "/readyz"))[0] == 503
        assert "waiting for C/broker-a/0" in (await get(server, "/"))[1]


async def test_a_server_that_sends_clients_away_is_not_ready() -> None:
    config = {"enable_shutdown_gracefully": True, "shutdown_wait_time_seconds": 1000}
    async with running(**config) as server, trio.open_nursery() as nursery:
        nursery.start_soon(server.stop)
        while not server.state.shutting_down:
            await trio.lowlevel.checkpoint()
        assert await get(server, "/readyz") == (503, "not ready: the server stops\n")
        nursery.cancel_scope.cancel()


async def test_without_the_port_nothing_is_remembered() -> None:
    async with running(observe_port=-1) as server:
        assert server.observation.listening.port == 0
        assert server.journal.listeners == []
        assert server.state.counters.clock is None


class Resolver(trio.abc.HostnameResolver):
    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        family: int = 0,
        type: int = 0,  # noqa: A002 - the name that trio gives it
        proto: int = 0,
        flags: int = 0,
    ) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (LOOPBACK, port))]

    async def getnameinfo(self, sockaddr: Any, flags: int) -> Any:
        raise OSError("names of addresses are not asked for")


@pytest.mark.parametrize("name", ["localhost", "loopback.example"])
async def test_a_name_of_this_machine_is_as_loopback_as_its_address(name: str) -> None:
    trio.socket.set_custom_hostname_resolver(Resolver())
    async with running(observe_address=name) as server:
        assert server.status_page == f"http://{name}:{server.observation.listening.port}/"
        async with await connect(server) as stream:
            await stream.send_all(
                b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
            )
            answer = await everything(stream)
        assert answer.startswith(b"HTTP/1.1 421 ")
        assert server.observation.observer.events["ForeignHostRefused"] == 1
        metrics = (await get(server, "/metrics"))[1]
        line = 'rocketmq_namesrv_security_events_total{event="foreign_host_refused"} 1.0'
        assert line in metrics


async def test_a_busy_default_port_is_a_warning(
    busy_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(observe_port=busy_port) as server:
        client = Client(await trio.open_tcp_stream(*server.listening))
        assert (await client.ask(CLUSTER_INFO)).code == 0
        await client.stream.aclose()

    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith("no port for operators (rocketwire.observePort): Failed to bind to ")


async def test_a_busy_configured_port_ends_the_start(busy_port: int) -> None:
    with pytest.raises(BindError, match="no port for operators"):
        await serve(settings(observe_port=busy_port, observe_asked=True))

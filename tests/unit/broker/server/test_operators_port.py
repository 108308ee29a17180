"""The operators' port of a process: its address, and its answers before the brokers are ready."""

import socket

import pytest
import trio

from rocketwire.serving.sockets import BindError
from rocketwire_broker.config import ANY_STATUS_PORT, NO_STATUS_PORT, Config
from rocketwire_broker.server import operators_port
from rocketwire_broker.server.operators_port import OperatorsPort
from rocketwire_broker.server.programs import open_broker


async def get(port: OperatorsPort, path: str) -> tuple[int, str]:
    number = int(port.url.rstrip("/").rpartition(":")[2])
    async with await trio.open_tcp_stream("127.0.0.1", number) as stream:
        await stream.send_all(
            f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode()
        )
        answer = b"".join([part async for part in stream])
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


async def test_it_is_ready_when_the_brokers_are(nursery: trio.Nursery) -> None:
    port = OperatorsPort()
    await port.start(Config(observe_port=0))
    nursery.start_soon(port.serve)

    assert await get(port, "/healthz") == (200, "ok\n")
    assert (await get(port, "/readyz"))[0] == 503
    assert (await get(port, "/"))[0] == 404
    async with open_broker(Config(listen_port=0)) as server:
        port.servers.append(server)
        port.is_ready = True
        assert await get(port, "/readyz") == (200, "ready\n")
        status, page = await get(port, "/")
    assert status == 200
    assert "RocketMQ broker broker-a" in page


async def test_without_a_port_it_does_nothing() -> None:
    port = OperatorsPort()
    await port.start(Config(observe_port=NO_STATUS_PORT))
    await port.serve()

    assert port.url == ""


async def test_a_configured_port_in_use_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = Config(observe_port=taken.getsockname()[1])
        with pytest.raises(
            BindError, match=r"no port for operators \(--status-port, or rocketwire"
        ):
            await OperatorsPort().start(config)


async def test_default_port_in_use(monkeypatch: pytest.MonkeyPatch, nursery: trio.Nursery) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        monkeypatch.setattr(operators_port, "STATUS_PORT", number)
        port = OperatorsPort()
        await port.start(Config(observe_port=ANY_STATUS_PORT))
        nursery.start_soon(port.serve)

        assert port.url not in {"", f"http://127.0.0.1:{number}/"}


async def test_without_a_library_there_is_a_warning_and_no_port(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("rocketwire.serving.http.port.LIBRARIES", ("no_such_library",))
    port = OperatorsPort()
    await port.start(Config(observe_port=ANY_STATUS_PORT))

    assert port.url == ""
    assert "no_such_library not installed" in caplog.text


@pytest.mark.parametrize(("address", "count"), [("0.0.0.0", 1), ("127.0.0.1", 0)])
async def test_a_page_that_other_machines_reach_is_warned_of(
    caplog: pytest.LogCaptureFixture, nursery: trio.Nursery, address: str, count: int
) -> None:
    port = OperatorsPort()
    await port.start(Config(observe_port=0, observe_address=address))
    nursery.start_soon(port.serve)

    assert caplog.text.count("can read all messages") == count
    assert (await get(port, "/healthz"))[0] == 200

"""A name server without disk, descriptors or log continues, and one that was killed has all acknowledged items."""

import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocketwire_namesrv.server import reactor
from tests.chaos.server import DELETE, GET, NAMESPACE, PUT, SECONDS, UnluckyServer
from tests.peers import raw_call
from tests.peers.processes import LOOPBACK, wait_until

pytestmark = [pytest.mark.process, pytest.mark.chaos, pytest.mark.full]

HOLDERS, STAYING = 60, 10


@pytest.fixture(params=["portable", "reactor"])
def driver(request: pytest.FixtureRequest) -> str:
    if request.param == "reactor" and not reactor.is_available():
        pytest.skip("this system has no epoll")
    return str(request.param)


def test_full_disk_is_an_error_for_writers_only(tmp_path: Path, driver: str) -> None:
    with UnluckyServer(tmp_path, driver, {"CHAOS_FSIZE": "32768"}) as server:
        assert server.put("small", "value") == 0
        assert server.put("large", "x" * 60_000) == 1
        assert server.put("other", "value") == 1  # the table as a whole has no room
        assert server.lives()
        assert server.ask(GET, {"namespace": NAMESPACE, "key": "small"}).header["code"] == 0
        assert len(server.items()["large"]) == 60_000  # in effect, according to the response
        assert b"large" not in server.kv.read_bytes()

        gone = server.ask(DELETE, {"namespace": NAMESPACE, "key": "large"})
        assert gone.header["code"] == 0

    with UnluckyServer(tmp_path, driver, {}) as server:
        assert server.items() == {"small": "value", "other": "value"}


def test_clients_beyond_the_descriptors_are_served_later(tmp_path: Path, driver: str) -> None:
    with UnluckyServer(tmp_path, driver, {"CHAOS_NOFILE": "40"}) as server, ExitStack() as stack:
        assert server.put("k", "v") == 0
        streams = [
            stack.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
            for _ in range(HOLDERS)
        ]
        for stream in streams:
            stream.sendall(raw_call.frame(106))
        wait_until(lambda: "no connection can be accepted" in server.child.output, "EMFILE")

        first = streams[0]
        assert raw_call.read_answer(first).header["code"] == 0
        assert server.put("k", "w", first) == 1  # no descriptor for the file
        for stream in streams[1:-STAYING]:
            stream.close()

        for stream in streams[-STAYING:]:
            assert raw_call.read_answer(stream).header["code"] == 0
        assert server.put("k", "x", first) == 0
        assert server.items() == {"k": "x"}


def test_signals_during_writes_lose_no_item(tmp_path: Path, driver: str) -> None:
    with UnluckyServer(tmp_path, driver, {}) as server:
        expected: dict[str, str] = {}
        for number in range(30):
            os.kill(server.child.process.pid, (signal.SIGHUP, signal.SIGWINCH)[number % 2])
            assert server.put(f"k{number}", "v") == 0
            expected[f"k{number}"] = "v"
        with socket.create_connection((LOOPBACK, server.port), SECONDS) as stream:
            stream.sendall(
                b"".join(
                    raw_call.frame(PUT, {"namespace": NAMESPACE, "key": f"p{number}", "value": "v"})
                    for number in range(200)
                )
            )
            assert raw_call.read_answer(stream).header["code"] == 0
            os.kill(server.child.process.pid, signal.SIGTERM)
            expected["p0"] = "v"
            expected |= _read_acknowledged(stream)
        assert server.child.process.wait(SECONDS) == 128 + signal.SIGTERM

    with UnluckyServer(tmp_path, driver, {}) as server:
        assert expected.items() <= server.items().items()


def _read_acknowledged(stream: socket.socket) -> dict[str, str]:
    items: dict[str, str] = {}
    try:
        for number in range(1, 200):
            assert raw_call.read_answer(stream).header["code"] == 0
            items[f"p{number}"] = "v"
    except ConnectionError:
        pass
    return items


def test_unwritable_log_stops_no_request(tmp_path: Path, driver: str) -> None:
    log = tmp_path / "logs" / "rocketmqlogs" / "namesrv.log"
    log.parent.mkdir(parents=True)
    log.symlink_to("/dev/full")
    with UnluckyServer(tmp_path, driver, {"ROCKETWIRE_LOG": "file"}) as server:
        for number in range(5):
            assert server.put(f"k{number}", "v") == 0
        with socket.create_connection((LOOPBACK, server.port), SECONDS) as junk:
            junk.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert junk.recv(1) == b""

        assert server.lives()
        assert len(server.items()) == 5

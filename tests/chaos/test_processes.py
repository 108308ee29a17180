"""A name server that is killed, has no disk, no descriptors or no log goes on or comes back, and keeps what it acknowledged."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pytest

from bench import machine
from rocketwire_namesrv.server import reactor
from tests.chaos.server import DELETE, GET, NAMESPACE, PUT, SECONDS, UnluckyServer
from tests.peers import raw_call
from tests.peers.processes import LOOPBACK, wait_until
from tests.support.fakes.sansio_server import registration_body

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.process, pytest.mark.chaos, pytest.mark.full]

LONG = os.environ.get("ROCKETWIRE_CHAOS") == "long"
POINTS = range(40) if LONG else (7, 20)
"""System calls before the kill: each save takes 12, the first one 6."""
HOLDERS, STAYING = 60, 10
MIB = 1024 * 1024


@pytest.fixture(params=["portable", "reactor"])
def driver(request: pytest.FixtureRequest) -> str:
    if request.param == "reactor" and not reactor.is_available():
        pytest.skip("this system has no epoll")
    return str(request.param)


@pytest.mark.parametrize("point", POINTS)
def test_what_was_acknowledged_before_a_kill_is_there_after_the_next_start(
    tmp_path: Path, driver: str, point: int
) -> None:
    acknowledged: dict[str, str] = {}
    with UnluckyServer(tmp_path, driver, {"CHAOS_DIE_AT": str(point)}) as server:
        with suppress(ConnectionError):
            for number in range(100):
                assert server.put(f"k{number}", "v" * number) == 0
                acknowledged[f"k{number}"] = "v" * number
        assert server.child.process.wait(SECONDS) == -signal.SIGKILL

    with UnluckyServer(tmp_path, driver, {}) as server:
        found = server.items()
        assert acknowledged.items() <= found.items()
        assert len(found) <= len(acknowledged) + 1
        assert server.put("after", "all") == 0
        assert server.items() == {**found, "after": "all"}


def test_a_full_disk_is_an_error_for_who_writes_and_nothing_for_the_others(
    tmp_path: Path, driver: str
) -> None:
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


def test_without_descriptors_it_serves_whom_it_has_and_the_others_later(
    tmp_path: Path, driver: str
) -> None:
    with UnluckyServer(tmp_path, driver, {"CHAOS_NOFILE": "40"}) as server, ExitStack() as held:
        assert server.put("k", "v") == 0
        streams = [
            held.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
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


def test_unfinished_frames_cost_only_their_own_connections(tmp_path: Path, driver: str) -> None:
    seconds = {"rocketwire.frameDeadlineSeconds": 1}
    with UnluckyServer(tmp_path, driver, {}, **seconds) as server, ExitStack() as held:
        frame = raw_call.frame(PUT, {"namespace": NAMESPACE, "key": "half", "value": "v"})
        streams: list[socket.socket] = []
        for size in range(1, len(frame)):
            stream = held.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
            stream.sendall(frame[:size])
            streams.append(stream)
        assert server.put("whole", "v") == 0

        assert [stream.recv(1) for stream in streams] == [b""] * len(streams)
        assert server.items() == {"whole": "v"}


def test_who_does_not_read_costs_little_memory_and_no_one_else_anything(
    tmp_path: Path, driver: str
) -> None:
    with UnluckyServer(tmp_path, driver, {}) as server, ExitStack() as held:
        topics = tuple(f"topic-with-a-longer-name-{number:05}" for number in range(3_000))
        broker = {"brokerName": "b", "brokerAddr": "10.0.0.1:10911", "clusterName": "C"}
        link = held.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
        link.sendall(raw_call.frame(103, {**broker, "brokerId": "0"}, registration_body(topics)))
        assert raw_call.read_answer(link).header["code"] == 0
        largest = len(server.ask(206).body)
        assert largest > 80_000
        before = machine.resident_bytes(server.child.process.pid)

        deaf = [
            held.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
            for _ in range(10)
        ]
        for stream in deaf:
            stream.sendall(raw_call.frame(206) * 200)  # 20 MB of answers each
        for _ in range(50):
            assert len(server.ask(206).body) == largest

        grown = machine.resident_bytes(server.child.process.pid) - before
        assert grown < 60 * MIB
        for _ in range(200):  # a reader that begins late has missed nothing
            assert len(raw_call.read_answer(deaf[0]).body) == largest


def test_signals_in_the_midst_of_writes_lose_nothing(tmp_path: Path, driver: str) -> None:
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
    """Which of the pipelined items were, after the first."""
    found: dict[str, str] = {}
    try:
        for number in range(1, 200):
            assert raw_call.read_answer(stream).header["code"] == 0
            found[f"p{number}"] = "v"
    except ConnectionError:
        pass
    return found


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, driver: str) -> None:
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

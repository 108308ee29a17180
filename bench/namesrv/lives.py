"""The scenarios that need a new server: start time, memory, idling, the largest frame."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from bench.namesrv import machine, routes
from bench.namesrv.candidates import Server
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from tests.support import raw_call
from tests.support.processes import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from bench.namesrv.machine import Cpus
    from bench.namesrv.sampling import FeederProcess
    from bench.namesrv.scenarios import Metrics

LIVES: Final = ("idle", "loaded")
"""``idle``: start, memory at rest, CPU at rest with brokers, connections, frames; ``loaded``:
memory with many topics."""
IDLE_CONNECTIONS: Final = 2_000
IDLE_BROKERS: Final = 16
IDLE_TOPICS: Final = 100
LOADED_BROKERS: Final = 4
LOADED_TOPICS: Final = 100_000
SETTLE_SECONDS: Final = 1.0
FEEDER_NAME: Final = "own life"


@contextmanager
def _server(name: str, folder: Path, cpus: Cpus, metrics: Metrics) -> Generator[Server]:
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(name, folder, cpus)
    bystanders = machine.Bystanders()
    try:
        metrics["start"], metrics["start_cpu"] = server.start()
        metrics["others"] = max(0.0, bystanders.share() - metrics["start_cpu"] / metrics["start"])
        yield server
    finally:
        server.kill()


def live(
    life: str, name: str, folder: Path, cpus: Cpus, feeder: FeederProcess, *, quick: bool
) -> Metrics:
    """Run one candidate from its start to its end and measure on the way."""
    metrics: Metrics = {}
    with _server(name, folder, cpus, metrics) as server:
        time.sleep(SETTLE_SECONDS)
        metrics["resident"] = machine.resident_bytes(server.pid) / 1e6
        if life == "idle":
            metrics["idle"] = _idle(server, feeder, 3.0 if quick else 10.0)
            metrics["connection"] = _connections(server)
            metrics["largest"], metrics["larger"] = _frames(server)
        else:
            metrics.update(_loaded(server, feeder))
    return metrics


def _idle(server: Server, feeder: FeederProcess, seconds: float) -> float:
    """Percent of a CPU that it uses while brokers are connected and nothing happens."""
    where = {"server": FEEDER_NAME, "port": server.port}
    feeder.obey("connect", **where, narrow=False, wide=IDLE_BROKERS, topics=IDLE_TOPICS)
    try:
        time.sleep(2 * SETTLE_SECONDS)
        cpu_before = machine.cpu_seconds(server.pid)
        time.sleep(seconds)
        return (machine.cpu_seconds(server.pid) - cpu_before) / seconds * 100
    finally:
        feeder.obey("close", server=FEEDER_NAME)


def _connections(server: Server) -> float:
    """Return the bytes of memory of each idle connection."""
    bytes_before = machine.resident_bytes(server.pid)
    with ExitStack() as stack:
        for _ in range(IDLE_CONNECTIONS):
            stack.enter_context(socket.create_connection((LOOPBACK, server.port), 5))
        _wait_for_answer(server)
        time.sleep(SETTLE_SECONDS)
        return (machine.resident_bytes(server.pid) - bytes_before) / IDLE_CONNECTIONS


def _wait_for_answer(server: Server) -> None:
    """Wait for an answer over the youngest connection, so that all others have been accepted."""
    with socket.create_connection((LOOPBACK, server.port), 5) as stream:
        stream.settimeout(30)
        stream.sendall(routes.route_request("no-such-topic"))
        raw_call.read_answer(stream)


def _loaded(server: Server, feeder: FeederProcess) -> Metrics:
    bytes_before = machine.resident_bytes(server.pid)
    where = {"server": FEEDER_NAME, "port": server.port}
    try:
        took = feeder.obey(
            "connect", **where, narrow=False, wide=LOADED_BROKERS, topics=LOADED_TOPICS
        )
        time.sleep(SETTLE_SECONDS)
        bytes_after = machine.resident_bytes(server.pid)
    finally:
        feeder.obey("close", server=FEEDER_NAME)
    return {
        "loaded": bytes_after / 1e6,
        "topic": (bytes_after - bytes_before) / LOADED_TOPICS,
        "loading": took["seconds"],
    }


def _frames(server: Server) -> tuple[float, float]:
    """Whether the largest frame is answered (1 or 0), and whether one more byte closes the
    connection."""
    return float(_is_answered(server, MAX_FRAME_LENGTH)), float(
        not _is_answered(server, MAX_FRAME_LENGTH + 1)
    )


def _is_answered(server: Server, size: int) -> bool:
    """Send a frame of that size, its length field included, and see whether an answer comes or the
    end."""
    smallest = routes.route_request("no-such-topic", body=b"x")
    header = struct.unpack_from(">I", smallest, 4)[0]
    frame = (
        struct.pack(">II", size - 4, header) + smallest[8 : 8 + header] + bytes(size - 8 - header)
    )
    with socket.create_connection((LOOPBACK, server.port), 5) as stream:
        stream.settimeout(30)
        try:
            stream.sendall(frame)
            return bool(raw_call.read_answer(stream).header)
        except ConnectionError:
            return False

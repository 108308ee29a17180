"""Memory, descriptors and tasks of the name server do not grow under brokers that crash, clients that leave, and invalid bytes."""

import os
import random
import socket
import statistics
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bench import machine
from rocketwire_namesrv.server import reactor
from tests.chaos.server import SECONDS, UnluckyServer
from tests.peers import raw_call
from tests.peers.processes import LOOPBACK
from tests.support.fakes.sansio_server import registration_body, topic, version

pytestmark = [
    pytest.mark.process,
    pytest.mark.chaos,
    pytest.mark.full,
]

LOAD_SECONDS = float(os.environ.get("ROCKETWIRE_SOAK", "600"))
SETTLE_SECONDS = 10.0
BROKERS, CLIENTS = 20, 30
TOPICS = [f"topic-{number:05}" for number in range(2_000)]
MIB = 1024 * 1024
MAX_GROWTH = 1.0
"""MiB a minute, after the warm-up."""


class Sample(NamedTuple):
    seconds: float
    memory: int
    descriptors: int
    tasks: int


class Peers:
    def __init__(self, port: int) -> None:
        self._port = port
        self._ended = threading.Event()
        self._chance = random.Random(38)
        self.errors: list[str] = []
        self.registrations = 0
        roles = [self._broker] * BROKERS + [self._client] * CLIENTS
        roles += [self._junk] * 4 + [self._stall] * 4
        self._threads = [
            threading.Thread(target=self._repeat, args=(role, number), daemon=True)
            for number, role in enumerate(roles)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(SECONDS)

    def _repeat(self, role: Callable[[socket.socket, int], None], number: int) -> None:
        while not self._ended.is_set():
            with socket.create_connection((LOOPBACK, self._port), SECONDS) as stream:
                if self._chance.random() < 0.5:  # it ends with RST
                    linger = struct.pack("ii", 1, 0)
                    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                role(stream, number)
            self._ended.wait(self._chance.random() / 2)

    def _ask(self, stream: socket.socket, frame: bytes, *codes: int) -> None:
        stream.sendall(frame)
        code = raw_call.read_answer(stream).header["code"]
        if code not in codes:
            self.errors.append(f"response code {code}")

    def _broker(self, stream: socket.socket, number: int) -> None:
        address = {"brokerName": f"b-{number}", "brokerAddr": f"10.0.0.{number}:10911"}
        fields = {**address, "clusterName": "C", "brokerId": "0"}
        for counter in range(1, self._chance.randrange(2, 60)):
            changed = self._chance.choice(TOPICS)
            table = {name: topic(name, queues=4 + 4 * (name == changed)) for name in TOPICS}
            body = registration_body(table, data_version=version(counter))
            frame = raw_call.frame(103, fields, body)
            if self._chance.random() < 1 / 60:
                stream.sendall(frame[: len(frame) // 2])
                return
            self._ask(stream, frame, 0)
            self.registrations += 1
            if self._ended.wait(1):
                return

    def _client(self, stream: socket.socket, number: int) -> None:
        for _ in range(self._chance.randrange(4)):
            fields = {"topic": self._chance.choice([*TOPICS, "unknown"])}
            self._ask(stream, raw_call.frame(105, fields), 0, 17)
            self._ended.wait(self._chance.random())

    def _junk(self, stream: socket.socket, number: int) -> None:
        half = raw_call.frame(105, {"topic": "half"}, bytes(100_000))
        junk = (
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            struct.pack(">II", 0x7FFFFFFF, 10),
            struct.pack(">II", 24, 20) + b'{"code":105,"flag":]',
            self._chance.randbytes(self._chance.randrange(1, 4_000)),
            half[: self._chance.randrange(1, len(half))],
        )
        stream.settimeout(2)
        try:
            stream.sendall(self._chance.choice(junk))
            while stream.recv(65_536):
                pass
        except OSError:
            return  # the server closed the connection, or waits for more

    def _stall(self, stream: socket.socket, number: int) -> None:
        stream.settimeout(2)
        try:
            stream.sendall(raw_call.frame(105, {"topic": TOPICS[0]}) * 2_000)
        except OSError:
            return
        self._ended.wait(5)


@pytest.mark.parametrize("driver", ["portable", "reactor"])
def test_nothing_grows_under_load(tmp_path: Path, driver: str) -> None:
    if driver == "reactor" and not reactor.is_available():
        pytest.skip("this system has no epoll")
    tasks = tmp_path / "tasks"
    with UnluckyServer(tmp_path, driver, {"CHAOS_TASKS": str(tasks)}) as server:
        pid, start = server.child.process.pid, time.monotonic()

        def look() -> Sample:
            return Sample(
                time.monotonic() - start,
                machine.resident_bytes(pid),
                len(os.listdir(f"/proc/{pid}/fd")),
                int(tasks.read_text() or "0"),
            )

        time.sleep(SETTLE_SECONDS)
        first_sample = look()
        peers = Peers(server.port)
        samples: list[Sample] = []
        while time.monotonic() - start < LOAD_SECONDS:
            time.sleep(2)
            samples.append(look())
        peers.end()
        time.sleep(SETTLE_SECONDS)
        last_sample = look()

        assert server.lives()
        assert peers.errors == []
        assert peers.registrations > 10 * BROKERS
        assert last_sample.descriptors <= first_sample.descriptors
        assert last_sample.tasks <= first_sample.tasks
        later_samples = samples[len(samples) // 4 :]
        growth = statistics.linear_regression(
            [sample.seconds for sample in later_samples],
            [sample.memory for sample in later_samples],
        )
        assert growth.slope * 60 / MIB < MAX_GROWTH

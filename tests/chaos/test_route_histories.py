"""Histories of brokers and clients of the name server, under kills, pauses, cut connections and a failing disk."""

import itertools
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import pytest
import trio

from rocketwire_namesrv.server import reactor
from rocketwire_tools.pytest_plugin.faults import FaultProxy
from tests.chaos.histories import Change, Register, cause
from tests.chaos.server import DELETE, GET, NAMESPACE, PUT, SECONDS, UnluckyServer
from tests.peers import raw_call
from tests.peers.processes import LOOPBACK
from tests.support.fakes.sansio_server import identity, registration_body, topic, version

pytestmark = [pytest.mark.process, pytest.mark.chaos]

REGISTER, UNREGISTER, ROUTE, BEAT = 103, 104, 105, 904
BROKERS, WRITERS, READERS = 4, 4, 4
TOPICS: Final = ("TA", "TB")
CHOICES: Final = ("silent", "leave", "unregister", "")
"""Changes of a broker between two registrations."""
KEEP: Final = "keep"
"""Value of a request that changes nothing."""
KINDS: Final = ("kill", "die", "pause", "cut")
EXPIRY_SECONDS: Final = 0.5
SCAN_SECONDS: Final = 0.2
LATE_SECONDS: Final = 1.5
"""For a busy server to see that a connection has ended, or that a broker is silent."""
SETTLE_SECONDS: Final = 0.3
"""Until the last requests of a broken connection have their effect."""


class RouteHistory:
    def __init__(self) -> None:
        #: number of queues of each topic at each broker, None without a route; each registration
        #: has another one
        self.routes = {f"b{number}": self._register() for number in range(BROKERS)}
        self.items = {f"k{number}": Register([]) for number in range(WRITERS)}  #: value of each key
        self.errors: list[str] = []  #: responses that no correct server gives
        #: last response before the end of a connection, and when that was seen
        self.losses: list[tuple[float, float]] = []
        self.breaks: list[tuple[float, float]] = []  #: begin and end of faults that end connections
        self.has_ended = threading.Event()  #: set when all clients have to end

    @staticmethod
    def _register() -> dict[str, Register]:
        changes: list[Change] = []
        return {name: Register(changes) for name in TOPICS}

    def record_kill(self, now: float) -> None:
        for registers in self.routes.values():
            registers[TOPICS[0]].changes.append(Change(None, now, now))
        for register in self.items.values():
            register.kills.append(now)

    def find_contradictions(self) -> list[str]:
        registers = {
            **self.items,
            **{
                f"{broker} {topic}": register
                for broker, routes in self.routes.items()
                for topic, register in routes.items()
            },
        }
        return [
            *self.errors,
            *(
                f"a connection ended from {start:.3f} to {end:.3f}"
                for start, end in self.losses
                if not any(begin <= end and start <= over for begin, over in self.breaks)
            ),
            *(
                f"{name}: {contradiction}"
                for name, register in registers.items()
                for contradiction in register.find_contradictions()
            ),
        ]


class Caller:
    """A client with a connection of its own, which is opened again after its end."""

    def __init__(self, history: RouteHistory, port: int, seed: str, name: str) -> None:
        self.history = history
        self.name = name
        self.chance = random.Random(f"{seed} {name}")
        self.last = (time.monotonic(), time.monotonic())
        self._port = port
        self._stream: socket.socket | None = None

    def ask(self, code: int, fields: dict[str, str], body: bytes = b"") -> raw_call.Answer | None:
        start = time.monotonic()
        try:
            if self._stream is None:
                self._stream = socket.create_connection((LOOPBACK, self._port), SECONDS)
            self._stream.sendall(raw_call.frame(code, fields, body))
            answer = raw_call.read_answer(self._stream)
        except OSError:
            self.close()
            if time.monotonic() - self.last[0] < EXPIRY_SECONDS:  # a silent broker loses its own
                self.history.losses.append((self.last[1], time.monotonic()))
            return None
        self.last = (start, time.monotonic())
        if answer.header["code"] not in {0, 17, 22}:
            self.history.errors.append(f"request {code} got {answer.header}")
        return answer

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = None


class Writer(Caller):
    def run(self) -> None:
        changes = self.history.items[self.name].changes
        for number in itertools.count():
            if self.history.has_ended.is_set():
                return
            value = str(number) if self.chance.random() < 0.8 else None
            fields = {
                "namespace": NAMESPACE,
                "key": self.name,
                **({} if value is None else {"value": value}),
            }
            start = time.monotonic()
            answer = self.ask(DELETE if value is None else PUT, fields)
            changes.append(Change(value, start, time.monotonic(), answer is not None))
            time.sleep(0.01 if answer else SETTLE_SECONDS)


class Broker(Caller):
    def run(self) -> None:
        self._fields = identity(self.name, f"10.0.0.{self.name[1:]}:10911")
        self._changes = self.history.routes[self.name][TOPICS[0]].changes
        # only its connection shows when one of the others has left
        is_short = self.name in {"b0", "b2"}
        self._seconds = EXPIRY_SECONDS if is_short else SECONDS
        choices = CHOICES if is_short else CHOICES[1:]
        expiry = {"heartbeatTimeoutMillis": str(int(1000 * self._seconds))}
        for count in itertools.count(1):
            table = {name: topic(name, queues=count) for name in TOPICS}
            body = registration_body(table, data_version=version(count))
            self._change(count, REGISTER, self._fields | expiry, body)
            choice = CHOICES[int(self.name[1:])] if count == 1 else self.chance.choice(choices)
            for _ in range(self.chance.randrange(6) if choice != "silent" else 0):
                time.sleep(0.05)
                self._change(KEEP, BEAT, self._fields)
            if choice == "silent":
                self._be_silent()
            elif choice == "unregister":
                self._change(None, UNREGISTER, self._fields)
            elif choice == "leave":
                now = time.monotonic()
                self.close()
                self._changes.append(Change(None, now, now + LATE_SECONDS))
                self.history.has_ended.wait(LATE_SECONDS + 0.5)
            if self.history.has_ended.is_set():
                self._changes.append(Change(None, self.last[1], time.monotonic(), is_certain=False))
                return

    def _change(self, value: object, code: int, fields: dict[str, str], body: bytes = b"") -> None:
        last, start = self.last, time.monotonic()
        answer = self.ask(code, fields, body)
        end = time.monotonic()
        if value != KEEP:
            self._changes.append(Change(value, start, end, answer is not None))
        expiry = last[0] + self._seconds
        if expiry < end:  # the name server may have waited too long for this request
            self._changes.append(Change(None, expiry, end, is_certain=False))
        if answer is not None:
            return
        # the connection has ended at any time after the last response
        self._changes.append(Change(None, last[1], start, is_certain=False))
        self._changes.append(Change(None, start, end + LATE_SECONDS))
        time.sleep(SETTLE_SECONDS)

    def _be_silent(self) -> None:
        # the connection may end earlier, unnoticed
        end = self.last[1] + EXPIRY_SECONDS + 2 * SCAN_SECONDS + LATE_SECONDS
        self._changes.append(Change(None, self.last[1], end))
        self.history.has_ended.wait(end + 0.5 - time.monotonic())


class Reader(Caller):
    def run(self) -> None:
        while not self.history.has_ended.is_set():
            key, name = self.chance.choice([*self.history.items]), self.chance.choice(TOPICS)
            self.read_item(key)
            self.read_route(name)
            time.sleep(0.01)

    def read_item(self, key: str) -> None:
        start = time.monotonic()
        answer = self.ask(GET, {"namespace": NAMESPACE, "key": key})
        if answer is not None:
            fields = cast("dict[str, str]", answer.header.get("extFields") or {})
            value = fields.get("value")
            self.history.items[key].reads.append((value, start, time.monotonic()))

    def read_route(self, name: str) -> None:
        start = time.monotonic()
        answer = self.ask(ROUTE, {"topic": name})
        if answer is not None:
            queues: list[dict[str, Any]] = (
                json.loads(answer.body)["queueDatas"] if answer.body else []
            )
            counts = {queue["brokerName"]: queue["readQueueNums"] for queue in queues}
            for broker, registers in self.history.routes.items():
                registers[name].reads.append((counts.get(broker), start, time.monotonic()))


async def run_history(
    folder: Path,
    driver: str,
    proxy_of: Callable[[str], FaultProxy],
    faults: Sequence[str],
    seed: str,
) -> RouteHistory:
    history = RouteHistory()
    server = UnluckyServer(
        folder,
        driver,
        {"CHAOS_FIRST_SCAN": str(SCAN_SECONDS)},
        scanNotActiveBrokerInterval=int(1000 * SCAN_SECONDS),
    )
    proxy = proxy_of(f"{LOOPBACK}:{server.port}")
    port = int(proxy.address.split(":")[1])
    clients: list[Broker | Writer | Reader] = [
        *(Broker(history, port, seed, name) for name in history.routes),
        *(Writer(history, port, seed, key) for key in history.items),
        *(Reader(history, port, seed, f"r{number}") for number in range(READERS)),
    ]
    with server:
        async with trio.open_nursery() as nursery:
            for client in clients:
                nursery.start_soon(trio.to_thread.run_sync, client.run)
            try:
                for fault in faults:
                    await trio.sleep(1)
                    begin = time.monotonic()
                    await cause(fault, server, proxy, history)
                    if fault != "pause":
                        history.breaks.append((begin, time.monotonic() + SETTLE_SECONDS))
                await trio.sleep(1)
            finally:
                history.has_ended.set()
        await cause("kill", server, proxy, history)
        reader = Reader(history, server.port, seed, "last")
        for key in history.items:
            await trio.to_thread.run_sync(reader.read_item, key)
        for name in TOPICS:
            await trio.to_thread.run_sync(reader.read_route, name)
        for client in (*clients, reader):
            client.close()
    return history


def check(history: RouteHistory) -> None:
    # Check that values and their absence were read, without contradictions.
    routes = [
        register
        for routes_of_broker in history.routes.values()
        for register in routes_of_broker.values()
    ]
    for registers in (history.items.values(), routes):
        assert {read[0] is None for register in registers for read in register.reads} == {
            True,
            False,
        }
    assert history.find_contradictions() == []


@pytest.mark.parametrize("driver", ["reactor", pytest.param("portable", marks=pytest.mark.full)])
async def test_history_of_each_fault(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy], driver: str
) -> None:
    if driver == "reactor" and not reactor.is_available():
        pytest.skip("this system has no epoll")
    kinds = ["pause", "pause", "pause", "kill", "die", "cut"]

    check(await run_history(tmp_path, driver, fault_proxy, kinds, "each"))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100))
async def test_history_of_random_faults(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy], seed: int
) -> None:
    kinds = random.Random(seed).choices(KINDS, k=6)
    driver = "reactor" if seed % 2 and reactor.is_available() else "portable"

    check(await run_history(tmp_path, driver, fault_proxy, kinds, str(seed)))

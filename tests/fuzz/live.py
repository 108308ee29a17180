"""Random requests to running servers, and random answers to clients: ``python -m tests.fuzz.live --minutes 30``.

Name servers with both drivers and two development brokers, one with a store, one with accounts, get requests of every code
over several connections, and are killed and started again.  Producers, consumers of each kind and operators in trio, asyncio
and threads get answers.  The report counts internal errors: what a program does not foresee, in its log or in a response.
It compares the memory of each process with the settings that bound it; a broken promise ends with status 1.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import machine
from rocketwire.flags import CommandFlag
from rocketwire.signing import sign
from rocketwire.wire.command import CommandDecoder, RemotingCommand
from rocketwire_namesrv.server import reactor
from tests.chaos.server import SECONDS, UnluckyServer
from tests.fuzz.answer_targets import Answers
from tests.fuzz.broker_requests import BrokerRequests
from tests.fuzz.chance import Chance
from tests.fuzz.requests import Requests
from tests.fuzz.targets import TARGETS
from tests.peers.cache import ROOT
from tests.peers.dev_cluster import DevBroker
from tests.peers.processes import LOOPBACK, Child, PeerFailedError

MIB: Final = 1 << 20
CONNECTIONS: Final = 4
"""Open connections to each server."""
PIPELINED: Final = 20
QUIET_SECONDS: Final = 0.1
"""Without an answer, before the next requests are sent."""
SHOWN: Final = 20
KEYS: Final = ("boss", "boss", "user", "none", "")
RESTART_SECONDS: Final = 20.0
CLIENTS: Final = [name for name in TARGETS if name.startswith("answers_")]
CLIENT_BOUND: Final = 40 * MIB
"""A body with its stored messages (8 MiB), which may inflate (32 MiB)."""
INTERNAL: Final = re.compile(r"system error$|[A-Z]\w*(Error|Group): ")
"""Remarks of a response to a request that failed for a reason that a server does not foresee."""
LOGGED: Final = re.compile(r".*(?: ERROR (?!.*process request exception)|Traceback).*")
"""Lines of internal errors; name servers also log each request that they cannot read, as Java's."""
SMALL: Final = ("rocketwire.maxAllUnsentBytes", "rocketwire.maxBufferedBytes")
BROKER: Final = dict.fromkeys((*SMALL, "retainBytes", "rocketwire.maxSubscriptionBytes"), 16 * MIB)
NAME_SERVER: Final = dict.fromkeys(
    (*SMALL, "rocketwire.inflatedMaxLength", "rocketwire.maxKvLength"), 16 * MIB
)
"""Small bounds of memory, so that what grows is seen."""
COUNTS: Final = {"rocketwire.maxTopics": 500}
ACCOUNTS: Final = """accounts:
- {accessKey: boss, secretKey: boss1234, admin: true}
- {accessKey: user, secretKey: user1234, defaultTopicPerm: PUB|SUB, defaultGroupPerm: SUB}
- {accessKey: none, secretKey: none1234}
"""


class LiveRequests(BrokerRequests):
    """Makes requests with times of today.

    Args:
        keys: access keys of accounts of which one signs a request; none of them, an empty one.
    """

    def __init__(self, chance: Chance, keys: tuple[str, ...] = ("",)) -> None:
        super().__init__(chance)
        self._keys = keys

    def _text(self, name: str) -> str:
        today = str(time.time_ns() // 1_000_000)[:8]
        return super()._text(name).replace("17000000", today)

    def _finish(self, command: RemotingCommand) -> RemotingCommand:
        key = self._chance.choice(self._keys)
        return sign(command, key, f"{key}1234") if key else command


@dataclass(slots=True)
class Tally:
    name: str
    bound: int  #: bytes that it may have beyond its start, the sum of the settings that bound it
    counts: Counter[str] = field(default_factory=Counter[str])
    errors: list[str] = field(default_factory=list[str])
    start: int = 0  #: its bytes of memory when it was ready
    peak: int = 0  #: the most that it had

    def look(self, pid: int) -> None:
        self.start = self.start or machine.resident_bytes(pid)
        self.peak = max(self.peak, machine.status_bytes(pid, "VmHWM"))

    @property
    def is_good(self) -> bool:
        return (
            not self.errors and self.counts["answers"] > 0 and self.peak < self.start + self.bound
        )

    @property
    def line(self) -> str:
        counts = "".join(f"{self.counts[kind]:10}" for kind in ("requests", "answers", "starts"))
        memory = f"{self.peak / MIB:10.0f}{(self.start + self.bound) / MIB:10.0f}"
        return f"{self.name:22}{counts}{len(self.errors):10}{memory}"


@dataclass(slots=True, kw_only=True)
class ServerTally(Tally):
    peer: DevBroker | UnluckyServer
    port: int
    requests: Callable[[Chance], Any]

    def run(self, end: float, seed: str) -> None:
        try:
            while time.monotonic() < end:
                self.counts["starts"] += 1
                with self.peer:
                    self._live(min(end, time.monotonic() + RESTART_SECONDS), seed)
        except PeerFailedError as failure:
            self.errors.append(str(failure))
        for output in self.peer.folder.glob("*.out"):
            self.errors += LOGGED.findall(output.read_text("utf-8", "replace"))

    def _live(self, end: float, seed: str) -> None:
        life = f"{seed} {self.name} {self.counts['starts']}"
        threads = [
            threading.Thread(target=self._converse, args=(Chance(f"{life} {number}"), end))
            for number in range(CONNECTIONS)
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            self.look(self.peer.pid)
            time.sleep(0.5)
        for thread in threads:
            thread.join()
        self.look(self.peer.pid)
        if self.counts["starts"] % 2:  # SIGKILL ends the others
            os.kill(self.peer.pid, signal.SIGTERM)
            time.sleep(1)

    def _converse(self, chance: Chance, end: float) -> None:
        requests = self.requests(chance)
        while time.monotonic() < end:
            with (
                suppress(OSError),
                socket.create_connection((LOOPBACK, self.port), SECONDS) as stream,
            ):
                decoder = CommandDecoder()
                while time.monotonic() < end and chance.below(20):
                    stream.settimeout(SECONDS)
                    stream.sendall(b"".join(requests.next(n) for n in range(PIPELINED)))
                    self.counts["requests"] += PIPELINED
                    stream.settimeout(QUIET_SECONDS)
                    with suppress(TimeoutError):
                        while data := stream.recv(MIB):
                            self._read(decoder, data)

    def _read(self, decoder: CommandDecoder, data: bytes) -> None:
        decoder.feed(data)
        while (command := decoder.next_command()) is not None:
            self.counts["answers"] += 1
            is_error = command.flag & CommandFlag.RESPONSE and command.code == 1
            if is_error and INTERNAL.match(command.remark or ""):
                self.errors.append(str(command))


def list_servers(folder: Path) -> list[ServerTally]:
    (folder / "accounts.yml").write_text(ACCOUNTS)
    servers: list[ServerTally] = []
    for name, options, keys in (
        ("broker, store", {"storePathRootDir": "store"}, ("",)),
        ("broker, accounts", {"rocketwire.accountsFile": folder / "accounts.yml"}, KEYS),
    ):
        broker = DevBroker(folder / name, options={**BROKER, **COUNTS, **options})
        servers.append(
            ServerTally(
                name,
                sum(BROKER.values()),
                peer=broker,
                port=int(broker.address.split(":")[1]),
                requests=partial(LiveRequests, keys=keys),
            )
        )
    for driver in ("portable", *(("reactor",) if reactor.is_available() else ())):
        (folder / driver).mkdir()
        settings = {**NAME_SERVER, **COUNTS, "rocketwire.allowConfigUpdate": driver == "portable"}
        server = UnluckyServer(folder / driver, driver, {}, **settings)
        servers.append(
            ServerTally(
                f"name server, {driver}",
                sum(NAME_SERVER.values()),
                peer=server,
                port=server.port,
                requests=partial(Requests, addresses=[f"{LOOPBACK}:{port}" for port in (1, 2, 3)]),
            )
        )
    return servers


def answer(name: str, end: float, seed: str) -> int:
    # Give answers to clients until the end; return the exit status.
    rounds, status = 0, 0
    _print("ready")
    while time.monotonic() < end:
        rounds += 1
        data = f"{seed} {rounds}"
        try:
            TARGETS[name].read(data.encode())
        except Exception:  # noqa: BLE001 - the next answers may find another one
            _print(f" ERROR with {data}: {traceback.format_exc()}")
            status = 1
    _print(f"answers {Answers.count}, clients {rounds}")
    return status


def watch_clients(tally: Tally, folder: Path, minutes: float, seed: str) -> None:
    command = [sys.executable, "-m", __spec__.name, f"--minutes={minutes}", f"--seed={seed}"]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "namesrv", ROOT / "broker")))
    child = Child(tally.name, [*command, tally.name], folder, environment={"PYTHONPATH": paths})
    with child:
        while child.process.poll() is None:
            if "ready" in child.output:
                tally.look(child.process.pid)
            time.sleep(0.5)
    tally.errors += LOGGED.findall(child.output)
    report = re.search(r"answers (\d+), clients (\d+)", child.output)
    if report is None:
        tally.errors.append(child.output[-2000:])
    else:
        tally.counts += {"answers": int(report[1]), "starts": int(report[2])}


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", default="live", help="of the random numbers")
    parser.add_argument("clients", nargs="?", choices=CLIENTS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    end = time.monotonic() + 60 * chosen.minutes
    if chosen.clients:
        return answer(chosen.clients, end, chosen.seed)
    folder = Path(tempfile.mkdtemp())
    servers = list_servers(folder)
    clients = [Tally(name, CLIENT_BOUND) for name in CLIENTS]
    with ThreadPoolExecutor(len(servers) + len(clients)) as pool:
        runs = [pool.submit(server.run, end, chosen.seed) for server in servers]
        runs += [
            pool.submit(watch_clients, tally, folder, chosen.minutes, chosen.seed)
            for tally in clients
        ]
    for run in runs:
        run.result()
    _print(f"{'process':22}  requests   answers    starts    errors  peak MiB bound MiB")
    for tally in (*servers, *clients):
        _print("\n    ".join((tally.line, *tally.errors[:SHOWN])))
    is_good = all(tally.is_good for tally in (*servers, *clients))
    if is_good:
        shutil.rmtree(folder)
    else:
        _print(f"output of the processes: {folder}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

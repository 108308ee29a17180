"""Sends everything to a name server that an audit hook watches: ``python -m tests.fuzz.audit --seconds 60``.

The invariant: whatever it is sent, it stays alive and answers; it opens no file outside of its folder, starts no process,
imports nothing and connects to no address but those of brokers that are to be told of a new smallest id (905).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.fuzz.chance import Chance
from tests.fuzz.requests import Requests
from tests.support.processes import LOOPBACK, Child, free_ports
from tests.support.raw_call import GET_BROKER_CLUSTER_INFO, ask, frame

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DRIVERS = ("portable", "reactor")
BATCH = 25
MARK = 0x7A7A7A7A
SECONDS = 10.0
"""For the answers to one batch."""


class Watched:
    """A name server under the hook, and brokers for it to talk to.

    Args:
        folder: empty; all its files go there.
        driver: of its sockets.
    """

    def __init__(self, folder: Path, driver: str) -> None:
        self.port = free_ports()
        self._brokers = [socket.create_server((LOOPBACK, 0)) for _ in range(2)]
        self.addresses = [f"{LOOPBACK}:{each.getsockname()[1]}" for each in self._brokers]
        (folder / "tmp").mkdir()
        (folder / "namesrv.properties").write_text(
            f"listenPort={self.port}\nbindAddress={LOOPBACK}\nrocketwire.driver={driver}\n"
            "kvConfigPath=kv/kvConfig.json\nrocketwire.allowConfigUpdate=true\n"
            "notifyMinBrokerIdChanged=true\nrocketwire.observePort=-1\nconnectTimeoutMillis=500\n"
            "rocketwire.knownBrokersPath=knownBrokers.json\nrocketwire.warmStartSeconds=1\n"
        )
        path = os.pathsep.join([str(ROOT), str(ROOT / "namesrv"), os.environ.get("PYTHONPATH", "")])
        self._child = Child(
            "audited",
            [sys.executable, "-m", "tests.fuzz.audited", "serve", str(folder), *self.addresses],
            folder,
            environment={
                "PYTHONPATH": path,
                "HOME": str(folder),
                "ROCKETWIRE_LOG": "stderr",
                "TMPDIR": str(folder / "tmp"),
            },
        )

    def send(self, data: bytes) -> None:
        """Send bytes over a connection of their own, and read until the answer to the mark, or the end."""
        mark = frame(GET_BROKER_CLUSTER_INFO, opaque=MARK)
        sign = b'"opaque":%d' % MARK
        with (
            contextlib.suppress(ConnectionError),
            socket.create_connection((LOOPBACK, self.port), SECONDS) as stream,
        ):
            stream.sendall(data + mark)
            stream.shutdown(socket.SHUT_WR)
            received = b""
            while piece := stream.recv(1 << 16):
                received = received[-len(sign) :] + piece
                if sign in received:
                    break

    def check(self) -> None:
        """Raises unless it lives and answers a stranger."""
        self._child.wait_until(lambda: self._answers(), "an answer", SECONDS)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            return ask(self.port, GET_BROKER_CLUSTER_INFO).header["code"] == 0
        return False

    @property
    def log(self) -> str:
        """What it has printed."""
        return self._child.output

    def __enter__(self) -> Self:
        self._child.wait_until(lambda: "boot success" in self.log, "boot success")
        return self

    def __exit__(self, *_: object) -> None:
        self._child.stop()
        for each in self._brokers:
            each.close()


def batches(seed: str, addresses: list[str]) -> Iterator[bytes]:
    """Requests without end."""
    requests = Requests(Chance(seed), addresses)
    opaque = 0
    while True:
        batch: list[bytes] = []
        for _ in range(BATCH):
            opaque += 1
            batch.append(requests.next(opaque))
        yield b"".join(batch)


def fuzz(
    folder: Path, driver: str, seed: str, *, rounds: int = 1 << 62, seconds: float = 1e9
) -> int:
    """Send batches to a new server, so many or so long; returns how many requests that were.

    Raises:
        PeerFailedError: it has done what it must not, or does not answer any more.
    """
    end = time.monotonic() + seconds
    sent = 0
    with Watched(folder, driver) as server:
        for data in batches(seed, server.addresses):
            server.send(data)
            sent += 1
            if sent % 20 == 0:
                server.check()
            if sent >= rounds or time.monotonic() >= end:
                break
        server.check()
        log = server.log
    if "Traceback" in log:
        raise AssertionError(log[log.index("Traceback") - 500 :][:4000])
    return sent * BATCH


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60, help="for each driver")
    parser.add_argument("--seed", default=str(time.time_ns()))
    chosen = parser.parse_args()
    for driver in DRIVERS:
        with tempfile.TemporaryDirectory() as folder:
            count = fuzz(Path(folder), driver, chosen.seed, seconds=chosen.seconds)
        sys.stdout.write(f"audited {driver}: ok {count} requests, seed {chosen.seed}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

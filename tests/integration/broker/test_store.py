"""A broker with a folder as a process: what it acknowledged is there after SIGKILL under load."""

from __future__ import annotations

import subprocess
import threading
from itertools import count
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.__main__ import main
from tests.peers.dev_cluster import PROGRAM, DevBroker
from tests.support.broker import bodies
from tests.support.broker_wire import WireClient

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

WRITERS = 3
IN_FLIGHT = 8
"""Sends of each connection that wait for their answers."""


class Writer(threading.Thread):
    """Sends numbers to its own queue, and keeps those that were acknowledged, in order.

    Args:
        address: of the broker.
        queue: id of the queue.
        numbers: to send.
        enough: set when this number of sends is acknowledged.
    """

    def __init__(
        self, address: str, queue: int, numbers: count[int], enough: threading.Semaphore
    ) -> None:
        super().__init__(daemon=True)
        self.acknowledged: list[tuple[int, int]] = []
        self.sent: list[int] = []
        self._address, self._queue = address, queue
        self._numbers, self._enough = numbers, enough

    def run(self) -> None:
        with WireClient(self._address) as client:
            try:
                while True:
                    self._send_some(client)
            except (AssertionError, OSError):  # the broker was killed
                return

    def _send_some(self, client: WireClient) -> None:
        flight: list[tuple[int, int]] = []
        for _ in range(IN_FLIGHT):
            number = next(self._numbers)
            self.sent.append(number)
            fields = {"a": "p", "b": "orders", "c": "TBW102", "d": WRITERS, "e": self._queue}
            fields |= {"f": 0, "g": 0, "h": 0, "i": "", "j": 0, "k": False, "m": False}
            flight.append((number, client.ask(310, fields, b"%d" % number)))
        for number, opaque in flight:
            answer = client.answer_to(opaque)
            assert answer is not None
            assert answer.code == 0
            offset = int((answer.ext_fields or {})["queueOffset"])
            self.acknowledged.append((offset, number))
            self._enough.release()


def read_numbers(address: str, queue: int) -> list[int]:
    """The numbers in a queue, in its order."""
    numbers: list[int] = []
    with WireClient(address) as client:
        while True:
            found = bodies(client.pulled(len(numbers), queue=queue))
            if not found:
                return numbers
            numbers += map(int, found)


def test_no_acknowledged_message_is_lost_doubled_or_moved_by_kills(tmp_path: Path) -> None:
    options = {"storePathRootDir": "store", "mappedFileSizeCommitLog": 1 << 16}
    acknowledged: list[dict[int, int]] = [{} for _ in range(WRITERS)]
    sent: list[list[int]] = [[] for _ in range(WRITERS)]
    numbers = [count() for _ in range(WRITERS)]
    broker = DevBroker(tmp_path, options=options)
    with broker:
        for enough in (300, 700, 100):
            done = threading.Semaphore(0)
            writers = [
                Writer(broker.address, queue, numbers[queue], done) for queue in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            for _ in range(enough):
                assert done.acquire(timeout=120)
            broker.kill()
            for queue, writer in enumerate(writers):
                writer.join(120)
                acknowledged[queue].update(writer.acknowledged)
                sent[queue] += writer.sent
            broker.start()
            for queue in range(WRITERS):
                there = read_numbers(broker.address, queue)
                assert {offset: there[offset] for offset in acknowledged[queue]} == (
                    acknowledged[queue]
                )
                assert there == sorted(set(there)), "in order, and none twice"
                assert set(there) <= set(sent[queue])
        broker.stop()
    assert main(["check", str(tmp_path / "store")]) == 0


def test_a_folder_in_use_ends_the_start_with_a_reason(tmp_path: Path) -> None:
    with DevBroker(tmp_path, options={"storePathRootDir": "store"}):
        ended = subprocess.run(
            [*PROGRAM, "dev", "--port", "0", "--broker-port", "0", "--store", "store"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert ended.returncode == 255
    assert "the broker cannot start: another broker uses the store in store" in ended.stderr

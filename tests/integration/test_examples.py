"""The programs in ``examples`` do what their first lines promise, with the broker for development."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketwire.sync import ConsumeConcurrentlyContext, Message, open_producer, open_push_consumer
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.pytest_plugin.cluster import RocketMQ

pytestmark = pytest.mark.process

EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def start(rocketmq: RocketMQ, name: str, *arguments: str) -> Generator[Example]:
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *arguments],
        env=os.environ | {"NAMESRV_ADDR": rocketmq.address},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Example(process)
        finally:
            process.kill()


class Example:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.lines = map(str.rstrip, process.stdout or ())

    def wait_for(self, line: str) -> None:
        assert line in self.lines, line

    def end(self, number: int = signal.SIGTERM) -> list[str]:
        self._process.send_signal(number)
        remaining = list(self.lines)
        assert self._process.wait(30) == 0
        return remaining


@pytest.mark.parametrize("dialect", ["threads", "asyncio", "trio"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_ends_its_work_after_a_signal(
    rocketmq: RocketMQ, dialect: str, number: signal.Signals
) -> None:
    with start(rocketmq, f"worker_{dialect}.py") as worker:
        worker.wait_for("ready")
        rocketmq.produce("jobs", b"one")
        worker.wait_for("handled one")

        assert worker.end(number) == [f"stopping: {number.name}"]
    rocketmq.produce("jobs", b"two")
    with start(rocketmq, f"worker_{dialect}.py") as worker:
        worker.wait_for("ready")
        assert next(worker.lines) == "handled two", "the offset of the first one is stored"


def test_a_question_is_answered(rocketmq: RocketMQ) -> None:
    with start(rocketmq, "request_reply.py") as example:
        assert list(example.lines) == ["apples cost 12 EUR"]


def test_a_message_that_comes_twice_is_booked_once(rocketmq: RocketMQ, tmp_path: Path) -> None:
    with (
        open_producer(rocketmq.address, "shop") as producer,
        start(rocketmq, "idempotent_handler.py", str(tmp_path / "payments.db")) as example,
    ):
        example.wait_for("ready")
        for line in ("booked p-1", "known p-1"):
            producer.send(Message("payments", b"100", keys=("p-1",)))
            assert next(example.lines) == line


def test_dead_letters_are_listed_and_sent_again_once(rocketmq: RocketMQ) -> None:
    def refuse(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
        raise ValueError("cannot be read")

    address = rocketmq.address
    with (
        open_producer(address, "shop") as producer,
        open_push_consumer(address, "billing", {"bills": "*"}, refuse, max_reconsume_times=0),
    ):
        producer.send(Message("bills", b"poison", keys=("b-1",)))
        deadline = time.monotonic() + 30
        while not rocketmq.messages("%DLQ%billing"):
            assert time.monotonic() < deadline, "there is no dead letter"
            time.sleep(0.1)

    for lines in (["bills b-1 poison"], []):
        with start(rocketmq, "dead_letters.py", "billing", "--resend") as example:
            assert list(example.lines) == lines
    assert [message.body for message in rocketmq.messages("bills")] == [b"poison", b"poison"]

"""``rocketwire-admin`` in the process of a test, and the output of mqadmin for comparison."""

import json
import subprocess
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest
import trio

from rocketwire.client import open_client
from rocketwire_tools.admin.program import main
from tests.peers.client_settings import patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import send, unique
from tests.peers.processes import wait_until
from tests.support import admin_in_process
from tests.support.admin_process import Done, begin, end

CLUSTER = "DefaultCluster"
UNIQUE = "AC1100010000000000000000000000CD"
LONG = ("--request-timeout", "120")
"""Options for a machine that is busy."""

Name = TypeVar("Name", bound=Hashable)
Mqadmin: TypeAlias = Callable[[str], str]
"""Runs a line of mqadmin and returns what it prints."""


class Ours:
    """``rocketwire-admin`` in this process, at a cluster of Java's.

    ``status`` and ``error`` are those of the last command.
    """

    def __init__(self, cluster: JavaCluster, captured: pytest.CaptureFixture[str]) -> None:
        self.cluster = cluster
        self.broker = cluster.master.address
        self.status = 0
        self.error = ""
        self._captured = captured

    def __call__(self, line: str, *words: str) -> Any:
        connection = ["-n", self.cluster.address, *LONG, "--output", "json"]
        self.status = main([*line.split(), *words, *connection])
        out, self.error = self._captured.readouterr()
        return json.loads(out) if out else None

    def expect_error(self, line: str, text: str = "", *, status: int = 1) -> Any:
        output = self(line)
        assert (self.status, text in self.error) == (status, True), (line, self.error)
        return output

    def wait_for_rows(self, line: str, count: int = 1) -> Any:
        # Return the rows of a command when there are this many: a broker shows and indexes messages after it has stored them.
        rows: Any = None

        def is_there() -> bool:
            nonlocal rows
            rows = self(line)
            return len(rows or ()) >= count

        wait_until(is_there, line)
        return rows

    def wait_for_route(self, topic: str) -> None:
        wait_until(lambda: self(f"topicRoute -t {topic}") is not None, f"a route of {topic}")

    def create_topic(self, name: str, queues: int = 2, options: str = "", broker: str = "") -> str:
        place = f"-b {broker or self.broker} -t {name}"
        self(f"updateTopic {place} -r {queues} -w {queues} {options}")
        self.wait_for_route(name)
        return name

    def create_group(self, options: str = "", broker: str = "") -> str:
        name = unique("g")
        self(f"updateSubGroup -b {broker or self.broker} -g {name} {options}")
        return name

    def store(
        self, topic: str, bodies: Sequence[bytes], *, queue_id: int, **properties: str
    ) -> None:
        all_properties = {"UNIQ_KEY": UNIQUE, **properties}

        async def send_all() -> None:
            async with open_client(patient(namesrv_addr=self.cluster.address)) as client:
                await send(client, topic, bodies, queue_id=queue_id, **all_properties)

        trio.run(send_all)


def rows(output: str, *, begin: str) -> list[list[str]]:
    return sorted(line.split() for line in output.splitlines() if line.startswith(begin))


def columns(objects: Sequence[Mapping[str, Any]], names: str) -> list[list[str]]:
    return sorted([str(row[name]) for name in names.split()] for row in objects)


QUEUE_ENDS = "brokerName queueId minOffset maxOffset"
"""The first columns of ``topicStatus``."""


def without_disk(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    # The findings of ``doctor``, except that the disk is filling: this depends on the machine.
    return [finding for finding in findings if finding["id"] != "broker-disk-filling"]


class Programs:
    """``rocketwire-admin`` in processes of its own, at a cluster of Java's."""

    def __init__(self, cluster: JavaCluster, home: Path | None = None) -> None:
        self.cluster = cluster
        self.servers = ("-n", cluster.address, *LONG)
        self.home = home

    def run_here(self, *words: str) -> admin_in_process.Run:
        return admin_in_process.run(*words, *self.servers, "--output", "json")

    def rows(self, *words: str) -> Any:
        return json.loads(self.run_here(*words).out)

    def create_topic(self, word: str, queues: int = 4) -> str:
        name, number = unique(word), str(queues)
        place = ("-b", self.cluster.master.address, "-t", name)
        created = self.run_here("updateTopic", *place, "-r", number, "-w", number)
        assert created.status == 0, created
        wait_until(lambda: self.run_here("topicRoute", "-t", name).status == 0, "a route")
        return name

    def begin_produce(self, topic: str, *options: str) -> subprocess.Popen[bytes]:
        return begin("produce", *self.servers, "-t", topic, *options)

    def produce(self, topic: str, *options: str, text: bytes | None = None) -> Done:
        return end(self.begin_produce(topic, *options), text)

    def begin_consume(self, topic: str, group: str, *options: str) -> subprocess.Popen[bytes]:
        # Start ``consume`` from the first message; options that are empty are left out.
        words = ("-t", topic, "-g", group, "--from", "first", *filter(None, options))
        return begin("consume", *self.servers, *words, home=self.home, stdin=subprocess.DEVNULL)


def end_all(running: Mapping[Name, subprocess.Popen[bytes]]) -> dict[Name, Done]:
    return {name: end(process) for name, process in running.items()}


def count_lines(runs: Mapping[Name, Done]) -> dict[Name, tuple[int, int, str]]:
    return {name: (run.status, len(run.lines), run.complaint) for name, run in runs.items()}

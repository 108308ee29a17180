"""``rocketwire-admin`` in the process of a test, and the output of mqadmin for comparison."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import trio

from rocketwire.client import open_client
from rocketwire_tools.admin.program import main
from tests.peers.client_settings import patient
from tests.peers.messages import send
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from tests.peers.cluster import JavaCluster

CLUSTER = "DefaultCluster"
UNIQUE = "AC1100010000000000000000000000CD"


class Ours:
    """``rocketwire-admin`` in this process."""

    def __init__(self, name_server: str, captured: pytest.CaptureFixture[str]) -> None:
        self._name_server = name_server
        self._captured = captured
        self.status = 0
        self.error = ""

    def __call__(self, line: str, *more: str) -> Any:
        """Return the JSON output of a command; keeps its exit status and its lines on stderr."""
        connection = ["-n", self._name_server, "--request-timeout", "120", "--output", "json"]
        self.status = main([*line.split(), *more, *connection])
        out, self.error = self._captured.readouterr()
        return json.loads(out) if out else None

    def wait_for(self, topic: str) -> None:
        """Wait until the name server knows a topic."""
        wait_until(lambda: self(f"topicRoute -t {topic}") is not None, f"a route of {topic}")


def store(
    cluster: JavaCluster, topic: str, bodies: list[bytes], *, queue_id: int, **properties: str
) -> None:
    """Send messages to a queue (mqadmin's ``sendMessage`` works once in a process)."""

    async def send_all() -> None:
        async with open_client(patient(namesrv_addr=cluster.address)) as client:
            await send(
                client, topic, bodies, queue_id=queue_id, **{"UNIQ_KEY": UNIQUE, **properties}
            )

    trio.run(send_all)


def rows(output: str, *, of: str) -> list[list[str]]:
    """The words of the lines of a table that begin with a word."""
    return sorted(line.split() for line in output.splitlines() if line.startswith(of))


def without_disk(findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The findings of ``doctor``, except that the disk is filling: this depends on the machine."""
    return [finding for finding in findings if finding["id"] != "broker-disk-filling"]

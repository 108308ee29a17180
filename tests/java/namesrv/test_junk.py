"""Bytes that are no command, on the port of a name server that has better things to do."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

import pytest

from tests.support import raw_call
from tests.support.name_servers import DEFAULT_KIND
from tests.support.processes import LOOPBACK, wait_until

if TYPE_CHECKING:
    from tests.java.namesrv.conftest import Cluster


JUNK = {
    "random bytes": bytes.fromhex("9c41f7d20b6ee8135f90aa7c3d58c6e1940f2bb7a6d3185cee4702c9"),
    "an HTTP request": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "the largest length": struct.pack(">i", 2**31 - 1) + bytes(16),
    "a header longer than its frame": struct.pack(">II", 20, 100) + bytes(20),
}
LOOKS_LIKE = {
    "random bytes": "9c 41 f7 d2",
    "an HTTP request": "an HTTP request",
    "the largest length": "2147483647",
    "a header longer than its frame": "a header of 100",
}
"""What the line in the log has to name."""


@pytest.mark.parametrize("what", JUNK)
def test_junk_closes_its_own_connection_with_one_line_in_the_log_and_no_broker_notices(
    what: str, cluster: Cluster
) -> None:
    port, broker = cluster.server.port, cluster.broker.address
    with socket.create_connection((LOOPBACK, port), 60) as before:
        log_before = cluster.server.log
        with socket.create_connection((LOOPBACK, port), 60) as stream:
            stream.sendall(JUNK[what])
            host, own_port = stream.getsockname()
            answer = stream.recv(1)
        before.sendall(raw_call.frame(raw_call.GET_BROKER_CLUSTER_INFO))
        others_answer = raw_call.read_answer(before)

    assert answer == b""
    assert broker.encode() in others_answer.body
    assert raw_call.routes_to(port, "TBW102", broker)
    if DEFAULT_KIND == "ours":
        own = f"{host}:{own_port}"

        def lines() -> list[str]:
            new = cluster.server.log[len(log_before) :]
            return [line for line in new.splitlines() if own in line]

        wait_until(lambda: bool(lines()), "a line in the log")
        (line,) = lines()
        assert " WARN " in line
        assert LOOKS_LIKE[what] in line
        assert broker not in cluster.server.log[len(log_before) :]

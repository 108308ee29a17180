"""The command line takes what large clusters are made of; what is beyond a limit ends nothing that was begun before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.client import ClientConfig
from rocketwire.client.net.nameservers import SingleNameServer
from rocketwire.client.net.pool import open_pool
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import RocketWireError
from rocketwire.messages.route import QueueData, TopicList, TopicRouteData
from rocketwire.testing import open_network, reply
from rocketwire_tools.admin.actions.snapshot import MAX_CONCURRENT_REQUESTS, take_snapshot
from rocketwire_tools.admin.commands.produce import BATCH_BYTES, batches
from rocketwire_tools.cli.command import RefusedError
from rocketwire_tools.cli.stdio import MAX_LINE, read_lines
from rocketwire_tools.pcap.reports.reports import SummaryReport
from tests.unit.tools.pcap.reports.test_reports import requests

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.admin.actions.snapshot import Snapshot

NS = "10.0.0.1:9876"
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest body that brokers take unless they are told otherwise."""


async def lines_of(path: Path) -> list[bytes]:
    read: list[bytes] = []
    with path.open("rb") as file:
        try:
            async for lines in read_lines(file.fileno()):
                read += lines
        except RefusedError as error:
            read.append(str(error).encode())
    return read


async def test_bodies_of_the_greatest_size_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "in"
    bodies = [b"a" * LARGEST, b"b", b"c" * LARGEST]
    path.write_bytes(b"\n".join(bodies))

    assert await lines_of(path) == bodies
    assert [len(part) for part in batches(bodies, 32)] == [1, 1, 1]
    assert [len(part) for part in batches([b"x" * 1000] * 64, 32)] == [32, 32]
    assert BATCH_BYTES < LARGEST


async def test_a_line_that_is_too_long_is_refused_behind_those_before_it(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"one\ntwo\n" + b"x" * (MAX_LINE + 1))

    one, two, refusal = await lines_of(path)

    assert (one, two) == (b"one", b"two")
    assert b"longer than %d bytes" % MAX_LINE in refusal


async def snapshot(topics: int, *, refuses: str = "") -> tuple[Snapshot | None, int]:
    """What a snapshot holds of so many topics, None if it failed; and how many routes were asked for at once at most."""
    names = [f"T{number}" for number in range(topics)]
    asked = most = 0

    async def route(request: RemotingCommand) -> RemotingCommand:
        nonlocal asked, most
        asked += 1
        most = max(most, asked)
        await trio.sleep(1)
        asked -= 1
        if (request.ext_fields or {})["topic"] == refuses:
            return reply(code=ResponseCode.SYSTEM_ERROR)
        queues = QueueData(broker_name="b", perm=6, read_queue_nums=4, write_queue_nums=4)
        return reply(body=TopicRouteData(queue_datas=(queues,), broker_datas=()))

    config = ClientConfig(namesrv_addr=NS)
    async with open_network() as network:
        peer = network.peer(NS)
        peer.on(Code.GET_BROKER_CLUSTER_INFO, reply())
        peer.on(
            Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, reply(body=TopicList(topic_list=tuple(names)))
        )
        peer.on(Code.GET_ROUTEINFO_BY_TOPIC, route)
        async with open_pool(config, environment={}, connect=network.connect) as pool:
            try:
                return await take_snapshot(SingleNameServer(pool, config, NS)), most
            except RocketWireError:
                return None, most


async def test_routes_of_a_thousand_topics_are_asked_for_a_few_at_a_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    taken, most = await snapshot(1000)

    assert taken is not None
    assert len(taken.routes) == 1000
    assert most == MAX_CONCURRENT_REQUESTS


async def test_a_refused_route_ends_one_snapshot_and_the_next_one_is_taken(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert await snapshot(100, refuses="T50") == (None, MAX_CONCURRENT_REQUESTS)
    taken, _ = await snapshot(100)
    assert taken is not None


@pytest.mark.parametrize("count", [100, 20_000])
def test_a_report_counts_twenty_thousand_clients_apart(count: int) -> None:
    summary = SummaryReport(10)
    summary.take(requests(range(count)))
    tables = {table.name: table for table in summary.tables([])}

    assert ("connections with frames", count) in tables["overall"].rows

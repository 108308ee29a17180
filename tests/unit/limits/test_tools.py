"""The command line handles large clusters; data beyond a limit ends no work that has begun."""

from pathlib import Path

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
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.admin.commands.produce import BATCH_BYTES, batches
from rocketwire_tools.admin.findings import MAX_CONCURRENT_REQUESTS, Snapshot, take_snapshot
from rocketwire_tools.cli.command import RefusedError
from rocketwire_tools.cli.stdio import MAX_LINE, read_lines
from rocketwire_tools.pcap.reports.reports import SummaryReport
from tests.support.values import require
from tests.unit.tools.pcap.reports.test_reports import requests

NS = "10.0.0.1:9876"
LARGEST = 4 * 1024 * 1024
"""Bytes of the largest body that brokers take by default."""


async def read_all_lines(path: Path) -> list[bytes]:
    result: list[bytes] = []
    with path.open("rb") as file:
        try:
            async for lines in read_lines(file.fileno()):
                result += lines
        except RefusedError as error:
            result.append(str(error).encode())
    return result


async def test_bodies_of_the_greatest_size_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "in"
    bodies = [b"a" * LARGEST, b"b", b"c" * LARGEST]
    path.write_bytes(b"\n".join(bodies))

    assert await read_all_lines(path) == bodies
    assert [len(part) for part in batches(bodies, 32)] == [1, 1, 1]
    assert [len(part) for part in batches([b"x" * 1000] * 64, 32)] == [32, 32]
    assert BATCH_BYTES < LARGEST


async def test_a_line_that_is_too_long_is_refused_behind_those_before_it(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"one\ntwo\n" + b"x" * (MAX_LINE + 1))

    *lines, refusal = await read_all_lines(path)

    assert lines == [b"one", b"two"]
    assert b"longer than %d bytes" % MAX_LINE in refusal


async def snapshot(topics: int, *, refuses: str = "") -> tuple[Snapshot | None, int]:
    """Take a snapshot of a cluster; return it, and the highest number of route requests at once.

    The snapshot is None if it failed.
    """
    names = [f"T{number}" for number in range(topics)]
    open_requests = highest = 0

    async def route(request: RemotingCommand) -> RemotingCommand:
        nonlocal open_requests, highest
        open_requests += 1
        highest = max(highest, open_requests)
        await trio.sleep(1)
        open_requests -= 1
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
                return await take_snapshot(SingleNameServer(pool, config, NS)), highest
            except RocketWireError:
                return None, highest


async def test_routes_of_a_thousand_topics_are_asked_for_a_few_at_a_time(
    autojump_clock: trio.testing.MockClock,
) -> None:
    result, highest = await snapshot(1000)

    assert len(require(result).routes) == 1000
    assert highest == MAX_CONCURRENT_REQUESTS


async def test_a_refused_route_ends_one_snapshot_and_the_next_one_is_taken(
    autojump_clock: trio.testing.MockClock,
) -> None:
    assert await snapshot(100, refuses="T50") == (None, MAX_CONCURRENT_REQUESTS)
    result, _ = await snapshot(100)
    assert result is not None


@pytest.mark.parametrize("count", [100, 20_000])
def test_a_report_counts_twenty_thousand_clients_apart(count: int) -> None:
    summary = SummaryReport(10)
    summary.take(requests(range(count)))
    tables = {table.name: table for table in summary.tables([])}

    assert ("connections with frames", count) in tables["overall"].rows

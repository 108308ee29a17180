"""The benchmark's programs work: they are built, measure our server, and catch one that answers wrongly."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from bench.namesrv import candidates, machine, routes, scenarios, targets
from bench.namesrv.candidates import PROGRAMS, Server
from bench.namesrv.links import Link, feed
from bench.namesrv.sampling import SampleError, load
from tests.support import raw_call
from tests.support.processes import LOOPBACK, free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("gcc", "make", "taskset")),
        reason="needs gcc, make and taskset",
    ),
]
DRIVERS = [name for name in candidates.available() if name in candidates.OURS]
FAMILY = routes.Topics("Smoke-{i}-{h}", 20, 1)
WINDOW = ("-t", "0.8", "-w", "0.1", "-c", "5")


@pytest.fixture(scope="module", autouse=True)
def _programs() -> None:
    candidates.build_programs()


@pytest.fixture(scope="module", params=[*DRIVERS, "c"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _programs: None
) -> Iterator[Server]:
    """A server that knows the topics of ``FAMILY``."""
    tmp_path = tmp_path_factory.mktemp("server")
    found = Server(request.param, tmp_path, machine.cpus("shared"))
    body = tmp_path / "body"
    body.write_bytes(b'{"brokerDatas":[]}')
    found.bodies = [(FAMILY.format, FAMILY.count, body)]
    try:
        found.start()
        with Link(found.port, routes.Broker("smoke", "127.2.0.99:10911")) as link:
            link.register(routes.body(dict.fromkeys(routes.names(FAMILY), 8), 1, compressed=False))
            yield found
    finally:
        found.kill()


@pytest.mark.parametrize("options", [("-d", "4"), ("-d", "1", "-b"), ("-r", "200")])
def test_the_load_generator_finds_every_answer_right(
    server: Server, options: tuple[str, ...]
) -> None:
    sample = load(server, FAMILY, *WINDOW, *options, cpu=machine.cpus("shared").load, limit=20)

    # On a full machine all answers may come after the window: only their latencies are certain.
    assert 0 < sample.p50 <= sample.p99 <= sample.longest
    assert sample.unanswered == 0


def test_the_load_generator_takes_no_unknown_topic_for_an_answer(server: Server) -> None:
    unknown = routes.Topics("Unknown-{i}", 5, 1)

    with pytest.raises(SampleError, match="bad_code"):
        load(server, unknown, *WINDOW, cpu=machine.cpus("shared").load, limit=20)


def test_registrations_at_a_rate_are_answered(server: Server) -> None:
    bodies = [
        routes.body({"One": 8, "Other": queues}, counter, compressed=True)
        for counter, queues in ((1, 8), (2, 4))
    ]
    with Link(server.port, routes.wide_brokers()[0]) as link:
        link.register(bodies[0])

        found = feed([link], bodies, rate=50, seconds=0.2)

    assert (found.answers, found.failed, found.missing) == (10, 0, 0)
    assert found.p50 <= found.p99 <= found.longest


def test_the_cpu_clock_of_a_process_is_what_its_stat_says() -> None:
    sum(range(3_000_000))

    assert machine.cpu_seconds(os.getpid()) == pytest.approx(
        machine.stat_seconds(os.getpid()), abs=0.05
    )


def test_an_answer_in_another_order_is_right_and_one_to_nothing_is_not() -> None:
    with socket.create_server((LOOPBACK, free_ports())) as listener:
        answering = threading.Thread(target=_answer_backwards, args=(listener,), daemon=True)
        answering.start()
        window = ("-c", "1", "-d", "8", "-t", "1", "-w", "0")
        port = str(listener.getsockname()[1])
        done = subprocess.run(
            [str(PROGRAMS / "loadgen"), "-p", port, *window],
            capture_output=True,
            check=True,
            timeout=120,
        )
    answering.join(60)

    found = json.loads(done.stdout)
    assert found["answers"] == 8
    assert found["bad_opaque"] == 1


def _answer_backwards(listener: socket.socket) -> None:
    """Answer the first eight requests in the opposite order, and a ninth that nobody sent."""
    stream, _ = listener.accept()
    with stream:
        opaques = [_read_opaque(stream) for _ in range(8)]
        for opaque in [999_999, *reversed(opaques)]:
            stream.sendall(raw_call.frame(0, body=b"{}", opaque=opaque, flag=1))
        while stream.recv(65_536):
            pass


def _read_opaque(stream: socket.socket) -> int:
    return int(str(raw_call.read_answer(stream).header["opaque"]))


def test_every_row_of_the_table_has_its_scenario() -> None:
    rows = [row for section in targets.SECTIONS.values() for row in section]

    assert {row.scenario for row in rows} == {*scenarios.STEADY, "idle", "loaded"}

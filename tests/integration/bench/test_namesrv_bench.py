"""The programs of the name server's benchmark measure our server, and notice wrong answers."""

import shutil
from collections.abc import Iterator

import pytest

from bench import machine
from bench.namesrv import routes
from bench.namesrv.brokers import Brokers, Link, feed
from bench.namesrv.load import LoadGenerator, SampleError
from bench.namesrv.servers import OURS, Server, build_programs

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("gcc", "make", "taskset")),
        reason="needs gcc, make and taskset",
    ),
]
FAMILY = routes.Topics("Smoke-{i}-{h}", 20, 1)
BROKER = routes.Broker("smoke", "127.2.0.99:10911")


@pytest.fixture(scope="module", params=["portable", "reactor"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    build_programs()
    folder = tmp_path_factory.mktemp("server")
    server = Server(OURS, folder, machine.choose_cpus(), request.param)
    body = routes.body(dict.fromkeys(routes.names(FAMILY), 8), 1, compressed=False)
    try:
        server.start()
        with Brokers(server.port) as brokers:
            brokers.register([(BROKER, body)])
            yield server
    finally:
        server.kill()


def load(server: Server, topics: routes.Topics, *options: str) -> LoadGenerator:
    window = ("-t", "0.8", "-w", "0.1", "-c", "5")
    return LoadGenerator(server, topics, *window, *options, cpu=machine.choose_cpus().server)


@pytest.mark.parametrize("options", [("-d", "4"), ("-r", "200")])
def test_the_load_generator_accepts_every_answer(server: Server, options: tuple[str, ...]) -> None:
    result = load(server, FAMILY, *options).result(20)

    # on a busy machine all answers may come after the window: only their latencies are certain
    assert 0 < result.p50 <= result.p99
    assert result.unanswered == 0


def test_the_load_generator_rejects_the_answer_for_an_unknown_topic(server: Server) -> None:
    with pytest.raises(SampleError, match="bad_code"):
        load(server, routes.Topics("Unknown-{i}", 5, 1)).result(20)


def test_registrations_at_a_rate_are_answered(server: Server) -> None:
    bodies = [
        routes.body({"One": 8, "Other": queues}, counter, compressed=True)
        for counter, queues in ((1, 8), (2, 4))
    ]
    with Link(server.port, routes.Broker("other", "127.2.0.98:10911")) as link:
        link.register(bodies[0])

        result = feed([link], bodies, rate=50, seconds=0.2)

    assert result.answers == 10

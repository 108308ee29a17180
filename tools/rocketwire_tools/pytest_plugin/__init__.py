"""Fixtures for tests of RocketMQ programs: a name server, a scripted broker, and a proxy with
faults.

Rules of this file: pytest loads it in every run if this package is installed, so it only imports
the standard library and pytest; a fixture imports its modules when a test uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pytest_plugin.markers import BROKER, CLUSTER, MODES, NAMESRV, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rocketwire_tools.pytest_plugin.cluster import RocketMQ
    from rocketwire_tools.pytest_plugin.faults import FaultProxy
    from rocketwire_tools.pytest_plugin.name_servers import NameServer
    from rocketwire_tools.pytest_plugin.scripted import ScriptedBroker
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--rocketmq-namesrv``, and the setting ``rocketmq_namesrv`` for the same."""
    group = parser.getgroup("rocketmq")
    group.addoption(
        "--rocketmq-namesrv",
        choices=MODES,
        default=None,
        help="how the fixture rocketmq_namesrv runs: a process of its own (default), or a thread",
    )
    parser.addini(
        "rocketmq_namesrv", "how the fixture rocketmq_namesrv runs: process or thread", default=""
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line(
        "markers",
        "rocketmq_namesrv(mode=..., **settings): how the name server runs, and lines of its"
        " configuration file",
    )
    config.addinivalue_line(
        "markers",
        "rocketmq(brokers=1, topics=[...], **settings): number of brokers, topics from the start,"
        " and settings of broker.conf",
    )
    config.addinivalue_line(
        "markers",
        "rocketmq_broker(register=True, **attributes): name, cluster, broker_id and topics of the"
        " scripted broker",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check the markers of a test, even if it does not use their fixtures."""
    for name in (NAMESRV, BROKER, CLUSTER):
        checked(item, name)


@pytest.fixture
def rocketmq_backstage() -> Iterator[Backstage]:
    """The thread of the other fixtures; tests rarely need it."""
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage

    with Backstage() as backstage:
        yield backstage


@pytest.fixture
def rocketmq(request: pytest.FixtureRequest, rocketmq_backstage: Backstage) -> Iterator[RocketMQ]:
    """A name server and a broker that keeps messages, for this test; ``address`` is the name
    server's address."""
    from rocketwire_tools.pytest_plugin.cluster import RocketMQ
    from rocketwire_tools.pytest_plugin.markers import setting_text

    arguments = checked(request.node, CLUSTER)
    brokers, topics = arguments.pop("brokers", 1), arguments.pop("topics", ())
    settings = {name: setting_text(value) for name, value in arguments.items()}
    with RocketMQ(rocketmq_backstage, brokers=brokers, topics=topics, settings=settings) as cluster:
        yield cluster


@pytest.fixture
def rocketmq_namesrv(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NameServer]:
    """A name server for this test, on a free port of loopback; ``address`` is its address."""
    settings = checked(request.node, NAMESRV)
    mode = str(
        settings.pop("mode", None)
        or request.config.getoption("--rocketmq-namesrv")
        or request.config.getini("rocketmq_namesrv")
        or "process"
    )
    if mode not in MODES:  # the setting; pytest has checked the option, and the marker is checked
        pytest.fail(f"rocketmq_namesrv is {' or '.join(MODES)}, not {mode!r}", pytrace=False)
    server = _name_server(mode, request, tmp_path_factory.mktemp("namesrv"), settings)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _name_server(
    mode: str, request: pytest.FixtureRequest, folder: Path, settings: dict[str, object]
) -> NameServer:
    from rocketwire_tools.pytest_plugin.name_servers import ProcessNameServer, ThreadNameServer

    if mode == "process":
        return ProcessNameServer(folder, settings)
    return ThreadNameServer(folder, settings, request.getfixturevalue("rocketmq_backstage"))


@pytest.fixture
def rocketmq_broker(
    request: pytest.FixtureRequest, rocketmq_backstage: Backstage
) -> Iterator[ScriptedBroker]:
    """A broker with scripted responses; registered with ``rocketmq_namesrv`` unless the marker
    disables that.

    An exception in a scripted response fails the test at its end.
    """
    from rocketwire_tools.pytest_plugin.scripted import ScriptedBroker

    attributes = checked(request.node, BROKER)
    register = attributes.pop("register", True)
    server: NameServer | None = None
    if register:
        server = request.getfixturevalue("rocketmq_namesrv")
    with ScriptedBroker(rocketmq_backstage, **attributes) as broker:
        if server is not None:
            broker.register(server.address)
        yield broker
    if broker.failures:
        raise broker.failures[0]


@pytest.fixture
def fault_proxy(rocketmq_backstage: Backstage) -> Iterator[Callable[[str], FaultProxy]]:
    """Creates proxies: ``fault_proxy("127.0.0.1:9876")`` is a proxy to that server."""
    from contextlib import ExitStack

    from rocketwire_tools.pytest_plugin.faults import FaultProxy

    with ExitStack() as proxies:

        def make(target: str) -> FaultProxy:
            return proxies.enter_context(FaultProxy(rocketmq_backstage, target))

        yield make

"""Fixtures for tests of RocketMQ programs: a cluster in memory, and a proxy with faults.

Rules of this file: pytest loads it in every run if this package is installed, so it only imports
the standard library and pytest; a fixture imports its modules when a test uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pytest_plugin.markers import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.pytest_plugin.cluster import RocketMQ
    from rocketwire_tools.pytest_plugin.faults import FaultProxy
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "rocketmq(brokers=1, topics=[...], **settings): number of brokers, topics from the start,"
        " and settings of broker.conf",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    check(item)  # even if the test does not use the fixture


@pytest.fixture
def rocketmq_backstage() -> Iterator[Backstage]:
    """The thread of the other fixtures; tests rarely need it."""
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage

    with Backstage() as backstage:
        yield backstage


@pytest.fixture
def rocketmq(request: pytest.FixtureRequest, rocketmq_backstage: Backstage) -> Iterator[RocketMQ]:
    """A name server and a broker that keeps messages, for this test; ``address`` is the name
    server's address.

    An exception in a function that was given to ``broker.on`` fails the test at its end.
    """
    from rocketwire_tools.pytest_plugin.cluster import RocketMQ
    from rocketwire_tools.pytest_plugin.markers import setting_text

    arguments = check(request.node)
    brokers, topics = arguments.pop("brokers", 1), arguments.pop("topics", ())
    settings = {name: setting_text(value) for name, value in arguments.items()}
    with RocketMQ(rocketmq_backstage, brokers=brokers, topics=topics, settings=settings) as cluster:
        yield cluster
    for broker in cluster.brokers:
        if broker.failures:
            raise broker.failures[0]


@pytest.fixture
def fault_proxy(rocketmq_backstage: Backstage) -> Iterator[Callable[[str], FaultProxy]]:
    """Create proxies: ``fault_proxy("127.0.0.1:9876")`` is a proxy to that server."""
    from contextlib import ExitStack

    from rocketwire_tools.pytest_plugin.faults import FaultProxy

    with ExitStack() as proxies:

        def make(target: str) -> FaultProxy:
            return proxies.enter_context(FaultProxy(rocketmq_backstage, target))

        yield make

"""Topics of a broker in this process, and sessions that end with their test."""

from collections.abc import Iterator

import pytest

from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.spark.topics.connection import Connection, close_sessions

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def connection(rocketmq: RocketMQ) -> Connection:
    """How to reach the broker; short timeouts, so that no test waits for one."""
    return Connection(name_servers=rocketmq.address, request_timeout=2.0)


@pytest.fixture(autouse=True)
def _no_session_stays() -> Iterator[None]:
    """End the thread of the clients, which tests of other folders must not meet."""
    yield
    close_sessions()

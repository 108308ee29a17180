"""Rows and options for the tests of the sink, which send to a broker in this process."""

import importlib
from typing import Any

import pytest

from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.spark.topics.connection import close_sessions
from rocketwire_tools.spark.topics.sink.attempts import NOTHING, Present, fetch_present
from rocketwire_tools.spark.topics.sink.options import SinkSettings, read_sink_options
from rocketwire_tools.spark.topics.sink.sending import write_partition

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


class Rows:
    """Writes rows to the topics of a cluster."""

    def __init__(self, cluster: RocketMQ) -> None:
        self.cluster = cluster

    def settings(self, **options: str) -> SinkSettings:
        """Options of a sink that loses no time."""
        quick = {"requestTimeout": "1", "sendTimeout": "1", "retryTimeout": "30"}
        return read_sink_options({"nameServers": self.cluster.address, **quick, **options})

    def write(
        self,
        *batches: dict[str, Any],
        partition: int = 0,
        scope: str = "s",
        present: Present = NOTHING,
        **options: str,
    ) -> int:
        """Write a partition; ``batches`` are columns of record batches."""
        pa: Any = importlib.import_module("pyarrow")
        tables = [pa.record_batch(batch) for batch in batches]
        names = tuple(batches[0]) if batches else ("body",)
        settings = self.settings(**options)
        return write_partition(names, settings, iter(tables), scope, partition, present)

    def plan(self, **options: str) -> Present:
        """Brokers and route now, as the driver asks when it plans a write."""
        try:
            return fetch_present(self.settings(**options))
        finally:
            close_sessions()

    def bodies(self, topic: str) -> list[str]:
        return [(message.body or b"").decode() for message in self.cluster.messages(topic)]


@pytest.fixture
def rows(rocketmq: RocketMQ) -> Rows:
    """Writes rows to a broker in this process."""
    return Rows(rocketmq)

"""Rows written to real brokers of 5.5.0 and 4.9.4 by a running Spark."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client.admin import open_admin
from rocketwire.messages import message_const as const
from tests.peers.messages import create_topic, unique
from tests.peers.peers import CURRENT, OLD
from tests.peers.processes import wait_until
from tests.support.topics import frame_of, properties_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rocketwire.wire.message.stored import StoredMessage
    from tests.peers.cluster import JavaCluster

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]


class Brokers:
    def __init__(self, cluster: JavaCluster) -> None:
        self.address = cluster.address
        self._addresses = {
            CURRENT: cluster.master.address,
            OLD: cluster.broker("broker-old", version=OLD).address,
        }

    def topic(self, release: str, queues: int = 4) -> str:
        name = "broker-old" if release == OLD else "broker-a"

        async def create() -> str:
            async with open_admin(self.address) as admin:
                return await create_topic(
                    admin.client,
                    unique("sink"),
                    queues=queues,
                    broker=name,
                    address=self._addresses[release],
                )

        topic: str = trio.run(create)
        return topic

    def messages(self, topic: str) -> list[StoredMessage]:
        async def read() -> list[StoredMessage]:
            async with (
                open_admin(self.address) as admin,
                aclosing(admin.messages.walk(topic)) as walk,
            ):
                return [message async for message in walk]

        messages: list[StoredMessage] = trio.run(read)
        return messages

    def bodies(self, topic: str) -> Counter[str]:
        return Counter((message.body or b"").decode() for message in self.messages(topic))

    def save(self, frame: DataFrame, topic: str, **options: str) -> None:
        options = {"nameServers": self.address, "topic": topic, **options}
        frame.write.format("rocketmq").options(**options).mode("append").save()


@pytest.fixture(scope="module")
def brokers(shared_java_cluster: JavaCluster) -> Brokers:
    return Brokers(shared_java_cluster)


releases = pytest.mark.parametrize("release", [CURRENT, OLD])


@releases
def test_columns_are_parts_of_messages(spark: SparkSession, brokers: Brokers, release: str) -> None:
    topic = brokers.topic(release)
    schema = (
        "body binary, tags string, keys array<string>, properties map<string,string>,"
        "shardingKey string, id string"
    )
    rows = [
        (b"\x00\xff", "red", ["k1", "k2"], {"x": "1", "ä": "ö"}, "customer-7", str(number))
        for number in range(20)
    ]
    brokers.save(frame_of(spark, rows, schema), topic, ids="stable")
    messages = brokers.messages(topic)

    assert len(messages) == 20
    assert len({message.queue_id for message in messages}) == 1
    assert len({properties_of(message)[const.UNIQ_KEY] for message in messages}) == 20
    for message in messages:
        assert message.body == b"\x00\xff"
        assert properties_of(message)[const.TAGS] == "red"
        assert properties_of(message)[const.KEYS] == "k1 k2"
        assert properties_of(message)[const.SHARDING_KEY] == "customer-7"
        assert (properties_of(message)["x"], properties_of(message)["ä"]) == ("1", "ö")


def test_delayed_rows_are_delivered_at_their_time(spark: SparkSession, brokers: Brokers) -> None:
    topic = brokers.topic(CURRENT)
    start = time.time()
    frame = frame_of(spark, [("late", 4), ("now", None)], "body string, delaySeconds int")
    brokers.save(frame, topic)
    wait_until(lambda: brokers.bodies(topic) == {"now": 1, "late": 1}, "both rows", 60)
    messages = {message.body: message for message in brokers.messages(topic)}

    assert messages[b"late"].store_timestamp >= (start + 4) * 1000 - 1000
    assert not any(name.startswith("TIMER_") for name in properties_of(messages[b"now"]))


def test_broker_that_ignores_delays_is_refused(spark: SparkSession, brokers: Brokers) -> None:
    topic = brokers.topic(OLD)
    frame = frame_of(spark, [("late", 4)], "body string, delaySeconds int")
    with pytest.raises(Exception, match=r"a broker is older than 5\.0, which ignores delays"):
        brokers.save(frame, topic)

    assert brokers.bodies(topic) == {}

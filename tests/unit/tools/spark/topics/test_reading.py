"""Ranges of queues as record batches, from a broker in this process."""

import pickle
from typing import Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.spark.topics.cluster import Cluster
from rocketwire_tools.spark.topics.connection import Connection, close_sessions
from rocketwire_tools.spark.topics.loss import DataLossError
from rocketwire_tools.spark.topics.offsets import QueueRange
from rocketwire_tools.spark.topics.options import PullSettings, read_options
from rocketwire_tools.spark.topics.planning import batch_ranges
from rocketwire_tools.spark.topics.pulling import PullFailedError
from rocketwire_tools.spark.topics.reading import read_range

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
PULL = [RequestCode.PULL_MESSAGE]
SCHEMA = pa.schema([("queueOffset", pa.int64()), ("body", pa.binary())])


class Reader:
    """Reads queue 0 of a topic of a broker."""

    def __init__(self, rocketmq: RocketMQ, connection: Connection) -> None:
        self.rocketmq = rocketmq
        self.connection = connection

    def read(
        self, topic: str, begin: int, end: int, schema: Any = SCHEMA, **settings: Any
    ) -> list[dict[str, Any]]:
        place = QueueRange(
            topic=topic,
            broker=self.rocketmq.broker.state.config.broker_name,
            queue_id=0,
            begin=begin,
            end=end,
        )
        quick: dict[str, Any] = {"group": "readers", "timeout": 2.0, "patience": 1.0, **settings}
        batches = read_range(self.connection, place, PullSettings(**quick), schema)
        return [row for batch in batches for row in batch.to_pylist()]

    def offsets(self, topic: str, begin: int, end: int, **settings: Any) -> list[int]:
        return [row["queueOffset"] for row in self.read(topic, begin, end, **settings)]


@pytest.fixture
def reader(rocketmq: RocketMQ, connection: Connection) -> Reader:
    return Reader(rocketmq, connection)


@pytest.fixture
def topic(rocketmq: RocketMQ) -> str:
    """Queue 0 has 300 messages."""
    name = rocketmq.topic(queues=2)
    rocketmq.produce(name, *(b"%d" % number for number in range(300)), queue_id=0)
    return name


@pytest.mark.parametrize(
    ("begin", "end"), [(0, 300), (0, 1), (299, 300), (31, 33), (7, 260), (32, 64), (5, 5)]
)
def test_range_has_each_offset_in_order(reader: Reader, topic: str, begin: int, end: int) -> None:
    rows = reader.read(topic, begin, end)

    assert [row["queueOffset"] for row in rows] == list(range(begin, end))
    assert [row["body"] for row in rows] == [b"%d" % number for number in range(begin, end)]


def test_long_messages_that_fill_an_answer_alone(reader: Reader, rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(queues=1)
    rocketmq.produce(topic, *(bytes([65 + number]) * 150_000 for number in range(40)))

    rows = reader.read(topic, 3, 40)

    assert [(row["queueOffset"], row["body"][:1]) for row in rows] == [
        (number, bytes([65 + number])) for number in range(3, 40)
    ]


def test_broker_filters_by_tag_and_worker_by_text(reader: Reader, rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic(queues=1)
    for number in range(50):
        rocketmq.produce(topic, *[b"x"] * 20, tag="rare" if number % 10 == 3 else "Aa")
    rocketmq.produce(topic, b"same hash code", tag="BB")
    schema = pa.schema([("queueOffset", pa.int64()), ("tags", pa.string())])

    rows = reader.read(topic, 70, 900, schema, tags="rare")
    of_one = reader.read(topic, 0, 1001, schema, tags="BB")

    expected = [offset for offset in range(70, 900) if offset // 20 % 10 == 3]
    assert [row["queueOffset"] for row in rows] == expected
    assert of_one == [{"queueOffset": 1000, "tags": "BB"}]
    assert reader.offsets(topic, 0, 1001, tags="other") == []
    assert len(reader.offsets(topic, 0, 1001, sql="TAGS = 'rare'")) == 100


def test_pulls_are_repeated_after_refusals_and_broken_connections(
    reader: Reader, rocketmq: RocketMQ, topic: str
) -> None:
    rocketmq.broker.refuse_next(ResponseCode.SYSTEM_BUSY, 2, requests=PULL)
    rocketmq.broker.cut_next(2, requests=PULL)

    assert reader.offsets(topic, 0, 300, patience=30.0) == list(range(300))


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (ResponseCode.NO_PERMISSION, "let the account subscribe to the topic and the group"),
        (ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "create the group, or set option 'group'"),
        (ResponseCode.SYSTEM_ERROR, "enablePropertyFilter=true"),
        (ResponseCode.ILLEGAL_OPERATION, "see the log of the broker"),
    ],
)
def test_refusal_ends_in_one_line_with_advice(
    reader: Reader, rocketmq: RocketMQ, topic: str, code: ResponseCode, advice: str
) -> None:
    rocketmq.broker.refuse_next(code, 99, requests=PULL, remark="first line\nsecond line")

    with pytest.raises(
        PullFailedError, match=f"refuses the pull .{int(code)}: first line."
    ) as error:
        reader.read(topic, 0, 300)

    assert advice in str(error.value)
    assert f"topic {topic}, broker " in str(error.value)
    assert "second line" not in str(error.value)


def test_unresponsive_broker_ends_the_read(reader: Reader, rocketmq: RocketMQ, topic: str) -> None:
    rocketmq.broker.cut_next(999, requests=PULL)

    with pytest.raises(PullFailedError, match=r"does not answer for 1 s .*; see whether it runs"):
        reader.read(topic, 0, 300)


def test_failed_proxy_request_is_repeated(reader: Reader, rocketmq: RocketMQ, topic: str) -> None:
    remark = "org.apache.rocketmq.remoting.rpc.RpcException: cannot find addr for broker b"
    rocketmq.broker.refuse_next(ResponseCode.SYSTEM_ERROR, 2, requests=PULL, remark=remark)

    assert len(reader.offsets(topic, 0, 300)) == 300


def test_messages_beyond_the_end_of_a_queue_are_lost(reader: Reader, topic: str) -> None:
    with pytest.raises(DataLossError, match="messages 300 to 309 are lost, the broker that was"):
        reader.read(topic, 290, 310)


def test_loss_is_a_warning_by_an_option(
    reader: Reader, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reader.offsets(topic, 290, 310, fails_on_loss=False) == list(range(290, 300))
    assert "messages 300 to 309 are lost" in capsys.readouterr().err


def test_topic_that_was_deleted_is_lost(reader: Reader, rocketmq: RocketMQ, topic: str) -> None:
    rocketmq.broker.refuse_next(ResponseCode.TOPIC_NOT_EXIST, 999, requests=PULL)

    with pytest.raises(DataLossError, match="messages 0 to 31 are lost, the topic was deleted"):
        reader.read(topic, 0, 32)


def test_queue_without_a_broker_is_lost(connection: Connection, topic: str) -> None:
    place = QueueRange(topic=topic, broker="nowhere", queue_id=0, begin=0, end=3)
    settings = PullSettings(group="readers", patience=0.1)

    with pytest.raises(DataLossError, match="no broker has the queue any more"):
        list(read_range(connection, place, settings, SCHEMA))


def test_no_message_is_lost_while_no_name_server_answers(topic: str) -> None:
    connection = Connection(name_servers="127.0.0.1:1", request_timeout=1.0)
    place = QueueRange(topic=topic, broker="broker-a", queue_id=0, begin=0, end=3)
    settings = PullSettings(group="readers", patience=0.1, fails_on_loss=False)

    with pytest.raises(PullFailedError, match=r"queue 0: .*; see whether name servers 127.0.0.1:1"):
        list(read_range(connection, place, settings, SCHEMA))
    close_sessions()


def test_worker_with_routes_of_the_driver_needs_no_name_server(
    rocketmq: RocketMQ, topic: str
) -> None:
    settings = read_options({"nameServers": rocketmq.address, "subscribe": topic})
    cluster = Cluster(settings)
    place = next(part for part in batch_ranges(settings, cluster) if part.queue_id == 0)
    route = pickle.loads(pickle.dumps(cluster.route(place)))
    connection = Connection(name_servers="127.0.0.1:1", request_timeout=2.0)

    batches = read_range(connection, place, PullSettings(group="readers"), SCHEMA, route)

    assert sum(batch.num_rows for batch in batches) == 300
    close_sessions()


@pytest.mark.rocketmq(fileReservedTime=1)
def test_deleted_messages_are_lost_and_others_are_read(
    reader: Reader, rocketmq: RocketMQ, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rocketmq.advance(2 * 3600)
    rocketmq.produce(topic, *[b"new"] * 5, queue_id=0)
    rocketmq.advance(60)
    with pytest.raises(DataLossError, match=r"messages 10 to .* they were deleted"):
        reader.read(topic, 10, 305)

    rows = reader.read(topic, 10, 305, fails_on_loss=False)

    assert [row["queueOffset"] for row in rows] == list(range(300, 305))
    assert "they were deleted" in capsys.readouterr().err


def test_read_can_end_early(reader: Reader, rocketmq: RocketMQ, connection: Connection) -> None:
    topic = rocketmq.topic(queues=1)
    rocketmq.produce(topic, *[b"x" * 100_000] * 300)
    place = QueueRange(
        topic=topic, broker=rocketmq.broker.state.config.broker_name, queue_id=0, begin=0, end=300
    )
    batches: Any = read_range(connection, place, PullSettings(group="readers"), SCHEMA)

    first = next(batches)
    batches.close()

    assert 0 < first.num_rows < 300
    assert reader.offsets(topic, 298, 300) == [298, 299]

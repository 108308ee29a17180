"""Messages of a partition on their way to brokers."""

from collections import defaultdict
from typing import Any

import pytest
import trio

from rocketwire.client import ClientInstance
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire_tools.spark.topics.sink.attempts import Present, SinkError, absence_of
from rocketwire_tools.spark.topics.sink.outbox import Destination, SendRequest
from rocketwire_tools.spark.topics.sink.sending import Dispatcher
from tests.support.topics import properties_of
from tests.unit.tools.spark.topics.sink.conftest import Rows

QUEUE = MessageQueue(topic="a", broker_name="b", queue_id=1)


async def test_requests_of_a_queue_are_sent_one_after_the_other(autojump_clock: Any) -> None:
    under_way: dict[Destination, int] = defaultdict(int)
    maximum: dict[Destination, int] = defaultdict(int)
    sent: list[bytes] = []

    async def send(request: SendRequest) -> None:
        under_way[request.destination] += 1
        maximum[request.destination] = max(
            maximum[request.destination], under_way[request.destination]
        )
        await trio.sleep(1)
        under_way[request.destination] -= 1
        if request.destination.queue:
            sent.append(request.entries[0])

    ordered, free = Destination("a", QUEUE), Destination("a", None)
    async with trio.open_nursery() as nursery:
        dispatcher = Dispatcher(nursery, send, in_flight=8)
        for number in range(6):
            for lane in (ordered, free):
                await dispatcher.put(SendRequest(lane, [b"%d" % number]))

    assert sent == [b"%d" % number for number in range(6)]
    assert maximum[ordered] == 1
    assert 1 < maximum[free] <= 8


@pytest.mark.parametrize("columns", ["rocketmq", "kafka"])
def test_sharding_key_selects_javas_queue(rows: Rows, columns: str) -> None:
    topic = rows.cluster.topic(queues=5)
    keys = [f"key-{number}" for number in range(20)]
    body, key = ("value", "key") if columns == "kafka" else ("body", "shardingKey")
    rows.write({body: keys, key: keys}, topic=topic, columns=columns)
    queues = [MessageQueue(topic=topic, broker_name="b", queue_id=n) for n in range(5)]

    for message in rows.cluster.messages(topic):
        key = properties_of(message)["__SHARDINGKEY"]
        assert message.queue_id == queue_by_hash(queues, key).queue_id


def test_lost_answer_costs_a_duplicate_with_the_same_unique_key(rows: Rows) -> None:
    topic = rows.cluster.topic()
    rows.cluster.broker.lose_next_answers()
    rows.write({"body": ["a", "b"]}, topic=topic, ids="stable", sendTimeout="1")
    keys = {(message.body, message.msg_id) for message in rows.cluster.messages(topic)}

    assert len(rows.cluster.messages(topic)) == 4
    assert len(keys) == 2


def test_delayed_rows_and_compressed_rows_are_requests_of_their_own(rows: Rows) -> None:
    topic = rows.cluster.topic()
    rows.write({"body": ["x" * 5000, "y"]}, topic=topic, compressAbove="4k")
    rows.write({"body": ["late"], "delaySeconds": [3600]}, topic=topic)

    assert sorted(rows.bodies(topic)) == ["x" * 5000, "y"]


@pytest.mark.parametrize(
    ("code", "remark", "line"),
    [
        (16, "no", r"NO_PERMISSION \(16\) no: check the credentials, and that they permit"),
        (13, "too long", r"MESSAGE_ILLEGAL \(13\) too long: shorten the rows, or raise"),
        (
            1,
            "org.apache.rocketmq.acl.common.AclException: Check signature failed",
            "Check signature failed: check the credentials",
        ),
    ],
)
def test_lasting_error_is_raised_with_advice(rows: Rows, code: int, remark: str, line: str) -> None:
    topic = rows.cluster.topic()
    rows.cluster.broker.refuse_next(code, times=9, remark=remark)

    with pytest.raises(SinkError, match=f"^topic {topic}: 127.0.0.1:[0-9]+: request .*{line}"):
        rows.write({"body": ["a"]}, topic=topic)


@pytest.mark.parametrize("columns", [{"body": ["a"]}, {"body": ["a"], "shardingKey": ["k"]}])
def test_task_waits_for_a_broker_that_is_away_at_its_start(
    rows: Rows, monkeypatch: pytest.MonkeyPatch, columns: dict[str, list[str]]
) -> None:
    topic = rows.cluster.topic()
    present = rows.plan(topic=topic)
    rows.cluster.broker.stop()
    absences: list[str] = []

    async def absence(client: ClientInstance, topic: str, present: Present) -> str:
        absences.append(await absence_of(client, topic, present))
        if len(absences) == 1:
            await trio.to_thread.run_sync(rows.cluster.broker.start)
        return absences[-1]

    monkeypatch.setattr("rocketwire_tools.spark.topics.sink.sending.absence_of", absence)

    rows.write(columns, topic=topic, present=present)

    assert rows.bodies(topic) == ["a"]
    assert absences[0].startswith("a broker: none is registered at name servers 127.0.0.1:")


def test_partition_without_rows_opens_no_connection(rows: Rows) -> None:
    assert rows.write(topic="a", nameServers="127.0.0.1:1") == 0

"""Messages of a partition on their way to brokers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire_tools.spark.topics.sink.attempts import Present, absence_of
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.outbox import Lane, Parcel
from rocketwire_tools.spark.topics.sink.sending import Dispatcher
from tests.support.topics import properties_of

if TYPE_CHECKING:
    from rocketwire.client import ClientInstance
    from tests.unit.tools.spark.topics.sink.conftest import Rows

QUEUE = MessageQueue(topic="a", broker_name="b", queue_id=1)


async def test_requests_of_a_queue_are_sent_one_after_the_other(autojump_clock: Any) -> None:
    under_way: dict[Lane, int] = defaultdict(int)
    most: dict[Lane, int] = defaultdict(int)
    sent: list[bytes] = []

    async def send(parcel: Parcel) -> None:
        under_way[parcel.lane] += 1
        most[parcel.lane] = max(most[parcel.lane], under_way[parcel.lane])
        await trio.sleep(1)
        under_way[parcel.lane] -= 1
        if parcel.lane.queue:
            sent.append(parcel.entries[0])

    ordered, free = Lane("a", QUEUE), Lane("a", None)
    async with trio.open_nursery() as nursery:
        dispatcher = Dispatcher(nursery, send, in_flight=8)
        for number in range(6):
            for lane in (ordered, free):
                await dispatcher.put(Parcel(lane, [b"%d" % number]))

    assert sent == [b"%d" % number for number in range(6)]
    assert most[ordered] == 1
    assert 1 < most[free] <= 8


async def test_rows_wait_while_enough_requests_are_under_way(autojump_clock: Any) -> None:
    started = 0

    async def send(_: Parcel) -> None:
        nonlocal started
        started += 1
        await trio.sleep(1)

    async with trio.open_nursery() as nursery:
        dispatcher = Dispatcher(nursery, send, in_flight=2)
        for _ in range(3):
            await dispatcher.put(Parcel(Lane("a", None), [b"x"]))
        assert started == 2
        assert trio.current_time() > 0


@pytest.mark.parametrize("columns", ["rocketmq", "kafka"])
def test_a_sharding_key_selects_javas_queue(rows: Rows, columns: str) -> None:
    topic = rows.cluster.topic(queues=5)
    keys = [f"key-{number}" for number in range(20)]
    body, key = ("value", "key") if columns == "kafka" else ("body", "shardingKey")
    rows.write({body: keys, key: keys}, topic=topic, columns=columns)
    queues = [MessageQueue(topic=topic, broker_name="b", queue_id=n) for n in range(5)]

    for message in rows.cluster.messages(topic):
        key = properties_of(message)["__SHARDINGKEY"]
        assert message.queue_id == queue_by_hash(queues, key).queue_id


def test_rows_of_a_key_keep_their_order_when_brokers_refuse_some(rows: Rows) -> None:
    topic = rows.cluster.topic()
    rows.cluster.broker.refuse_next(times=3)
    bodies = [str(number) for number in range(200)]
    keys = [str(number % 3) for number in range(200)]
    rows.write({"body": bodies, "shardingKey": keys}, topic=topic, batchSize="2k")
    by_key: dict[str, list[int]] = defaultdict(list)
    for message in rows.cluster.messages(topic):
        by_key[properties_of(message)["__SHARDINGKEY"]].append(int(message.body or b""))

    assert sum(map(len, by_key.values())) == 200
    assert all(numbers == sorted(numbers) for numbers in by_key.values())


def test_rows_of_a_namespace_are_in_its_topics(rows: Rows) -> None:
    topic = rows.cluster.topic(name="space%orders")
    rows.write({"body": ["a", "b"], "shardingKey": ["x", "x"]}, topic="orders", namespace="space")

    assert sorted(rows.bodies(topic)) == ["a", "b"]


def test_a_lost_answer_costs_a_duplicate_with_the_same_unique_key(rows: Rows) -> None:
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
def test_an_error_that_stays_says_what_to_do(rows: Rows, code: int, remark: str, line: str) -> None:
    topic = rows.cluster.topic()
    rows.cluster.broker.refuse_next(code, times=9, remark=remark)

    with pytest.raises(SinkError, match=f"^topic {topic}: 127.0.0.1:[0-9]+: request .*{line}"):
        rows.write({"body": ["a"]}, topic=topic)


def test_an_error_that_does_not_pass_in_time_says_so(rows: Rows) -> None:
    topic = rows.cluster.topic()
    rows.cluster.broker.refuse_next(2, times=99, remark="busy")

    with pytest.raises(SinkError, match="busy after 0 seconds of retries: check the broker's load"):
        rows.write({"body": ["a"]}, topic=topic, retryTimeout="0")


def test_missing_name_servers_are_named(rows: Rows) -> None:
    with pytest.raises(SinkError, match=r"^topic a: .* after 0 seconds of retries: check that"):
        rows.write({"body": ["a"]}, topic="a", nameServers="127.0.0.1:1", retryTimeout="0")


@pytest.mark.parametrize("columns", [{"body": ["a"]}, {"body": ["a"], "shardingKey": ["k"]}])
def test_a_task_that_starts_while_the_broker_is_away_waits_for_it(
    rows: Rows, monkeypatch: pytest.MonkeyPatch, columns: dict[str, list[str]]
) -> None:
    topic = rows.cluster.topic()
    present = rows.plan(topic=topic)
    rows.cluster.broker.stop()
    away: list[str] = []

    async def absence(client: ClientInstance, topic: str, present: Present) -> str:
        away.append(await absence_of(client, topic, present))
        if len(away) == 1:
            await trio.to_thread.run_sync(rows.cluster.broker.start)
        return away[-1]

    monkeypatch.setattr("rocketwire_tools.spark.topics.sink.sending.absence_of", absence)

    rows.write(columns, topic=topic, present=present)

    assert rows.bodies(topic) == ["a"]
    assert away[0].startswith("a broker: none is registered at name servers 127.0.0.1:")


@pytest.mark.rocketmq(autoCreateTopicEnable=False)
def test_rows_of_an_unknown_topic_fail_at_once(rows: Rows) -> None:
    rows.cluster.broker.stop()
    present = rows.plan(topic="unknown")
    rows.cluster.broker.start()

    with pytest.raises(SinkError, match=r"^topic unknown: no route of topic unknown: create the"):
        rows.write({"body": ["a"]}, topic="unknown", present=rows.plan(topic="unknown"))
    with pytest.raises(SinkError, match="after 0 seconds of retries; waited for a broker with"):
        rows.write({"body": ["a"]}, topic="unknown", present=present, retryTimeout="0")


def test_a_partition_without_rows_opens_no_connection(rows: Rows) -> None:
    assert rows.write(topic="a", nameServers="127.0.0.1:1") == 0

"""How far topics and groups are (broker.md 16.2)."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.queries import ConsumeStats, ConsumeStatsList, QueryConsumeTimeSpanBody
from tests.support.broker import START, BrokerAtHand, Client


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    """A client of a broker with three messages, of which ``readers`` has consumed two."""
    client = home.connect()
    for _ in range(3):
        client.send(d=1)
        home.pass_time(1000)
    client.pulled(sysFlag=5, commitOffset=2)
    return client


def test_a_topics_queues_are_shown_as_java_shows_them(client: Client) -> None:
    body = (client.call(202, {"topic": "orders"}).body or b"").decode()

    assert body.startswith(
        '{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"orders"}:'
        f'{{"lastUpdateTimestamp":{START + 2000},"maxOffset":3,"minOffset":0}}}},"topicPutTps":'
    )
    assert client.call(202, {"topic": "missing"}).code == 17


def stats(client: Client, **fields: object) -> ConsumeStats:
    answer = client.call(208, {"consumerGroup": "readers", **fields})
    body = decode_body(ConsumeStats, answer.body or b"")
    assert body is not None
    return body


def test_a_groups_progress_is_shown(client: Client) -> None:
    for found in (stats(client), stats(client, topic="orders"), stats(client, topicList="orders")):
        ((queue, offsets),) = (found.offset_table or {}).items()
        assert (queue.topic, queue.broker_name, queue.queue_id) == ("orders", "broker-a", 0)
        assert (offsets.broker_offset, offsets.consumer_offset) == (3, 2)
        assert (offsets.pull_offset, offsets.last_timestamp) == (3, START + 1000)


def test_an_unknown_group_has_an_empty_table(client: Client) -> None:
    assert stats(client, consumerGroup="nobody").offset_table == {}
    assert stats(client, topic="missing").offset_table == {}


def test_the_progress_of_all_groups_is_summed(client: Client) -> None:
    body = decode_body(ConsumeStatsList, client.call(317, {"isOrder": False}).body or b"")

    assert body is not None
    assert (body.total_diff, body.total_inflight_diff) == (1, 1)
    assert [set(item) for item in body.consume_stats_list or ()] == [{"readers"}]


def test_the_times_of_messages_are_shown(client: Client, home: BrokerAtHand) -> None:
    answer = client.call(303, {"topic": "orders", "group": "readers"})
    body = decode_body(QueryConsumeTimeSpanBody, answer.body or b"")

    assert body is not None
    (span,) = [*(body.consume_time_span_set or ())]
    assert (span.min_time_stamp, span.max_time_stamp) == (START, START + 2000)
    assert (span.consume_time_stamp, span.delay_time) == (START + 1000, 1000)

"""Single messages (broker.md 15)."""

from __future__ import annotations

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.queries import QueryConsumeQueueResponseBody
from tests.support.broker import START, BrokerAtHand, Client, bodies


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    """A client of a broker with five messages in two queues, stored a second apart."""
    client = home.connect()
    for index in range(5):
        properties: dict[str, str | None] = {
            "KEYS": f"k{index} common",
            "UNIQ_KEY": f"U{index}",
            "TAGS": f"T{index % 2}",
        }
        client.send(queue=index % 2, body=b"%d" % index, properties=properties)
        home.pass_time(1000)
    return client


def query(client: Client, key: str, **changes: object) -> list[bytes]:
    fields: dict[str, object] = {
        "topic": "orders",
        "key": key,
        "maxNum": 32,
        "beginTimestamp": 0,
        "endTimestamp": START * 2,
    }
    answer = client.call(12, {**fields, **changes})
    assert {"indexLastUpdateTimestamp", "indexLastUpdatePhyoffset"} == set(answer.ext_fields or {})
    assert answer.code == (0 if answer.body else 22)
    return bodies(answer)


def test_tags_are_searched_on_demand(client: Client) -> None:
    assert query(client, "T1", indexType="T") == [b"1", b"3"]
    assert query(client, "T1") == []


def test_the_entries_of_a_queue_are_listed(client: Client) -> None:
    fields: dict[str, object] = {"topic": "orders", "queueId": 0, "index": 1, "count": 10}

    body = decode_body(QueryConsumeQueueResponseBody, client.call(321, fields).body or b"")

    assert body is not None
    assert (body.min_queue_index, body.max_queue_index) == (0, 3)
    assert len(body.queue_data or ()) == 2
    assert not any(item.eval for item in body.queue_data or ())  # nobody's filter was asked for
    nothing = client.call(321, {**fields, "index": 99})
    assert (nothing.code, nothing.body) == (0, None)
    assert nothing.remark == "Index 99 of 0@orders is not exist!"
    unused = client.call(321, {**fields, "queueId": 3})
    assert (unused.code, unused.remark) == (1, "3@orders is not exist!")
    offline = client.call(321, {**fields, "consumerGroup": "nobody"})
    assert b'"filterData":"nobody@orders is not online!"' in (offline.body or b"")
    missing = client.call(321, {**fields, "topic": "missing"})
    assert (missing.code, missing.remark) == (1, "0@missing is not exist!")

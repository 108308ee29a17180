"""Single messages (broker.md 15)."""

from __future__ import annotations

import pytest

from rocketwire_broker.storage import key_search
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


def test_a_search_that_ends_at_a_limit_says_so(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_search, "MOST_SEARCHED", 3)
    fields = {"topic": "orders", "maxNum": 32, "beginTimestamp": 0, "endTimestamp": START * 2}

    found = client.call(12, {**fields, "key": "common"})
    assert (bodies(found), found.remark) == ([b"2", b"3", b"4"], "not all messages were searched")
    missed = client.call(12, {**fields, "key": "k0"})
    remark = "can not find message, not all messages were searched"
    assert (missed.code, missed.remark) == (22, remark)

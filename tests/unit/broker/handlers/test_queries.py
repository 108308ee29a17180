"""Single messages (broker.md 15)."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire_broker.storage import key_search
from tests.support.broker import START, BrokerAtHand, Client, bodies, fields_of


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    for index in range(5):
        properties = {"KEYS": f"k{index} common", "UNIQ_KEY": f"U{index}", "TAGS": f"T{index % 2}"}
        client.send(queue=index % 2, body=b"%d" % index, properties=properties)
        home.pass_time(1000)
    return client


def query(client: Client, key: str, **changes: object) -> tuple[list[bytes], str]:
    fields: dict[str, object] = {"topic": "orders", "key": key, "maxNum": 32}
    fields |= {"beginTimestamp": 0, "endTimestamp": START * 2}
    answer = client.call(Code.QUERY_MESSAGE, {**fields, **changes})
    assert {"indexLastUpdateTimestamp", "indexLastUpdatePhyoffset"} == set(fields_of(answer))
    assert answer.code == (0 if answer.body else ResponseCode.QUERY_NOT_FOUND)
    return bodies(answer), answer.remark or ""


def test_query_searches_tags_on_demand(client: Client) -> None:
    assert query(client, "T1", indexType="T")[0] == [b"1", b"3"]
    assert query(client, "T1")[0] == []


def test_query_says_that_it_ended_at_a_limit(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_search, "MAX_SEARCHED", 3)
    remark = "not all messages were searched"

    assert query(client, "common") == ([b"2", b"3", b"4"], remark)
    assert query(client, "k0") == ([], f"can not find message, {remark}")

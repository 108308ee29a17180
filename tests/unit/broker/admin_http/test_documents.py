"""The documents of the operators' port by path."""

import json

import pytest

from rocketwire_broker.admin_http.documents import Documents
from tests.support.broker import BrokerAtHand, Client
from tests.support.values import require


def documents(*homes: BrokerAtHand, reason: str = "") -> Documents:
    return Documents(
        lambda: [(home.broker, home.now) for home in homes], lambda: reason, local_only=True
    )


def body(documents: Documents, path: str, **query: str) -> str:
    content = require(documents.respond(path, query)).body
    assert isinstance(content, bytes)
    return content.decode()


def test_readiness_has_a_reason() -> None:
    missing = documents(reason="the brokers are not registered yet")
    result = require(missing.respond("/readyz", {}))

    assert (result.status, result.body) == (503, b"not ready: the brokers are not registered yet\n")
    assert body(documents(), "/readyz") == "ready\n"
    assert body(documents(), "/healthz") == "ok\n"


def test_before_the_first_broker_there_is_no_page() -> None:
    assert documents().respond("/", {}) is None
    assert body(documents(), "/metrics")


def test_a_query_chooses_one_of_several_brokers() -> None:
    both = documents(BrokerAtHand(), BrokerAtHand(broker_name="broker-b"))

    assert json.loads(body(both, "/status.json"))["broker"] == "broker-a"
    assert json.loads(body(both, "/status.json", broker="broker-b"))["broker"] == "broker-b"
    assert both.respond("/", {"broker": "c"}) is None
    assert "<nav" in body(both, "/")


def test_missing_document_is_none() -> None:
    result = documents(BrokerAtHand())

    assert result.respond("/none", {}) is None
    assert result.respond("/group", {"name": "x"}) is None
    assert result.respond("/group.json", {"name": "x"}) is None
    for path in ("/message", "/message.json"):
        document = require(result.respond(path, {"id": "x"}))
        assert (document.status, document.body[:19]) == (404, b"there is no message")


def test_json_has_groups_and_messages(home: BrokerAtHand, client: Client) -> None:
    client.send(body=b"paid")
    client.pull(0)
    result = documents(home)
    (message,) = json.loads(body(result, "/messages.json", topic="orders"))["messages"]

    assert json.loads(body(result, "/group.json", name="readers"))["lag"] == 0
    document = json.loads(body(result, "/message.json", id=message["id"]))
    assert document["body"] == {"kind": "text", "text": "paid", "is_whole": True, "size": 4}


def test_an_exchange_answers_to_local_names_only() -> None:
    exchange = documents(BrokerAtHand()).exchange()
    answer = exchange.receive(b"GET /healthz HTTP/1.1\r\nhost: evil.example\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize("born", [253_402_300_800_000, -62_135_596_801_000, 2**63 - 1])
def test_impossible_date_is_shown(home: BrokerAtHand, client: Client, born: int) -> None:
    client.send(g=born)
    document = require(documents(home).respond("/message", {"id": home.broker.message_id(0)}))

    assert document.status == 200
    assert b" s since 1970" in document.body

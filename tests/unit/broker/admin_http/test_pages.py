"""Pages: complete, and harmless whatever clients put into messages and names."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest

from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire_broker.admin_http.documents import Documents
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client
from tests.support.status_pages import PageReader
from tests.support.values import require

EVIL = "<script>alert(1)</script>\"'&\r\n\x00\u2028"


def documents_of(home: BrokerAtHand) -> Documents:
    return Documents(lambda: [(home.broker, home.now)], lambda: "", local_only=True)


def fields_of(link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


def open_page(home: BrokerAtHand, path: str, **query: str) -> PageReader:
    documents = documents_of(home)
    document = require(documents.respond(path, query))
    assert document.content_type == "text/html; charset=utf-8"
    assert isinstance(document.body, bytes)
    reader = PageReader(document.body)
    for link in reader.links:
        parts = urlsplit(link)
        assert (parts.scheme, parts.netloc) == ("", "")
        if parts.query:  # every link of a page leads to a document
            assert documents.respond(parts.path, fields_of(link)) is not None, link
    return reader


def hostile() -> BrokerAtHand:
    """A broker whose topics, groups and messages have names and bytes of an attacker."""
    home = BrokerAtHand()
    client = home.connect()
    home.broker.topics.put(new_topic(EVIL, 4), home.now)
    home.broker.groups.put(SubscriptionGroupConfig(group_name=EVIL), home.now)
    home.broker.offsets.commit(EVIL, "orders", 0, 0, home.now)
    for body in (EVIL.encode(), b"\xff\x00", ("x" * 900 + "<i>\n\x1b[0m").encode()):
        client.send(body=body, properties={"KEYS": EVIL, "TAGS": EVIL, EVIL: "<b>"})
    return home


def test_the_status_page_has_topics_groups_and_figures(home: BrokerAtHand) -> None:
    home.connect().send()
    reader = open_page(home, "/")

    assert "RocketMQ broker broker-a" in reader.text
    assert "serving · up 0 min 0 s" in reader.text
    assert "Topics: 1" in reader.text
    assert "/messages?topic=orders&broker=broker-a" in reader.links


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/", {}),
        ("/", {"name": EVIL, "system": "1"}),
        ("/group", {"name": EVIL}),
        ("/messages", {"topic": "orders"}),
        ("/messages", {"topic": EVIL, "key": EVIL}),
        ("/messages", {"topic": "orders", "key": EVIL, "before": EVIL}),
    ],
)
def test_nothing_of_a_client_becomes_markup(path: str, query: dict[str, str]) -> None:
    reader = open_page(hostile(), path, **query)

    assert not {"\x00", "\x1b", "\u2028"} & set(reader.text)


def test_a_message_has_a_page_with_its_properties_and_its_body() -> None:
    home = hostile()
    for offset, text in ((0, "<script>alert(1)</script>"), (1, "ff 00"), (2, "5b 30 6d")):
        queue = require(home.broker.store.queue("orders", 0))
        identifier = home.broker.message_id(queue.physical(offset))
        reader = open_page(home, "/message", id=identifier)
        assert identifier in reader.text
        assert "id of the producer" in reader.text
        if offset < 2:
            assert text in reader.text or "3c 73 63" in reader.text


def test_a_long_list_leads_to_its_next_page(home: BrokerAtHand, client: Client) -> None:
    for number in range(30):
        client.send(body=b"%d" % number)

    first = open_page(home, "/messages", topic="orders")
    (link,) = [link for link in first.links if "before" in link]

    assert "older messages" in first.text
    assert "older messages" not in open_page(home, "/messages", **fields_of(link)).text


def test_json_has_the_same_content() -> None:
    document = require(documents_of(hostile()).respond("/messages.json", {"topic": "orders"}))

    assert isinstance(document.body, bytes)
    messages = json.loads(document.body)["messages"]
    assert [message["body"]["kind"] for message in messages] == ["text", "bytes", "bytes"]
    assert messages[0]["keys"].startswith("<script>")

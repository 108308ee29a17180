"""Messages for people: newest first over all queues, by key and by id, with bounded work."""

import zlib

import pytest

from rocketwire.wire.message.stored import StoredMessage
from rocketwire_broker.admin_http.browser import (
    MAX_BODY,
    PAGE,
    Position,
    Preview,
    by_id,
    newest,
    preview,
    with_key,
)
from rocketwire_broker.storage import key_search
from tests.support.broker import BrokerAtHand
from tests.support.values import require


def fill_topic(count: int) -> BrokerAtHand:
    home = BrokerAtHand()
    client = home.connect()
    for number in range(count):
        keys = f"k{number} all"
        client.send(body=b"%d" % number, queue=number % 4, properties={"KEYS": keys, "TAGS": "a"})
        home.now += number % 2  # two of them are stored in the same millisecond
    return home


def test_pages_go_from_the_newest_to_the_oldest_without_a_gap() -> None:
    home = fill_topic(2 * PAGE + 3)
    bodies: list[int] = []
    result = newest(home.broker, "orders")
    while result.next:
        bodies += [int(message.body.text) for message in result.messages]
        result = newest(home.broker, "orders", Position.parse(result.next))
    bodies += [int(message.body.text) for message in result.messages]

    assert bodies == list(range(2 * PAGE + 2, -1, -1))


def test_an_unknown_topic_has_no_messages() -> None:
    assert newest(BrokerAtHand().broker, "orders").messages == ()


@pytest.mark.parametrize("text", ["", "x", "1", "1-", "-1", "1-x", "٣-1", "9" * 19 + "-1"])
def test_a_bad_position_is_none(text: str) -> None:
    assert Position.parse(text) is None


def test_a_position_is_read_as_it_was_written() -> None:
    assert Position.parse(str(Position(5, 7))) == (5, 7)


def test_messages_are_found_by_a_word_of_keys_and_by_unique_key() -> None:
    home = fill_topic(9)
    (message,) = with_key(home.broker, "orders", "k7").messages

    assert (message.body.text, message.keys, message.tags) == ("7", "k7 all", "a")
    unique = message.properties["UNIQ_KEY"]
    assert with_key(home.broker, "orders", unique).messages == (message,)
    assert with_key(home.broker, "orders", "k").messages == ()
    assert len(with_key(home.broker, "orders", "all").messages) == 9


def test_a_search_says_when_it_has_not_read_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_search, "MAX_SEARCHED", 4)
    home = fill_topic(8)

    result = with_key(home.broker, "orders", "all")

    assert [message.body.text for message in result.messages] == ["7", "6", "5", "4"]
    assert not result.is_complete


def test_a_message_is_opened_by_both_of_its_ids() -> None:
    home = fill_topic(3)
    first = newest(home.broker, "orders").messages[-1]

    for identifier in (first.id, first.id.lower(), first.properties["UNIQ_KEY"]):
        result = require(by_id(home.broker, identifier))
        assert (result.queue_id, result.queue_offset, result.body.text) == (0, 0, "0")


@pytest.mark.parametrize("identifier", ["", "x", "0" * 32, "7F00000100002A9F" + "F" * 16])
def test_other_ids_open_nothing(identifier: str) -> None:
    assert by_id(fill_topic(1).broker, identifier) is None


def preview_body(body: bytes | None, length: int = 20, sys_flag: int = 0) -> Preview:
    return preview(StoredMessage(topic="orders", body=body, sys_flag=sys_flag), length)


def test_a_text_is_shown_as_it_is() -> None:
    assert preview_body("grün\n".encode()) == Preview("text", "grün\n", True, 6)
    assert preview_body(None) == Preview("text", "", True, 0)


@pytest.mark.parametrize("letter", ["a", "ü", "€", "𝄞"])
def test_a_long_text_is_cut_between_two_letters(letter: str) -> None:
    size = 50 * len(letter.encode())

    assert preview_body((letter * 50).encode()) == Preview("text", letter * 20, False, size)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a\x00b", b"\x1b[2J", b"a" * 81 + b"\xff"])
def test_other_bytes_are_shown_as_digits(body: bytes) -> None:
    result = preview_body(body, length=400)

    assert (result.kind, result.is_whole) == ("bytes", len(body) <= 133)
    assert bytes.fromhex(result.text) == body[:133]


def test_a_compressed_body_is_decompressed() -> None:
    result = preview_body(zlib.compress(b"paid"), sys_flag=1)

    assert (result.kind, result.text, result.is_whole) == ("text", "paid", True)


@pytest.mark.parametrize("body", [b"no zlib", zlib.compress(bytes(MAX_BODY + 1))])
def test_a_compressed_body_that_is_damaged_or_too_large_gives_the_reason(body: bytes) -> None:
    result = preview_body(body, sys_flag=1)

    assert (result.kind, result.is_whole, result.size) == ("unreadable", False, len(body))

"""The bytes of stored messages."""

from typing import Any

import pytest

from rocketwire.wire.message.host import Host
from rocketwire_broker.storage.message import BORN_V6, INT, Message, parse_number, read_stored

STORE_HOST = Host(b"\x7f\0\0\x01", 10911)


def make_message(**changes: Any) -> Message:
    values: dict[str, Any] = {
        "topic": "orders",
        "queue_id": 3,
        "body": b"paid",
        "properties": {"TAGS": "new"},
        "born_host": Host(b"\x0a\0\0\x01", 5000),
        "born_timestamp": 17,
    }
    return Message(**{**values, **changes})


def test_a_message_is_read_as_it_was_stored() -> None:
    record = make_message(reconsume_times=2, flag=9).encode(5, 700, STORE_HOST, 1000)

    message = read_stored(record)

    assert (message.topic, message.queue_id, message.body) == ("orders", 3, b"paid")
    assert (message.flag, message.reconsume_times) == (9, 2)
    assert message.properties == {"TAGS": "new"}
    assert (message.queue_offset, message.commit_log_offset) == (5, 700)
    assert message.store_timestamp == 1000
    assert (message.born_host, message.store_host) == (Host(b"\x0a\0\0\x01", 5000), STORE_HOST)
    assert len(record) == 91 + len("orders") + len(b"paid") + len("TAGS\x01new\x02")


def test_the_flags_of_addresses_follow_the_addresses_and_not_the_client() -> None:
    with_lies = make_message(sys_flag=0x30).encode(0, 0, STORE_HOST, 0)
    from_ipv6 = make_message(born_host=Host(bytes(15) + b"\x01", 80)).encode(0, 0, STORE_HOST, 0)

    assert read_stored(with_lies).sys_flag == 0
    assert read_stored(from_ipv6).sys_flag == BORN_V6


def test_a_message_can_be_stored_again() -> None:
    stored = read_stored(make_message().encode(5, 700, STORE_HOST, 1000))

    assert Message.of(stored) == make_message()


def test_the_tag_code_is_javas_hash_of_the_tag_unless_it_is_given() -> None:
    assert make_message(properties={"TAGS": "TagA"}).tags_code == 2598919
    assert make_message(properties={}).tags_code == 0
    assert make_message(tag_code=12).tags_code == 12


NUMBERS = {"5": 5, "+5": 5, "-5": -5, "007": 7, str(2**63 - 1): 2**63 - 1}
NOT_NUMBERS = (None, "", "-", "abc", "1.5", " 5", "5 ", "٣", str(2**63), "1" * 99)


@pytest.mark.parametrize(
    ("text", "value"), [*NUMBERS.items(), *((text, None) for text in NOT_NUMBERS)]
)
def test_a_number_is_read(text: str | None, value: int | None) -> None:
    assert parse_number(text) == value


def test_a_number_of_32_bits_has_its_own_limit() -> None:
    assert parse_number(str(INT - 1), INT) == INT - 1
    assert parse_number(str(INT), INT) is None
    assert parse_number(str(-INT), INT) == -INT

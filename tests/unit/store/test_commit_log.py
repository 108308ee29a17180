"""Records of a commit log, in files that real brokers wrote."""

from typing import Any

import pytest

from rocketwire.store import commit_log
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.values import require

V4 = Host(bytes([127, 0, 0, 1]), 10911)
V6 = Host(bytes(15) + b"\x01", 10911)


def message(**changes: Any) -> bytes:
    """A stored message at offset 0."""
    fields: dict[str, Any] = {"topic": "orders", "body": b"body", "born_host": V4, "store_host": V4}
    fields |= changes
    return encode_stored_message(StoredMessage(body_crc=crc32(fields["body"]), **fields))


@pytest.mark.parametrize("flags", [0, 0x10, 0x20, 0x30])
def test_a_long_host_moves_the_later_members(flags: int) -> None:
    born, stored = V6 if flags & 0x10 else V4, V6 if flags & 0x20 else V4
    numbers = {
        "queue_id": 1,
        "queue_offset": 2,
        "commit_log_offset": 3,
        "store_timestamp": 4,
        "prepared_transaction_offset": 5,
    }
    data = message(sys_flag=flags, born_host=born, store_host=stored, **numbers)

    parts = require(commit_log.message_parts(data, 0))

    assert data[parts.body : parts.body + parts.body_size] == b"body"
    assert parts[:7] == (len(data), 3, 1, 2, flags, 4, 5)


def test_a_long_topic_has_two_bytes_for_its_size() -> None:
    topic = "%RETRY%" + "g" * 150
    data = message(topic=topic)

    parts = require(commit_log.message_parts(data, 0))

    assert data[parts.topic : parts.topic + parts.topic_size] == topic.encode()


def change(data: bytes, position: int, value: bytes) -> bytes:
    return data[:position] + value + data[position + len(value) :]


@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, b"\x00\x00\x00\x10"),  # smaller than any message
        (0, b"\x7f\x00\x00\x00"),  # larger than the file
        (4, b"\xff"),  # magic number
        (36, b"\x00\x00\x00\x30"),  # IPv6 hosts that are not there
        (84, b"\xff\xff\xff\xff"),  # size of the body, negative
        (84, b"\x00\x00\x40\x00"),  # size of the body, beyond the message
        (92, b"\x7f"),  # size of the topic
        (99, b"\xff\xff"),  # size of the properties, negative
        (99, b"\x00\x01"),  # size of the properties, too large
    ],
)
def test_a_record_whose_sizes_disagree_is_no_message(position: int, value: bytes) -> None:
    data = message()
    assert commit_log.message_parts(data, 0) is not None

    assert commit_log.message_parts(change(data, position, value), 0) is None


def test_a_changed_body_breaks_its_checksum() -> None:
    data = message()
    parts = require(commit_log.message_parts(data, 0))

    assert commit_log.body_crc_holds(data, parts)
    assert not commit_log.body_crc_holds(change(data, parts.body, b"B"), parts)


def test_the_digits_of_a_message_checksum_are_reversed() -> None:
    data = message(properties={"KEYS": "k", "__CRC32#": "0000000000"})
    checksum = crc32(data[:-20])
    digits = f"{checksum:010d}"[::-1].encode()
    data = change(data, len(data) - 11, digits)

    assert commit_log.message_crc(data, 0, len(data)) == (checksum, checksum)
    assert commit_log.message_crc(message(), 0, len(message())) is None


def test_a_walk_stops_at_a_unit_that_crosses_its_end() -> None:
    data = message()

    assert commit_log.walk(data * 2, 0, 2 * len(data)) == ([0, len(data)], 2 * len(data))
    assert commit_log.walk(data * 2, 0, 2 * len(data) - 1) == ([0], len(data))
    assert commit_log.walk(bytes(100), 0, 100) == ([], 0)


def test_a_blank_needs_its_magic_number_and_size() -> None:
    blank = bytes.fromhex("00000064cbd43194")

    assert commit_log.blank_size(blank, 0) == 100
    assert commit_log.blank_size(change(blank, 3, b"\x07"), 0) is None
    assert commit_log.blank_size(change(blank, 4, b"\x00"), 0) is None
    assert commit_log.blank_size(blank, 1) is None


def test_a_message_inside_a_body_is_not_the_next_one() -> None:
    inner = message()
    outer = message(body=inner * 3)

    assert commit_log.next_message(b"x" * 7 + outer, 0, -7) == 7
    assert commit_log.next_message(outer, 1, 0) is None

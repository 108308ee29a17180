"""Java's rule of a record, beside the stricter one of this project."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store.commit_log import BLANK_MAGIC
from rocketwire.store.java_records import (
    JavaRecord,
    MoreBytesNeededError,
    Release,
    read_record,
)
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message

MESSAGE = StoredMessage(
    topic="TopicTest",
    body=b"Hello",
    properties={"TAGS": "TagA"},
    queue_id=2,
    queue_offset=5,
    commit_log_offset=0x1234,
    store_size=0,
    body_crc=crc32(b"Hello"),
    born_timestamp=1_700_000_000_000,
    born_host=Host.parse("10.0.0.2:50000"),
    store_timestamp=1_700_000_000_100,
    store_host=Host.parse("10.0.0.1:10911"),
)
HELLO = encode_stored_message(MESSAGE)
NEW = [Release.V5_3_3, Release.V5_5_0]
OLD = Release.V4_9_4


def read(data: bytes, release: Release = Release.V5_5_0, *, with_body: bool = True) -> JavaRecord:
    return read_record(data, len(data), release, with_body=with_body)


def changed(position: int, data: bytes) -> bytes:
    return HELLO[:position] + data + HELLO[position + len(data) :]


def number(value: int, size: int = 4) -> bytes:
    return value.to_bytes(size, "big", signed=True)


@pytest.mark.parametrize("release", list(Release))
def test_a_message_is_read_with_all_that_recovery_needs(release: Release) -> None:
    record = read(HELLO + bytes(100), release)

    assert record.is_message
    assert not record.is_blank
    assert record == JavaRecord(
        len(HELLO),
        "",
        0x1234,
        1_700_000_000_100,
        2,
        5,
        0,
        b"TopicTest",
        b"TAGS\x01TagA\x02",
    )


@pytest.mark.parametrize("release", list(Release))
def test_the_physical_offset_of_a_message_is_not_compared(release: Release) -> None:
    assert read(changed(28, number(-7, 8)), release).physical_offset == -7


@pytest.mark.parametrize("release", list(Release))
@pytest.mark.parametrize("size", [8, 0, -5])
def test_a_blank_leads_to_the_next_file_whatever_its_size(size: int, release: Release) -> None:
    record = read(number(size) + BLANK_MAGIC.to_bytes(4, "big"), release)

    assert record.is_blank
    assert not record.is_message


def test_a_blank_that_reaches_beyond_its_file_ends_the_log_of_5_but_not_of_4() -> None:
    data = number(100) + BLANK_MAGIC.to_bytes(4, "big")

    assert read(data).reason == "the size 100 reaches beyond the file"
    assert read(data, OLD).is_blank


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (bytes(100), "zeros stand where a message should begin"),
        (changed(4, b"\1"), "the magic number 0x01a320a7 is none of a message"),
        (changed(48, bytes(0))[:60], "reaches beyond"),
        (changed(0, number(len(HELLO) - 1)), f"the fields have {len(HELLO)} bytes"),
        (changed(0, number(-8)), "the size -8 is negative"),
        (changed(0, number(6)), "the host of 8 bytes does not fit into the size 6"),
        (changed(89, b"x"), "the checksum of the body is wrong"),
        (changed(8, b"\xf7"), "the checksum of the body is wrong"),
        (changed(84, number(1000)), "larger than the size"),
        (changed(93, b"\xff"), "the topic of -1 bytes"),
        (changed(103, number(300, 2)), "the properties of 300 bytes"),
    ],
)
def test_a_broken_record_names_the_rule_that_it_breaks(data: bytes, reason: str) -> None:
    record = read(data)

    assert not record.is_message
    assert not record.is_blank
    assert reason in record.reason


def test_a_size_that_differs_from_the_fields_is_skipped_by_the_thread_that_builds_queues() -> None:
    record = read(changed(0, number(len(HELLO) - 1)), with_body=False)

    assert (record.size, record.is_message) == (len(HELLO) - 1, False)


def test_the_thread_that_builds_queues_does_not_compare_the_checksum() -> None:
    assert read(changed(89, b"x"), with_body=False).is_message


@pytest.mark.parametrize("release", NEW)
@pytest.mark.parametrize("size", range(5))
def test_a_file_with_four_bytes_left_ends(size: int, release: Release) -> None:
    assert read(HELLO[:size], release).reason == "the file ends"


@pytest.mark.parametrize("size", range(8))
def test_a_file_with_no_room_for_size_and_magic_ends_in_4_too(size: int) -> None:
    assert read(HELLO[:size], OLD).reason == "the record reaches beyond its file"


def test_a_negative_body_length_counts_as_none() -> None:
    empty = encode_stored_message(replace(MESSAGE, body=b"", body_crc=0))
    data = empty[:84] + number(-3) + empty[88:]

    assert read(data).is_message


def test_a_negative_length_of_properties_counts_as_none() -> None:
    bare = encode_stored_message(replace(MESSAGE, properties={}))
    data = bare[:-2] + number(-9, 2)

    assert read(data).is_message


def test_4_9_4_does_not_read_the_second_version_of_messages() -> None:
    data = encode_stored_message(replace(MESSAGE, topic="t" * 200))

    assert read(data).topic == b"t" * 200
    assert "magic number" in read(data, OLD).reason


@pytest.mark.parametrize("value", ["x", "", "1.5", str(1 << 31), "9" * 5000])
def test_a_delayed_message_without_a_number_as_level_is_broken(value: str) -> None:
    message = replace(MESSAGE, topic=SCHEDULE_TOPIC, properties={"DELAY": value, "A": "b"})

    record = read(encode_stored_message(message))

    assert record.is_message is (not value)


@pytest.mark.parametrize(
    ("properties", "is_message"),
    [
        ({"INNER_NUM": "2", "INNER_BASE": "7"}, True),
        ({"INNER_NUM": "+2", "INNER_BASE": "-7"}, True),
        ({"INNER_NUM": "2"}, True),
        ({"INNER_NUM": "70000", "INNER_BASE": "7"}, False),
        ({"INNER_NUM": "2", "INNER_BASE": "x"}, False),
        ({"INNER_NUM": "2", "INNER_BASE": "9" * 5000}, False),
    ],
)
def test_a_batch_needs_numbers_in_5_only(properties: dict[str, str], is_message: bool) -> None:
    data = encode_stored_message(replace(MESSAGE, properties=properties))

    assert read(data).is_message is is_message
    assert read(data, OLD).is_message


def test_a_record_that_goes_on_behind_the_bytes_asks_for_more() -> None:
    with pytest.raises(MoreBytesNeededError) as caught:
        read_record(HELLO[:90], len(HELLO), Release.V5_5_0)

    assert 90 < caught.value.size <= len(HELLO)

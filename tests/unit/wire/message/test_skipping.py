"""The reader of a consumer: an unreadable message never blocks the next one."""

import sys
from dataclasses import replace

import pytest

from rocketwire.errors import DecodeError, LimitExceededError, MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import StoredMessageReader, decode_stored_messages
from rocketwire.wire.message.stored import StoredLimits, StoredMessage, encode_stored_message

HOST = Host.of(b"\x7f\0\0\1", 10911)
ZLIB = int(MessageSysFlag.COMPRESSED | CompressionType.ZLIB.sys_flag)
LZ4 = int(MessageSysFlag.COMPRESSED | CompressionType.LZ4.sys_flag)
UNKNOWN_TYPE = int(MessageSysFlag.COMPRESSED) | 7 << 8


def message(offset: int, body: bytes = b"body", sys_flag: int = 0) -> StoredMessage:
    return StoredMessage(
        topic="Orders",
        body=body,
        properties={"UNIQ_KEY": f"ID{offset}"},
        queue_id=3,
        queue_offset=offset,
        sys_flag=sys_flag,
        born_host=HOST,
        store_host=HOST,
    )


def store_message(
    offset: int, body: bytes = b"body", sys_flag: int = 0, *, compress: bool = False
) -> bytes:
    return encode_stored_message(message(offset, body, sys_flag), compress=compress)


def pack_message(offset: int, size: int) -> bytes:
    return store_message(offset, bytes(size), ZLIB, compress=True)


def offsets(messages: tuple[StoredMessage, ...]) -> list[int]:
    return [message.queue_offset for message in messages]


POISONED = {
    "no zlib stream": store_message(7, b"garbage", ZLIB),
    "a zlib stream cut short": store_message(7, pack_message(7, 500)[100:110], ZLIB),
    "no LZ4 frame": store_message(7, b"garbage", LZ4),
    "an unknown compression type": store_message(7, b"garbage", UNKNOWN_TYPE),
    "a body beyond the limit": pack_message(7, 5001),
}


@pytest.mark.parametrize("poisoned", POISONED.values(), ids=POISONED)
@pytest.mark.parametrize("head_count", [0, 1, 5])
@pytest.mark.parametrize("tail_count", [0, 1, 5])
def test_an_unreadable_message_is_named(poisoned: bytes, head_count: int, tail_count: int) -> None:
    numbers = [*range(head_count), *range(8, 8 + tail_count)]
    parts = [store_message(number) for number in numbers]
    data = b"".join((*parts[:head_count], poisoned, *parts[head_count:]))

    read = StoredMessageReader(StoredLimits(max_body=5000)).read(data)

    assert offsets(read.messages) == numbers
    (skipped,) = read.unreadable
    assert (skipped.queue_id, skipped.queue_offset, skipped.ends) == (3, 7, False)
    assert skipped.size == len(poisoned)
    assert skipped.stored is not None
    assert skipped.stored.msg_id == "ID7"
    assert (read.stopped_by, read.rest, read.rest_offset) == (None, b"", None)


def test_earlier_responses_do_not_change_the_skipping() -> None:
    reader = StoredMessageReader()
    good = b"".join(map(store_message, range(4)))
    assert offsets(reader.read(good).messages) == [0, 1, 2, 3]

    repeated = reader.read(good)
    mixed = reader.read(good + POISONED["no zlib stream"] + good)

    assert repeated.messages == decode_stored_messages(good)
    assert offsets(mixed.messages) == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len(mixed.unreadable) == 1


def test_a_message_with_a_wrong_part_is_skipped_by_its_size() -> None:
    bad = bytearray(store_message(7))
    length = bad.index(b"UNIQ_KEY") - 2
    bad[length : length + 2] = b"\x7f\xff"  # of the properties

    read = StoredMessageReader().read(store_message(6) + bytes(bad) + store_message(8))

    assert offsets(read.messages) == [6, 8]
    assert [
        (skipped.queue_offset, skipped.stored, skipped.ends) for skipped in read.unreadable
    ] == [(7, None, False)]


@pytest.mark.parametrize("size", [0, 3, 90, 5000, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_size_that_leads_nowhere_ends_the_reading_without_a_loss(size: int) -> None:
    bad = bytearray(store_message(7))
    bad[:4] = size.to_bytes(4)

    read = StoredMessageReader().read(store_message(6) + bytes(bad) + store_message(8))

    assert offsets(read.messages) == [6]
    (skipped,) = read.unreadable
    assert (skipped.queue_offset, skipped.ends) == (7, True)
    assert skipped.size == len(bad) + len(store_message(8))


@pytest.mark.parametrize("length", [1, 4, 20, 30, 90])
def test_a_message_that_is_cut_short_is_named(length: int) -> None:
    read = StoredMessageReader().read(store_message(6) + store_message(7)[:length])
    assert offsets(read.messages) == [6]
    (skipped,) = read.unreadable
    assert skipped.ends
    assert skipped.queue_offset == (7 if length >= 28 else None)


def test_as_many_messages_are_read_as_fit_the_limit_of_all_bodies() -> None:
    data = b"".join(pack_message(number, 2_000_000) for number in range(40))
    taken: list[int] = []
    while data:
        read = StoredMessageReader().read(data)
        taken += offsets(read.messages)
        assert read.unreadable == ()
        if read.stopped_by is not None:
            assert read.rest_offset == taken[-1] + 1
        data = read.rest

    assert taken == list(range(40))


def test_a_body_between_the_two_limits_is_read_alone() -> None:
    limits = StoredLimits(max_body=4000, max_inflated=3000)
    read = StoredMessageReader(limits).read(pack_message(1, 3500) + pack_message(2, 100))
    remaining = StoredMessageReader(limits).read(read.rest)
    assert (offsets(read.messages), offsets(remaining.messages)) == ([1], [2])


@pytest.mark.parametrize("limits", [StoredLimits(max_messages=2), StoredLimits(max_properties=2)])
def test_a_limit_of_all_messages_is_not_exceeded(limits: StoredLimits) -> None:
    data = b"".join(map(store_message, range(3)))
    read = StoredMessageReader(limits).read(data)
    assert offsets(read.messages) == [0, 1]
    assert isinstance(read.stopped_by, LimitExceededError)
    assert (read.rest, read.rest_offset) == (store_message(2), 2)


def test_a_message_beyond_the_total_limit_is_skipped_once() -> None:
    limits = StoredLimits(max_properties=1)
    two = encode_stored_message(replace(message(1), properties={"a": "1", "b": "2"}))
    read = StoredMessageReader(limits).read(two)
    assert (read.messages, len(read.unreadable), read.rest) == ((), 1, b"")


def test_messages_that_are_skipped_count_as_well() -> None:
    data = POISONED["no zlib stream"] * 5
    read = StoredMessageReader(StoredLimits(max_messages=3)).read(data)
    assert len(read.unreadable) == 3
    assert len(read.rest) == 2 * len(POISONED["no zlib stream"])


def test_a_missing_package_is_no_fault_of_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    data = store_message(1) + store_message(2, b"text", LZ4, compress=True)
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(MissingPackageError):
        StoredMessageReader().read(data)


def test_without_bytes_there_is_nothing() -> None:
    assert StoredMessageReader().read(b"").messages == ()


def test_any_damage_leaves_the_messages_before_it() -> None:
    good = store_message(1) + store_message(2)
    for position in range(len(good), len(good) + 100):
        data = bytearray(good + store_message(3) + store_message(4))
        data[position] ^= 0xFF
        read = StoredMessageReader().read(bytes(data))

        assert offsets(read.messages)[:2] == [1, 2]
        assert len(read.messages) + len(read.unreadable) >= 3
        for skipped in read.unreadable:
            assert isinstance(skipped.error, DecodeError)

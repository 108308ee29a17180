"""The messages of a response: selected and skipped ones, and the offset of the next pull."""

import logging
from dataclasses import replace

import pytest

from rocketwire.client.consumer.pulled_messages import (
    PulledMessages,
    ReadReport,
    build_limits,
    next_offset,
    read_messages,
    unwrap_inner_batches,
)
from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.unit.wire.message.test_skipping import POISONED, message, pack_message, store_message

POISON = POISONED["no zlib stream"]
"""Offset 7."""
ALL = subscription_data("Orders", version=1)
INNER_BATCH = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)


def with_size(data: bytes, size: int) -> bytes:
    return size.to_bytes(4) + data[4:]


def offsets(pulled: PulledMessages) -> list[int]:
    return [message.queue_offset for message in pulled.messages]


def test_read_messages_without_a_body() -> None:
    with pytest.raises(DecodeError, match="no messages"):
        read_messages(None, ALL)


def test_the_next_pull_begins_at_the_broker_s_offset_if_all_was_read() -> None:
    pulled = read_messages(store_message(6) + POISON + store_message(8), ALL)
    assert offsets(pulled) == [6, 8]
    assert next_offset(pulled, 6, 9) == 9


def test_the_next_pull_begins_at_the_first_message_beyond_a_limit() -> None:
    body = b"".join(pack_message(number, 1000) for number in range(5))
    pulled = read_messages(body, ALL, limits=build_limits(1000, 2500))
    assert offsets(pulled) == [0, 1]
    assert next_offset(pulled, 0, 5) == 2


def test_offsets_of_static_topics_are_the_logical_ones() -> None:
    body = pack_message(5, 1000) + POISON + pack_message(8, 1000) + pack_message(9, 1000)
    pulled = read_messages(body, ALL, 100, limits=build_limits(1000, 2500))
    assert offsets(pulled) == [105, 108]
    assert [skipped.queue_offset for skipped in pulled.unreadable] == [107]
    assert next_offset(pulled, 105, 110) == 109


def test_after_a_message_of_unknown_size_the_next_offset_is_pulled() -> None:
    pulled = read_messages(
        store_message(6) + with_size(store_message(7), 3) + store_message(8), ALL
    )
    assert next_offset(pulled, 6, 9) == 8


@pytest.mark.parametrize("claimed", [-5, 3, 6, 2**62])
def test_an_offset_that_cannot_be_trusted_neither_repeats_nor_loses_much(claimed: int) -> None:
    bad = with_size(store_message(claimed), 3)
    surrounded = read_messages(store_message(6) + bad + store_message(8), ALL)
    unknown = read_messages(bad, ALL)
    assert next_offset(surrounded, 6, 9) in (8, 9)
    assert 6 < next_offset(unknown, 6, 9) <= 9


def test_bytes_without_an_offset_are_skipped_one_by_one() -> None:
    assert next_offset(read_messages(store_message(6)[:20], ALL), 6, 9) == 7
    assert next_offset(read_messages(store_message(6)[:20], ALL), 8, 9) == 9
    assert next_offset(read_messages(store_message(6) + b"\0", ALL), 6, 9) == 8


def test_an_inner_batch_that_cannot_be_taken_apart_is_skipped_alone() -> None:
    bad = encode_stored_message(replace(message(7, b"no batch"), sys_flag=INNER_BATCH))
    empty = encode_stored_message(
        StoredMessage(topic="Orders", queue_offset=8, sys_flag=INNER_BATCH)
    )

    pulled = read_messages(store_message(6) + bad + empty + store_message(9), ALL)

    assert offsets(pulled) == [6, 9]
    assert [skipped.queue_offset for skipped in pulled.unreadable] == [7, 8]
    assert next_offset(pulled, 6, 10) == 10


def batch(offset: int, count: int, claimed: str | None) -> bytes:
    """An inner batch; ``claimed`` is the number of messages in its property."""
    body = encode_batch([BatchMessage(body=b"%d" % number) for number in range(count)])
    properties = None if claimed is None else {"INNER_NUM": claimed}
    return encode_stored_message(
        replace(message(offset, body), sys_flag=INNER_BATCH, properties=properties)
    )


@pytest.mark.parametrize("following", [b"", store_message(9)], ids=["alone", "before another"])
def test_an_inner_batch_is_taken_apart_if_it_has_a_place_for_each_message(following: bytes) -> None:
    pulled = read_messages(store_message(5) + batch(6, 3, "3") + following, ALL, end=10)
    assert offsets(pulled) == [5, 6, 7, 8, *([9] if following else [])]
    assert pulled.unreadable == ()


@pytest.mark.parametrize("claimed", [None, "", "1", "2", "x", "-3", "3.0", "9" * 30])
def test_an_inner_batch_with_more_messages_than_counted_is_skipped(claimed: str | None) -> None:
    pulled = read_messages(store_message(5) + batch(6, 3, claimed) + store_message(9), ALL, end=10)
    assert offsets(pulled) == [5, 9]
    assert [skipped.queue_offset for skipped in pulled.unreadable] == [6]


@pytest.mark.parametrize("following", [b"", store_message(7)], ids=["alone", "before another"])
def test_an_inner_batch_that_exceeds_its_places_is_skipped(following: bytes) -> None:
    end = 7 if not following else 8
    pulled = read_messages(batch(6, 3, "3") + following, ALL, end=end)
    assert offsets(pulled) == ([7] if following else [])
    assert [skipped.queue_offset for skipped in pulled.unreadable] == [6]


def test_an_inner_batch_before_a_limit_has_the_places_up_to_it() -> None:
    limits = build_limits(1000, 1000)
    body = pack_message(4, 1000) + batch(5, 3, "3")
    fits = read_messages(body + pack_message(8, 1000), ALL, limits=limits, end=99)
    reaches_beyond = read_messages(body + pack_message(7, 1000), ALL, limits=limits, end=99)
    assert (offsets(fits), next_offset(fits, 4, 99)) == ([4, 5, 6, 7], 8)
    assert (offsets(reaches_beyond), next_offset(reaches_beyond, 4, 99)) == ([4], 7)


def test_an_inner_batch_of_a_static_topic_uses_its_broker_s_offsets() -> None:
    pulled = read_messages(batch(6, 3, "3"), ALL, 100, end=109)
    assert offsets(pulled) == [106, 107, 108]


def test_places_of_an_inner_batch_ignore_messages_of_other_queues() -> None:
    (outer,) = decode_stored_messages(batch(6, 3, "3"))
    inner, broken = unwrap_inner_batches([outer, replace(message(7), queue_id=4)])
    assert ([message.queue_offset for message in inner], broken) == ([6, 7, 8, 7], ())


def test_messages_from_inner_batches_of_a_response_are_bounded() -> None:
    (outer,) = decode_stored_messages(batch(0, 30_000, "30000"))
    outers = [replace(outer, queue_offset=number * 30_000) for number in range(3)]
    inner, broken = unwrap_inner_batches(outers)
    assert len(inner) == 60_000
    assert [skipped.queue_offset for skipped in broken] == [60_000]


def test_messages_of_other_tags_are_not_missed() -> None:
    tagged = subscription_data("Orders", "a", version=1)
    pulled = read_messages(store_message(6) + POISON, tagged)
    assert (pulled.messages, pulled.unreadable) == ([], ())
    assert len(read_messages(store_message(6) + POISON, None).unreadable) == 1


def test_a_skipped_message_is_logged_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    report = ReadReport("group")
    pulled = read_messages(store_message(6) + POISON + store_message(8)[:20], ALL)

    report.report_unreadable("Orders", pulled.unreadable)

    first, second = caplog.messages
    assert "group: message ID7 of Orders, queue 3, offset 7, is unreadable and is skipped" in first
    assert "zlib" in first
    assert "queue unknown, offset unknown" in second
    assert report.unreadable == 2


def test_a_response_beyond_its_limit_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    report = ReadReport("group")
    pulled = read_messages(pack_message(0, 1000) * 2, ALL, limits=build_limits(1000, 1500))
    assert pulled.stopped_by is not None

    for place in ("queue 1", "queue 1", "queue 2"):
        report.report_limit(place, pulled.stopped_by, 1, "the consumer pulls on from offset 1")

    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage().partition(" exceeds")[0] for record in warnings] == [
        "group: a response of queue 1",
        "group: a response of queue 2",
    ]

"""Messages that wait until a request is full."""

from __future__ import annotations

from rocketwire.client import Message
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.spark.topics.sink.outbox import MESSAGE_OVERHEAD, Outbox, Parcel

QUEUE = MessageQueue(topic="a", broker_name="b", queue_id=1)


def shape(parcels: list[Parcel]) -> list[tuple[str, int | None, list[bytes], bool]]:
    return [
        (
            parcel.lane.topic,
            parcel.lane.queue.queue_id if parcel.lane.queue else None,
            [message.body for message in parcel.messages],
            parcel.is_batch,
        )
        for parcel in parcels
    ]


def fill(outbox: Outbox, *rows: tuple[Message, MessageQueue | None]) -> list[Parcel]:
    return [parcel for row in rows for parcel in outbox.add(*row)]


def test_messages_of_a_topic_share_a_batch_until_it_is_full() -> None:
    outbox = Outbox(2 * MESSAGE_OVERHEAD + 5)
    full = fill(outbox, *((Message("a", body), None) for body in (b"1", b"2", b"3")))

    assert shape(full) == [("a", None, [b"1", b"2"], True)]
    assert shape(list(outbox.rest())) == [("a", None, [b"3"], True)]


def test_topics_and_queues_have_batches_of_their_own() -> None:
    outbox = Outbox(1000)
    assert not fill(
        outbox, (Message("a", b"1"), None), (Message("b", b"2"), None), (Message("a", b"3"), QUEUE)
    )

    assert shape(list(outbox.rest())) == [
        ("a", None, [b"1"], True),
        ("b", None, [b"2"], True),
        ("a", 1, [b"3"], True),
    ]


def test_what_no_batch_may_contain_is_sent_alone() -> None:
    outbox = Outbox(1000, single_above=3)
    rows = [
        Message("a", b"1", delay_seconds=1),
        Message("%RETRY%g", b"2"),
        Message("a", b"long"),
        Message("a", b"3"),
    ]
    sent = fill(outbox, *((row, None) for row in rows))

    assert shape(sent) == [
        ("a", None, [b"1"], False),
        ("%RETRY%g", None, [b"2"], False),
        ("a", None, [b"long"], False),
    ]


def test_a_message_alone_follows_the_earlier_ones_of_its_queue() -> None:
    outbox = Outbox(1000, single_above=3)
    sent = fill(outbox, (Message("a", b"1"), QUEUE), (Message("a", b"long"), QUEUE))

    assert shape(sent) == [("a", 1, [b"1"], True), ("a", 1, [b"long"], False)]


def test_half_messages_are_sent_alone() -> None:
    outbox = Outbox(1000, only_singles=True)

    assert shape(fill(outbox, (Message("a", b"1"), None))) == [("a", None, [b"1"], False)]


def test_the_memory_of_all_queues_is_bounded() -> None:
    outbox = Outbox(1000, max_pending=2 * MESSAGE_OVERHEAD)
    rows = [
        (Message("a", b"1"), MessageQueue(topic="a", broker_name="b", queue_id=number))
        for number in range(2)
    ]

    assert len(fill(outbox, *rows)) == 2
    assert not list(outbox.rest())


def test_tags_keys_and_properties_count() -> None:
    outbox = Outbox(2 * MESSAGE_OVERHEAD + 20)
    row = Message("a", b"1", tags="t", keys=("k",), properties={"p": "q"}, sharding_key="s")

    assert len(fill(outbox, (row, None), (row, None))) == 1

"""Messages that wait until a request is full."""

from rocketwire.client import Message
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.spark.topics.sink.outbox import Outbox, SendRequest
from rocketwire_tools.spark.topics.sink.rows import Row

QUEUE = MessageQueue(topic="a", broker_name="b", queue_id=1)


def row(topic: str, body: bytes, *, is_single: bool = False) -> Row:
    """A row whose bytes in a batch are its body."""
    return Row(Message(topic, body), None if is_single else body)


def shape(request: list[SendRequest]) -> list[tuple[str, int | None, list[bytes] | bytes]]:
    return [
        (
            request.destination.topic,
            request.destination.queue.queue_id if request.destination.queue else None,
            request.entries if request.message is None else request.message.body,
        )
        for request in request
    ]


def fill(outbox: Outbox, *rows: tuple[Row, MessageQueue | None]) -> list[SendRequest]:
    return [request for row in rows for request in outbox.add(*row)]


def test_topics_and_queues_have_batches_of_their_own() -> None:
    outbox = Outbox(100)
    rows = [(row("a", b"1"), None), (row("b", b"2"), None), (row("a", b"3"), QUEUE)]
    assert not fill(outbox, *rows, *rows)

    assert shape(list(outbox.flush())) == [
        ("a", None, [b"1", b"1"]),
        ("b", None, [b"2", b"2"]),
        ("a", 1, [b"3", b"3"]),
    ]


def test_single_message_follows_earlier_ones_of_its_queue() -> None:
    outbox = Outbox(100)
    sent = fill(outbox, (row("a", b"1"), QUEUE), (row("a", b"2", is_single=True), QUEUE))
    sent += fill(outbox, (row("a", b"3"), QUEUE))

    assert shape(sent) == [("a", 1, [b"1"]), ("a", 1, b"2")]
    assert shape(list(outbox.flush())) == [("a", 1, [b"3"])]


def test_memory_of_all_queues_is_bounded() -> None:
    outbox = Outbox(100, max_pending=3)
    rows = [
        (row("a", b"11"), MessageQueue(topic="a", broker_name="b", queue_id=number))
        for number in range(2)
    ]

    assert len(fill(outbox, *rows)) == 2
    assert not list(outbox.flush())
    assert not fill(outbox, rows[1])
    assert shape(list(outbox.flush())) == [("a", 1, [b"11"])]

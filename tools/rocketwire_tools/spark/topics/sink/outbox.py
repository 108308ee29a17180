"""Messages that wait until a request is full; pure.

Batches are by topic, and by queue for ordered rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.client.message import Message
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.spark.topics.sink.rows import Row

MAX_BATCH_MESSAGES: Final = 10_000  # Maximum messages of a batch

MAX_PENDING: Final = 32 << 20  # Bytes of all batches that are not full; above it, all are sent


class Destination(NamedTuple):
    topic: str  # the topic
    # the queue of ordered messages, which are sent one request after the other; None for any queue
    queue: MessageQueue | None


@dataclass(slots=True)
class SendRequest:
    destination: Destination  # where it goes
    # messages of a batch, encoded, in order
    entries: list[bytes] = field(default_factory=list[bytes])
    size: int = 0  # bytes of the entries
    message: Message | None = None  # the only message of a request that is no batch


class Outbox:
    """Collects messages into requests; within a lane with a queue their order stays."""

    def __init__(self, batch_size: int, *, max_pending: int = MAX_PENDING) -> None:
        self._batch_size = batch_size
        self._max_pending = max_pending
        self._open: dict[Destination, SendRequest] = {}
        self._pending = 0
        self._destination = Destination("", None)  # of the last message, and its batch
        self._request: SendRequest | None = None

    def add(self, row: Row, queue: MessageQueue | None) -> Iterator[SendRequest]:
        message, entry = row
        destination = self._destination
        if destination.topic != message.topic or destination.queue is not queue:
            destination = self._destination = Destination(message.topic, queue)
            self._request = self._open.get(destination)
        if entry is None:
            if queue is not None and destination in self._open:
                yield self._close(destination)
            yield SendRequest(destination, message=message, size=len(message.body))
            return
        size = len(entry)
        request = self._request
        if request is not None and (
            request.size + size > self._batch_size or len(request.entries) >= MAX_BATCH_MESSAGES
        ):
            yield self._close(destination)
            request = None
        if request is None:
            request = self._request = self._open[destination] = SendRequest(destination)
        request.entries.append(entry)
        request.size += size
        self._pending += size
        if self._pending > self._max_pending:
            yield from self.flush()

    def flush(self) -> Iterator[SendRequest]:
        for destination in list(self._open):
            yield self._close(destination)

    def _close(self, destination: Destination) -> SendRequest:
        request = self._open.pop(destination)
        self._pending -= request.size
        self._request = None
        return request

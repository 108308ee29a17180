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

MAX_BATCH_MESSAGES: Final = 10_000  # Most messages of a batch

MAX_PENDING: Final = 32 << 20  # Bytes of all batches that are not full; above it, all are sent


class Lane(NamedTuple):
    """Where messages go."""

    topic: str  # the topic
    # the queue of ordered messages, which are sent one request after the other; None for any queue
    queue: MessageQueue | None


@dataclass(slots=True)
class Parcel:
    """The messages of one request."""

    lane: Lane  # where it goes
    # messages of a batch, encoded, in order
    entries: list[bytes] = field(default_factory=list[bytes])
    size: int = 0  # bytes of the entries
    message: Message | None = None  # the only message of a request that is no batch


class Outbox:
    """Collects messages into requests; within a lane with a queue their order stays."""

    def __init__(self, batch_size: int, *, max_pending: int = MAX_PENDING) -> None:
        """Start empty."""
        self._batch_size = batch_size
        self._max_pending = max_pending
        self._open: dict[Lane, Parcel] = {}
        self._pending = 0
        self._lane = Lane("", None)  # of the last message, and its batch
        self._parcel: Parcel | None = None

    def add(self, row: Row, queue: MessageQueue | None) -> Iterator[Parcel]:
        """Add a message; yield the requests that are full now."""
        message, entry = row
        lane = self._lane
        if lane.topic != message.topic or lane.queue is not queue:
            lane = self._lane = Lane(message.topic, queue)
            self._parcel = self._open.get(lane)
        if entry is None:
            if queue is not None and lane in self._open:
                yield self._close(lane)
            yield Parcel(lane, message=message, size=len(message.body))
            return
        size = len(entry)
        parcel = self._parcel
        if parcel is not None and (
            parcel.size + size > self._batch_size or len(parcel.entries) >= MAX_BATCH_MESSAGES
        ):
            yield self._close(lane)
            parcel = None
        if parcel is None:
            parcel = self._parcel = self._open[lane] = Parcel(lane)
        parcel.entries.append(entry)
        parcel.size += size
        self._pending += size
        if self._pending > self._max_pending:
            yield from self.rest()

    def rest(self) -> Iterator[Parcel]:
        """Yield the requests that are not full."""
        for lane in list(self._open):
            yield self._close(lane)

    def _close(self, lane: Lane) -> Parcel:
        parcel = self._open.pop(lane)
        self._pending -= parcel.size
        self._parcel = None
        return parcel

"""Messages that wait until a request is full; pure.

Batches are by topic, and by queue for ordered rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.client.message import Message
from rocketwire.policy.resource_names import is_retry_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.messages.message_queue import MessageQueue

MESSAGE_OVERHEAD: Final = 192
"""Bytes of a message in a batch, without body, tags, keys and properties."""

MAX_BATCH_MESSAGES: Final = 10_000
"""Most messages of a batch."""

MAX_PENDING: Final = 32 << 20
"""Bytes of all batches that are not full; above it, all are sent."""


class Lane(NamedTuple):
    """Where messages go.

    Attributes:
        topic: the topic.
        queue: the queue of ordered messages, which are sent one request after the other; None for
            any queue.
    """

    topic: str
    queue: MessageQueue | None


@dataclass(slots=True)
class Parcel:
    """The messages of one request.

    Attributes:
        lane: where they go.
        messages: in order.
        size: their bytes, about.
        is_batch: whether the request is a batch; otherwise it has one message.
    """

    lane: Lane
    messages: list[Message] = field(default_factory=list[Message])
    size: int = 0
    is_batch: bool = True


class Outbox:
    """Collects messages into requests.

    A message that no batch may contain is a request of its own: delayed and transactional ones,
    those to retry topics, and bodies above ``single_above``. Within a lane with a queue the order
    of the messages stays.
    """

    def __init__(
        self,
        batch_size: int,
        *,
        single_above: int | None = None,
        only_singles: bool = False,
        max_pending: int = MAX_PENDING,
    ) -> None:
        """Start empty.

        Args:
            batch_size: bytes of a full batch.
            single_above: larger bodies are requests of their own; None for those above
                ``batch_size``.
            only_singles: whether there are no batches.
            max_pending: bytes of all batches that are not full.
        """
        self._batch_size = batch_size
        self._single_above = batch_size if single_above is None else min(single_above, batch_size)
        self._only_singles = only_singles
        self._max_pending = max_pending
        self._open: dict[Lane, Parcel] = {}
        self._pending = 0
        self._lane = Lane("", None)  # of the last message, and its batch
        self._parcel: Parcel | None = None

    def add(self, message: Message, queue: MessageQueue | None) -> Iterator[Parcel]:
        """Add a message; yield the requests that are full now.

        Args:
            message: the next message.
            queue: its queue if it is ordered.
        """
        lane = self._lane
        if lane.topic != message.topic or lane.queue is not queue:
            lane = self._lane = Lane(message.topic, queue)
            self._parcel = self._open.get(lane)
        if self._is_single(message):
            if queue is not None and lane in self._open:
                yield self._close(lane)
            yield Parcel(lane, [message], len(message.body), is_batch=False)
            return
        size = _size(message)
        parcel = self._parcel
        if parcel is not None and (
            parcel.size + size > self._batch_size or len(parcel.messages) >= MAX_BATCH_MESSAGES
        ):
            yield self._close(lane)
            parcel = None
        if parcel is None:
            parcel = self._parcel = self._open[lane] = Parcel(lane)
        parcel.messages.append(message)
        parcel.size += size
        self._pending += size
        if self._pending > self._max_pending:
            yield from self.rest()

    def _is_single(self, message: Message) -> bool:
        """Return whether no batch may contain a message; ``is_delayed`` would cost more."""
        return (
            self._only_singles
            or message.delay_seconds is not None
            or message.deliver_millis is not None
            or len(message.body) > self._single_above
            or is_retry_topic(message.topic)
        )

    def rest(self) -> Iterator[Parcel]:
        """Yield the requests that are not full."""
        for lane in list(self._open):
            yield self._close(lane)

    def _close(self, lane: Lane) -> Parcel:
        parcel = self._open.pop(lane)
        self._pending -= parcel.size
        self._parcel = None
        return parcel


def _size(message: Message) -> int:
    """Return the bytes of a message in a batch; three for a character, as at most."""
    size = MESSAGE_OVERHEAD + len(message.body)
    if message.tags:
        size += 3 * len(message.tags)
    keys = message.keys
    if keys:
        size += 3 * (len(keys) if isinstance(keys, str) else sum(map(len, keys)) + len(keys))
    if message.properties:
        for name, value in message.properties.items():
            size += 3 * (len(name) + len(value)) + 2
    if message.sharding_key:
        size += 3 * len(message.sharding_key)
    return size

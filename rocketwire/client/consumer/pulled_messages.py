"""The messages in the answer to a pull or a pop: what was read, what was skipped, and where to go on.

Rules of this file: one message that cannot be read never stops a consumer.  It is skipped, counted
and logged as a WARNING with queue, offset and reason.  A limit cuts an answer short; the consumer
pulls on from the first message that was left out.  A missing package is no fault of a message: it
raises, and the consumer ends.  An inner batch may hold no more messages than places of its queue: with
more, the offset that a group stores would run ahead of the queue, past messages that nobody has seen.

Java: ``PullAPIWrapper.processPullResult``, which drops all that follows an unreadable message.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from rocketwire.client.log_text import log_text
from rocketwire.errors import DecodeError
from rocketwire.messages.message_const import INNER_NUM
from rocketwire.policy.subscription import filter_tags, matches_tags
from rocketwire.wire.message.batch import MAX_BATCH_MESSAGES
from rocketwire.wire.message.lazy_reader import StoredMessageReader, UnreadableMessage
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, unwrap_inner_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.errors import LimitExceededError
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

_INNER_BATCH: Final = 0xC0


class PulledMessages(NamedTuple):
    """The messages of one answer.

    Attributes:
        messages: those that the subscription asks for, in order.
        unreadable: those that were skipped.
        stopped_by: the limit that cut the answer short; None if all of it was read.
        rest: the bytes that were not read because of that limit.
        resume_offset: queue offset to pull from next if the end of the answer was not read;
            None if the broker's own next offset holds.
    """

    messages: list[StoredMessage]
    unreadable: tuple[UnreadableMessage, ...] = ()
    stopped_by: LimitExceededError | None = None
    rest: bytes = b""
    resume_offset: int | None = None


def stored_limits(max_body_size: int, max_inflated_size: int) -> StoredLimits:
    """The limits of one answer, from a consumer's settings of the same names (bytes)."""
    return StoredLimits(max_body=max_body_size, max_inflated=max_inflated_size)


def read_messages(
    body: bytes | None,
    subscription: SubscriptionData | None,
    offset_delta: int = 0,
    reader: StoredMessageReader | None = None,
    limits: StoredLimits = DEFAULT_LIMITS,
    end: int | None = None,
    *,
    unwraps: bool = True,
) -> PulledMessages:
    """Read the messages in the body of an answer.

    Args:
        body: as it came.
        subscription: tags are compared exactly; the broker compares only their hash codes.
            None for all messages.
        offset_delta: what the broker of a static topic adds to queue offsets.
        reader: reader of the same queue; its own limits hold.
        limits: how much one answer may hold, without a reader.
        end: offset behind the answer's last message by the broker's word; None if it does not say.
        unwraps: whether inner batches are taken apart.

    Raises:
        MissingPackageError: a body needs a package that is not installed.
    """
    if not body:
        return PulledMessages([])
    reader = reader or StoredMessageReader(limits)
    read = reader.read(body)
    messages, unreadable = read.messages, read.unreadable
    if unwraps and not reader.is_ordinary and holds_inner_batches(messages):
        behind = read.rest_offset
        if behind is None and end is not None:
            behind = end - offset_delta
        messages, broken = unwrapped(messages, behind)
        unreadable += broken
    if offset_delta:
        messages = tuple(replace(m, queue_offset=m.queue_offset + offset_delta) for m in messages)
    if not unreadable and read.stopped_by is None:
        return PulledMessages(_of_subscription(subscription, messages))
    resume_offset = read.rest_offset
    if unreadable and unreadable[-1].ends:
        resume_offset = _offset_behind(messages, unreadable[-1], offset_delta)
    elif resume_offset is not None:
        resume_offset += offset_delta
    return PulledMessages(
        _of_subscription(subscription, messages),
        tuple(
            message if offset is None else replace(message, queue_offset=offset + offset_delta)
            for message in unreadable
            for offset in [message.queue_offset]
            if message.stored is None
            or subscription is None
            or matches_tags(subscription, message.stored)
        ),
        read.stopped_by,
        read.rest,
        resume_offset,
    )


def _of_subscription(
    subscription: SubscriptionData | None, messages: tuple[StoredMessage, ...]
) -> list[StoredMessage]:
    return list(messages) if subscription is None else filter_tags(subscription, messages)


def holds_inner_batches(messages: Iterable[StoredMessage]) -> bool:
    """Whether one of the messages may be an inner batch."""
    return any(message.sys_flag & _INNER_BATCH for message in messages)


def unwrapped(
    messages: Sequence[StoredMessage], end: int | None = None
) -> tuple[tuple[StoredMessage, ...], tuple[UnreadableMessage, ...]]:
    """Take inner batches apart.

    Args:
        messages: those of one answer, in order.
        end: offset behind the last of them; None if it is unknown.

    Returns:
        The messages, and the batches that cannot be taken apart.
    """
    inner: list[StoredMessage] = []
    broken: list[UnreadableMessage] = []
    for message, behind in zip(messages, (*messages[1:], None), strict=True):
        if not message.sys_flag & _INNER_BATCH:
            inner.append(message)
            continue
        places = _places(message, behind, end)
        try:
            inner += unwrap_inner_batch(
                message, max_messages=min(places, MAX_BATCH_MESSAGES - len(inner))
            )
        except DecodeError as error:
            broken.append(
                UnreadableMessage(
                    error=error,
                    queue_id=message.queue_id,
                    queue_offset=message.queue_offset,
                    stored=message,
                    size=message.store_size,
                    ends=False,
                )
            )
    return tuple(inner), tuple(broken)


def _places(message: StoredMessage, behind: StoredMessage | None, end: int | None) -> int:
    """How many places of its queue an inner batch takes, by the word of its broker.

    The broker counts the messages of a batch and says so in a property (Java:
    ``SendMessageProcessor.sendBatchMessage``), but a sender can say so as well where the topic has no
    batches.
    """
    number = (message.properties or {}).get(INNER_NUM) or "1"
    places = int(number) if number.isascii() and number.isdecimal() and len(number) < 9 else 1
    if behind is None:
        last = end
    elif (behind.queue_id, behind.topic) == (message.queue_id, message.topic):
        last = behind.queue_offset
    else:
        last = None  # of a pop, which takes from many queues
    if last is not None and last > message.queue_offset:
        places = min(places, last - message.queue_offset)
    return places


def _offset_behind(
    messages: Sequence[StoredMessage], unreadable: UnreadableMessage, offset_delta: int
) -> int | None:
    """Where to pull from if the end of an unreadable message is unknown: behind that message alone,
    if its offset can be trusted, so that those behind it are not lost."""
    offset = unreadable.queue_offset
    if offset is None:
        return messages[-1].queue_offset + 2 if messages else None
    offset += offset_delta
    if messages and offset <= messages[-1].queue_offset:
        offset = messages[-1].queue_offset + 1
    return offset + 1


def next_offset(pulled: PulledMessages, begin: int, proposed: int) -> int:
    """The offset of the next pull.

    Args:
        pulled: what was read of the answer.
        begin: the offset of this pull.
        proposed: the next offset by the broker's word.
    """
    if pulled.resume_offset is None:
        if pulled.unreadable and pulled.unreadable[-1].ends and not pulled.messages:
            return min(begin + 1, proposed)
        return proposed
    return pulled.resume_offset if begin < pulled.resume_offset < proposed else proposed


class Pulled(Protocol):
    """What ``ReadReport`` asks of the result of a pull; attributes as of ``PullResult``."""

    @property
    def next_begin_offset(self) -> int: ...
    @property
    def messages(self) -> list[StoredMessage]: ...
    @property
    def unreadable(self) -> tuple[UnreadableMessage, ...]: ...
    @property
    def stopped_by(self) -> LimitExceededError | None: ...


class ReadReport:
    """Tells operators what a consumer could not read.

    Attributes:
        unreadable: messages that were skipped so far.
    """

    def __init__(self, group: str) -> None:
        """Nothing was skipped yet.

        Args:
            group: of the consumer.
        """
        self.unreadable = 0
        self._group = group
        self._cut_short: set[object] = set()

    def skipped(
        self, place: object, unreadable: Sequence[UnreadableMessage], then: str = "is skipped"
    ) -> None:
        """Count and log messages that cannot be read.

        Args:
            place: the queue, or the topic and broker, of the answer.
            unreadable: the messages.
            then: what becomes of them.
        """
        self.unreadable += len(unreadable)
        for message in unreadable:
            stored = message.stored
            _LOG.warning(
                "%s: %s of %s, queue %s, offset %s, cannot be read and %s: %s",
                self._group,
                "a message" if stored is None else f"message {log_text(stored.msg_id)}",
                place,
                "unknown" if message.queue_id is None else message.queue_id,
                "unknown" if message.queue_offset is None else message.queue_offset,
                then,
                message.error,
            )

    def pulled(self, queue: object, result: Pulled) -> None:
        """Count and log what a pull could not read.

        Args:
            queue: the queue.
            result: of the pull.
        """
        self.skipped(queue, result.unreadable)
        if result.stopped_by is not None:
            then = f"the consumer pulls on from offset {result.next_begin_offset}"
            self.cut_short(queue, result.stopped_by, len(result.messages), then)

    def cut_short(self, place: object, limit: LimitExceededError, taken: int, then: str) -> None:
        """Log that an answer holds more than its limit: as a WARNING once for each place.

        Args:
            place: as of ``skipped``.
            limit: the limit.
            taken: messages that were taken.
            then: how the consumer gets the others.
        """
        level = logging.DEBUG if place in self._cut_short else logging.WARNING
        self._cut_short.add(place)
        _LOG.log(
            level,
            "%s: an answer of %s holds more than one answer may (%s): %d messages taken, %s",
            self._group,
            place,
            limit,
            taken,
            then,
        )

"""Reads the messages in the response to a pull or pop, and reports those that are skipped.

An unreadable message never stops a consumer: it is skipped, counted and logged as a WARNING with
queue, offset and reason. If a limit cuts a response short, the consumer continues with the first
message that was left out. A missing package is not a fault of a message: it raises an error, and
the consumer ends. An inner batch may contain at most as many messages as it has places in its
queue; otherwise the group's offset would run ahead of the queue and skip messages.

Java: ``PullAPIWrapper.processPullResult``, which drops everything after an unreadable message.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from rocketwire.controls import log_text
from rocketwire.errors import DecodeError
from rocketwire.messages.message_const import INNER_NUM
from rocketwire.policy.subscription import filter_tags, matches_tags
from rocketwire.wire.message.batch import MAX_BATCH_MESSAGES
from rocketwire.wire.message.lazy_reader import StoredMessageReader, UnreadableMessage
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredLimits, unwrap_inner_batch

if TYPE_CHECKING:
    from rocketwire.errors import LimitExceededError
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

_INNER_BATCH: Final = 0xC0


class PulledMessages(NamedTuple):
    messages: list[StoredMessage]  # messages that the subscription selects, in order
    unreadable: tuple[UnreadableMessage, ...] = ()
    # limit that cut the response short; None if all of it was read
    stopped_by: LimitExceededError | None = None
    unread: bytes = b""  # bytes that were not read because of the limit
    # offset of the next pull if the response was not read to its end; None if the broker's next
    # offset applies
    resume_offset: int | None = None


def build_limits(max_body_size: int, max_inflated_size: int) -> StoredLimits:
    return StoredLimits(max_body=max_body_size, max_inflated=max_inflated_size)


def read_messages(
    body: bytes | None,
    subscription: SubscriptionData | None,
    offset_delta: int = 0,
    reader: StoredMessageReader | None = None,
    limits: StoredLimits = DEFAULT_LIMITS,
    end: int | None = None,
    *,
    unwrap: bool = True,
) -> PulledMessages:
    # The broker compares only the hash codes of tags. That of a static topic adds ``offset_delta``
    # to queue offsets. ``end`` is the broker's next offset, if it is known.
    if not body:
        raise DecodeError("the response has no messages", path="body")
    reader = reader or StoredMessageReader(limits)
    stored = reader.read(body)
    messages, unreadable = stored.messages, stored.unreadable
    if unwrap and not reader.is_ordinary and has_inner_batches(messages):
        batch_end = stored.rest_offset
        if batch_end is None and end is not None:
            batch_end = end - offset_delta
        messages, invalid_batches = unwrap_inner_batches(messages, batch_end)
        unreadable += invalid_batches
    if offset_delta:
        messages = tuple(replace(m, queue_offset=m.queue_offset + offset_delta) for m in messages)
    if not unreadable and stored.stopped_by is None:
        return PulledMessages(_filter(subscription, messages))
    resume_offset = stored.rest_offset
    if unreadable and unreadable[-1].ends:
        resume_offset = _offset_after(messages, unreadable[-1], offset_delta)
    elif resume_offset is not None:
        resume_offset += offset_delta
    return PulledMessages(
        _filter(subscription, messages),
        tuple(
            message if offset is None else replace(message, queue_offset=offset + offset_delta)
            for message in unreadable
            for offset in [message.queue_offset]
            if message.stored is None
            or subscription is None
            or matches_tags(subscription, message.stored)
        ),
        stored.stopped_by,
        stored.rest,
        resume_offset,
    )


def _filter(
    subscription: SubscriptionData | None, messages: tuple[StoredMessage, ...]
) -> list[StoredMessage]:
    return list(messages) if subscription is None else filter_tags(subscription, messages)


def has_inner_batches(messages: Iterable[StoredMessage]) -> bool:
    return any(message.sys_flag & _INNER_BATCH for message in messages)


def unwrap_inner_batches(
    messages: Sequence[StoredMessage], end: int | None = None
) -> tuple[tuple[StoredMessage, ...], tuple[UnreadableMessage, ...]]:
    """Unwrap the inner batches of a response that ends at an offset; returns invalid ones too."""
    unwrapped: list[StoredMessage] = []
    invalid: list[UnreadableMessage] = []
    for message, next_message in zip(messages, (*messages[1:], None), strict=True):
        if not message.sys_flag & _INNER_BATCH:
            unwrapped.append(message)
            continue
        offset_count = _count_offsets(message, next_message, end)
        try:
            unwrapped += unwrap_inner_batch(
                message, max_messages=min(offset_count, MAX_BATCH_MESSAGES - len(unwrapped))
            )
        except DecodeError as error:
            invalid.append(
                UnreadableMessage(
                    error=error,
                    queue_id=message.queue_id,
                    queue_offset=message.queue_offset,
                    stored=message,
                    size=message.store_size,
                    ends=False,
                )
            )
    return tuple(unwrapped), tuple(invalid)


def _count_offsets(
    message: StoredMessage, next_message: StoredMessage | None, end: int | None
) -> int:
    # The broker counts the messages of a batch and stores the number as a property (Java:
    # SendMessageProcessor.sendBatchMessage). A sender can set that property too if the topic does
    # not use batches.
    number = (message.properties or {}).get(INNER_NUM) or "1"
    offset_count = int(number) if number.isascii() and number.isdecimal() and len(number) < 9 else 1
    if next_message is None:
        next_offset = end
    elif (next_message.queue_id, next_message.topic) == (message.queue_id, message.topic):
        next_offset = next_message.queue_offset
    else:
        next_offset = None  # a pop returns messages of several queues
    if next_offset is not None and next_offset > message.queue_offset:
        offset_count = min(offset_count, next_offset - message.queue_offset)
    return offset_count


def _offset_after(
    messages: Sequence[StoredMessage], unreadable: UnreadableMessage, offset_delta: int
) -> int | None:
    # skip only that message if its offset is plausible, so that those after it are not lost
    offset = unreadable.queue_offset
    if offset is None:
        return messages[-1].queue_offset + 2 if messages else None
    offset += offset_delta
    if messages and offset <= messages[-1].queue_offset:
        offset = messages[-1].queue_offset + 1
    return offset + 1


def next_offset(pulled: PulledMessages, begin: int, proposed: int) -> int:
    """Return the offset of the next pull, after one at ``begin``; the broker has proposed one."""
    if pulled.resume_offset is None:
        if pulled.unreadable and pulled.unreadable[-1].ends and not pulled.messages:
            return min(begin + 1, proposed)
        return proposed
    return pulled.resume_offset if begin < pulled.resume_offset < proposed else proposed


class PullOutcome(Protocol):
    """The attributes of ``PullResult`` that ``ReadReport`` uses."""

    @property
    def next_begin_offset(self) -> int: ...
    @property
    def messages(self) -> list[StoredMessage]: ...
    @property
    def unreadable(self) -> tuple[UnreadableMessage, ...]: ...
    @property
    def stopped_by(self) -> LimitExceededError | None: ...


class ReadReport:
    def __init__(self, group: str) -> None:
        self.unreadable: int = 0  # number of skipped messages
        self._group = group
        self._limited_sources: set[object] = set()

    def report_unreadable(
        self,
        source: object,
        unreadable: Sequence[UnreadableMessage],
        consequence: str = "is skipped",
    ) -> None:
        self.unreadable += len(unreadable)
        for message in unreadable:
            stored = message.stored
            _LOG.warning(
                "%s: %s of %s, queue %s, offset %s, is unreadable and %s: %s",
                self._group,
                "a message" if stored is None else f"message {log_text(stored.msg_id)}",
                source,
                "unknown" if message.queue_id is None else message.queue_id,
                "unknown" if message.queue_offset is None else message.queue_offset,
                consequence,
                message.error,
            )

    def report_pull(self, queue: MessageQueue, result: PullOutcome) -> None:
        self.report_unreadable(f"{queue.topic} at {queue.broker_name}", result.unreadable)
        if result.stopped_by is not None:
            consequence = f"the consumer continues at offset {result.next_begin_offset}"
            self.report_limit(queue, result.stopped_by, len(result.messages), consequence)

    def report_limit(
        self, source: object, limit: LimitExceededError, accepted: int, consequence: str
    ) -> None:
        level = logging.DEBUG if source in self._limited_sources else logging.WARNING
        self._limited_sources.add(source)
        _LOG.log(
            level,
            "%s: a response of %s exceeds a limit (%s): %d messages accepted, %s",
            self._group,
            source,
            limit,
            accepted,
            consequence,
        )

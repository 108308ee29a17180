"""The handle of a popped message: eight words that say where it is, who hid it and until when.

The broker needs the handle back to acknowledge the message or to hide it for longer; it travels as property ``POP_CK``.  Hiding
a message for longer gives it a new handle, and the old one is worth nothing from then on.

Java: ``ExtraInfoUtil``, ``MQClientAPIImpl.processPopResponse``, ``PopMessageProcessor``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import BatchAck
from rocketwire.policy.resource_names import RETRY_PREFIX, pop_retry_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocketwire.messages.pop import PopMessageResponseHeader
    from rocketwire.wire.message.stored import StoredMessage

NORMAL: Final = "0"
RETRY_V1: Final = "1"
RETRY_V2: Final = "2"
"""Which topic a message was really popped from: its own, or one of the two forms of its group's retry topic."""

ORDERLY_REVIVE_QUEUE: Final = 999
"""Revive queue of messages that were popped in order."""

_WORDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PopHandle:
    """A handle in parts.

    Attributes:
        start_offset: offset of the first message of the same pop (``ckQueueOffset``).
        pop_time: when it was popped, milliseconds since 1970 by the broker's clock.
        invisible_time: for how long it is hidden, milliseconds.
        revive_queue_id: queue of the broker's log of pops.
        retry: ``NORMAL``, ``RETRY_V1`` or ``RETRY_V2``.
        broker_name: the broker.
        queue_id: the queue.
        queue_offset: the message's offset in it.
    """

    start_offset: int
    pop_time: int
    invisible_time: int
    revive_queue_id: int
    retry: str
    broker_name: str
    queue_id: int
    queue_offset: int

    def __str__(self) -> str:
        """The text that travels (Java: ``ExtraInfoUtil.buildExtraInfo``)."""
        return (
            f"{self.start_offset} {self.pop_time} {self.invisible_time} {self.revive_queue_id} {self.retry} "
            f"{self.broker_name} {self.queue_id} {self.queue_offset}"
        )

    def real_topic(self, topic: str, group: str) -> str:
        """Where the message is stored, for a topic as the application sees it."""
        if self.retry == NORMAL or topic.startswith(RETRY_PREFIX):
            return topic
        return pop_retry_topic(group, topic, version_2=self.retry == RETRY_V2)

    def hidden_again(self, pop_time: int, invisible_time: int, revive_queue_id: int) -> PopHandle:
        """The handle that is good after the message was hidden for another time, with what the broker answered."""
        return replace(
            self,
            start_offset=self.queue_offset,
            pop_time=pop_time,
            invisible_time=invisible_time,
            revive_queue_id=revive_queue_id,
        )


def parse_pop_handle(text: str) -> PopHandle:
    """The parts of a handle.

    Raises:
        DecodeError: there are not eight words, or one that should be is no number.
    """
    words = text.split(" ")
    if len(words) != _WORDS:
        raise DecodeError(f"a handle has {_WORDS} words, not {len(words)}", path=POP_CK)
    try:
        return PopHandle(
            start_offset=int(words[0]),
            pop_time=int(words[1]),
            invisible_time=int(words[2]),
            revive_queue_id=int(words[3]),
            retry=words[4],
            broker_name=words[5],
            queue_id=int(words[6]),
            queue_offset=int(words[7]),
        )
    except ValueError as error:
        raise DecodeError(f"not a handle: {text[:80]!r}", path=POP_CK) from error


def handle_of(message: StoredMessage) -> PopHandle:
    """The handle that a popped message carries.

    Raises:
        DecodeError: it has none, or one that cannot be read.
    """
    text = (message.properties or {}).get(POP_CK)
    if not text:
        raise DecodeError("the message was not popped: it has no handle", path=POP_CK)
    return parse_pop_handle(text)


# ---------------------------------------------------------------------------- what a pop brought


def with_handles(
    messages: Sequence[StoredMessage],
    header: PopMessageResponseHeader,
    broker_name: str,
    *,
    orderly: bool = False,
) -> tuple[StoredMessage, ...]:
    """The messages of a pop, each with its handle and its first pop time.

    A message that has a handle already (the broker writes it into those of retry topics) keeps it.  In order, the number of
    tries comes from the answer's header.

    Args:
        messages: as decoded.
        header: of the answer.
        broker_name: who answered.
        orderly: whether they were popped in order.

    Raises:
        DecodeError: the header does not fit the messages.
    """
    places = _Places(messages, header)
    handled: list[StoredMessage] = []
    for message in messages:
        properties = {FIRST_POP_TIME: str(header.pop_time), **(message.properties or {})}
        tries = message.reconsume_times
        if not properties.get(POP_CK):
            key = _key(message)
            properties[POP_CK] = str(
                PopHandle(
                    start_offset=places.start(key),
                    pop_time=header.pop_time,
                    invisible_time=header.invisible_time,
                    revive_queue_id=header.revive_qid,
                    retry=retry_of(message.topic),
                    broker_name=broker_name,
                    queue_id=message.queue_id,
                    queue_offset=places.offset(key, message.queue_offset),
                )
            )
            tries = (orderly and places.tries(key, message.queue_offset)) or tries
        handled.append(replace(message, properties=properties, reconsume_times=tries))
    return tuple(handled)


def retry_of(topic: str) -> str:
    """Which kind of topic a message was stored in."""
    if not topic.startswith(RETRY_PREFIX):
        return NORMAL
    return RETRY_V2 if "+" in topic else RETRY_V1


class _Places:
    """What the header says about where its messages are."""

    def __init__(self, messages: Sequence[StoredMessage], header: PopMessageResponseHeader) -> None:
        self._starts = _pairs(header.start_offset_info)
        self._offsets = _lists(header.msg_offset_info)
        self._tries = _pairs(header.order_count_info)
        self._told = bool(header.start_offset_info)
        self._sorted: dict[str, list[int]] = {}
        for message in sorted(messages, key=lambda message: message.queue_offset):
            self._sorted.setdefault(_key(message), []).append(message.queue_offset)

    def start(self, key: str) -> int:
        """Where the pop of that queue began."""
        if not self._told:
            return self._sorted[key][0]
        if key not in self._starts:
            raise DecodeError(f"nothing is said of queue {key}", path="start_offset_info")
        return self._starts[key]

    def offset(self, key: str, queue_offset: int) -> int:
        """What the broker says that the message's offset is."""
        told = self._offsets.get(key)
        if not self._told or told is None:
            return queue_offset
        if queue_offset in told:  # also if messages of the queue are missing from the answer
            return queue_offset
        index = self._sorted[key].index(queue_offset)
        if index >= len(told):
            raise DecodeError(f"{len(told)} offsets of queue {key}", path="msg_offset_info")
        return told[index]

    def tries(self, key: str, queue_offset: int) -> int:
        """How often an ordered message was given out before; 0 where nothing is said."""
        retry, queue_id = key.split("@")
        return self._tries.get(f"{retry}@qo{queue_id}%{queue_offset}", self._tries.get(key, 0))


def _key(message: StoredMessage) -> str:
    return f"{retry_of(message.topic)}@{message.queue_id}"


def _items(text: str | None) -> Iterable[tuple[str, str]]:
    """``retry queue value`` for each item between semicolons, the first two as key."""
    for item in filter(None, (text or "").split(";")):
        words = item.split(" ")
        if len(words) != 3:
            raise DecodeError(f"three words are wanted, not {item[:80]!r}", path="offset_info")
        yield f"{words[0]}@{words[1]}", words[2]


def _pairs(text: str | None) -> Mapping[str, int]:
    try:
        return {key: int(value) for key, value in _items(text)}
    except ValueError as error:
        raise DecodeError(f"not a number in {(text or '')[:80]!r}", path="offset_info") from error


def _lists(text: str | None) -> Mapping[str, list[int]]:
    try:
        return {key: [int(one) for one in value.split(",")] for key, value in _items(text)}
    except ValueError as error:
        raise DecodeError(f"not a number in {(text or '')[:80]!r}", path="offset_info") from error


# ---------------------------------------------------------------------------- many at once


def batch_acks(
    handles: Iterable[PopHandle], *, topic: str, group: str
) -> dict[str, tuple[BatchAck, ...]]:
    """Acknowledgements by broker name, those of one pop and queue in one entry.

    Args:
        handles: of messages of one topic.
        topic: as the application sees it.
        group: the consumer group.

    Java: ``MQClientAPIImpl.batchAckMessageAsync``; the bits count from the pop's first offset.
    """
    grouped: dict[tuple[str, PopHandle], set[int]] = {}
    for handle in handles:
        same = replace(handle, queue_offset=0)
        bits = grouped.setdefault((handle.broker_name, same), set())
        bits.add(handle.queue_offset - handle.start_offset)
    found: dict[str, tuple[BatchAck, ...]] = {}
    for (broker_name, handle), bits in grouped.items():
        entry = BatchAck(
            consumer_group=group,
            topic=topic,
            retry=NORMAL if topic.startswith(RETRY_PREFIX) else handle.retry,
            start_offset=handle.start_offset,
            queue_id=handle.queue_id,
            revive_queue_id=handle.revive_queue_id,
            pop_time=handle.pop_time,
            invisible_time=handle.invisible_time,
            bit_set=frozenset(bits),
        )
        found[broker_name] = (*found.get(broker_name, ()), entry)
    return found

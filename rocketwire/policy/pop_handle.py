"""The handle of a popped message: eight words with its place and the time for which it is hidden.

A consumer sends the handle to the broker to acknowledge the message or to hide it for longer.  The
handle is the property ``POP_CK``.  Hiding a message for longer invalidates its old handle.

Java: ``ExtraInfoUtil``, ``MQClientAPIImpl.processPopResponse``, ``PopMessageProcessor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.messages.message_const import FIRST_POP_TIME, POP_CK
from rocketwire.messages.pop import BatchAck, PopMessageResponseHeader
from rocketwire.policy.resource_names import RETRY_PREFIX, pop_retry_topic

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage

NORMAL: Final = "0"
RETRY_V1: Final = "1"
# The topic that a message was popped from: its own, or one of two forms of the retry topic
RETRY_V2: Final = "2"


_WORDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PopHandle:
    start_offset: int  #: offset of the first message of the same pop (``ckQueueOffset``)
    pop_time: int  #: time of the pop, milliseconds since 1970 by the broker's clock
    invisible_time: int  #: milliseconds for which the message is hidden
    revive_queue_id: int  #: queue of the broker's log of pops
    retry: str  #: ``NORMAL``, ``RETRY_V1`` or ``RETRY_V2``
    broker_name: str  #: name of the broker
    queue_id: int  #: queue of the message
    queue_offset: int  #: offset of the message in its queue

    def __str__(self) -> str:
        """Encode the handle (Java: ``ExtraInfoUtil.buildExtraInfo``)."""
        return (
            f"{self.start_offset} {self.pop_time} {self.invisible_time} {self.revive_queue_id} "
            f"{self.retry} {self.broker_name} {self.queue_id} {self.queue_offset}"
        )

    def real_topic(self, topic: str, group: str) -> str:
        """Return the topic that stores the message, for a topic as the application sees it."""
        if self.retry == NORMAL or topic.startswith(RETRY_PREFIX):
            return topic
        return pop_retry_topic(group, topic, version_2=self.retry == RETRY_V2)

    def renew(self, pop_time: int, invisible_time: int, revive_queue_id: int) -> PopHandle:
        """Return the new handle after the broker has hidden the message for longer."""
        return replace(
            self,
            start_offset=self.queue_offset,
            pop_time=pop_time,
            invisible_time=invisible_time,
            revive_queue_id=revive_queue_id,
        )


def parse_pop_handle(text: str) -> PopHandle:
    """Decode a handle.

    Further words are ignored, as in Java: RocketMQ's proxy appends the physical offset.

    Raises:
        DecodeError: the text has fewer than eight words, or a number is invalid.
    """
    words = text.split(" ")
    if len(words) < _WORDS:
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
    """Return the handle of a popped message.

    Raises:
        DecodeError: the message has no handle or an invalid one.
    """
    text = (message.properties or {}).get(POP_CK)
    if not text:
        raise DecodeError("the message was not popped: it has no handle", path=POP_CK)
    return parse_pop_handle(text)


# ---------------------------------------------------------------------------- popped messages


def with_handles(
    messages: Sequence[StoredMessage],
    header: PopMessageResponseHeader,
    broker_name: str,
    *,
    orderly: bool = False,
) -> tuple[StoredMessage, ...]:
    """Add its handle and its first pop time to each message of a pop.

    A message that already has a handle keeps it: brokers write handles into messages of retry
    topics.  For ordered messages the header has the number of retries.

    Args:
        messages: the decoded messages.
        header: header of the response.
        broker_name: name of the broker.
        orderly: whether they were popped in order.

    Raises:
        DecodeError: the header does not match the messages.
    """
    popped_offsets = _PoppedOffsets(messages, header)
    result: list[StoredMessage] = []
    for message in messages:
        properties = {FIRST_POP_TIME: str(header.pop_time), **(message.properties or {})}
        tries = message.reconsume_times
        if not properties.get(POP_CK):
            key = _key(message)
            properties[POP_CK] = str(
                PopHandle(
                    start_offset=popped_offsets.start(key),
                    pop_time=header.pop_time,
                    invisible_time=header.invisible_time,
                    revive_queue_id=header.revive_qid,
                    retry=retry_kind(message.topic),
                    broker_name=broker_name,
                    queue_id=message.queue_id,
                    queue_offset=popped_offsets.offset(key, message.queue_offset),
                )
            )
            tries = (orderly and popped_offsets.count_tries(key, message.queue_offset)) or tries
        result.append(replace(message, properties=properties, reconsume_times=tries))
    return tuple(result)


def retry_kind(topic: str) -> str:
    """Return ``NORMAL``, ``RETRY_V1`` or ``RETRY_V2`` for the topic that stores a message."""
    if not topic.startswith(RETRY_PREFIX):
        return NORMAL
    return RETRY_V2 if "+" in topic else RETRY_V1


class _PoppedOffsets:
    def __init__(self, messages: Sequence[StoredMessage], header: PopMessageResponseHeader) -> None:
        self._starts = _pairs(header.start_offset_info)
        self._offsets = _lists(header.msg_offset_info)
        self._tries = _pairs(header.order_count_info)
        self._has_info = bool(header.start_offset_info)
        self._sorted: dict[str, list[int]] = {}
        for message in sorted(messages, key=lambda message: message.queue_offset):
            self._sorted.setdefault(_key(message), []).append(message.queue_offset)

    def start(self, key: str) -> int:
        if not self._has_info:
            return self._sorted[key][0]
        if key not in self._starts:
            raise DecodeError(f"queue {key} is missing", path="start_offset_info")
        return self._starts[key]

    def offset(self, key: str, queue_offset: int) -> int:
        offsets = self._offsets.get(key)
        if not self._has_info or offsets is None:
            return queue_offset
        if queue_offset in offsets:  # also if the response lacks messages of the queue
            return queue_offset
        index = self._sorted[key].index(queue_offset)
        if index >= len(offsets):
            raise DecodeError(f"{len(offsets)} offsets of queue {key}", path="msg_offset_info")
        return offsets[index]

    def count_tries(self, key: str, queue_offset: int) -> int:
        # 0 if unknown
        retry, queue_id = key.split("@")
        return self._tries.get(f"{retry}@qo{queue_id}%{queue_offset}", self._tries.get(key, 0))


def _key(message: StoredMessage) -> str:
    return f"{retry_kind(message.topic)}@{message.queue_id}"


def _items(text: str | None) -> Iterable[tuple[str, str]]:
    for item in filter(None, (text or "").split(";")):
        words = item.split(" ")
        if len(words) != 3:
            raise DecodeError(f"{item[:80]!r}: must be three words", path="offset_info")
        yield f"{words[0]}@{words[1]}", words[2]


def _pairs(text: str | None) -> Mapping[str, int]:
    try:
        return {key: int(value) for key, value in _items(text)}
    except ValueError as error:
        raise DecodeError(f"not a number in {(text or '')[:80]!r}", path="offset_info") from error


def _lists(text: str | None) -> Mapping[str, list[int]]:
    try:
        return {key: list(map(int, value.split(","))) for key, value in _items(text)}
    except ValueError as error:
        raise DecodeError(f"not a number in {(text or '')[:80]!r}", path="offset_info") from error


# ---------------------------------------------------------------------------- batches


def batch_acks(
    handles: Iterable[PopHandle], *, topic: str, group: str
) -> dict[str, tuple[BatchAck, ...]]:
    """Return acknowledgements by broker name, one entry for each pop and queue.

    Args:
        handles: handles of messages of one topic.
        topic: the topic as the application sees it.
        group: the consumer group.

    Java: ``MQClientAPIImpl.batchAckMessageAsync``; the bits count from the pop's first offset.
    """
    grouped: dict[tuple[str, PopHandle], set[int]] = {}
    for handle in handles:
        pop = replace(handle, queue_offset=0)
        bits = grouped.setdefault((handle.broker_name, pop), set())
        bits.add(handle.queue_offset - handle.start_offset)
    acks: dict[str, tuple[BatchAck, ...]] = {}
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
        acks[broker_name] = (*acks.get(broker_name, ()), entry)
    return acks

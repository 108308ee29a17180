"""Filters of consumers on stored messages, and the messages of a queue that pass one.

Java: ``DefaultMessageFilter``, ``ExpressionMessageFilter``, ``DefaultMessageStore.getMessage``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import IllegalValueError
from rocketwire.sql92 import IllegalExpressionError, compile_expression
from rocketwire_broker.storage.message import read_stored

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire_broker.storage.queue import Queue

TAG: Final = "TAG"
SQL92: Final = "SQL92"

CACHED_CHARACTERS: Final = 262_144  # characters of the expressions whose conditions are kept
_CODE_BYTES: Final = 64
_CONDITION_BYTES: Final = 150  # about the bytes of a condition for each character of its expression
_TERM_BYTES: Final = 8 * _CONDITION_BYTES

Condition = Callable[[Mapping[str, str]], bool]  # decides by the properties of a message

MAX_TERMS_PER_READ: Final = 50_000
"""Terms of an expression times messages of a read: 100 ms, in which no other request is served."""


class Filter(NamedTuple):
    """The messages of a topic that a consumer receives; without either part, all of them."""

    codes: frozenset[int] | None = None  # tag codes that pass
    condition: Condition | None = None
    size: int = 0  # about the bytes that it takes

    @property
    def is_open(self) -> bool:
        return self.codes is None and self.condition is None

    @property
    def max_messages(self) -> int:
        """Maximum number of messages that one read may filter."""
        if self.condition is None:
            return MAX_TERMS_PER_READ
        return max(1, MAX_TERMS_PER_READ * _TERM_BYTES // (_TERM_BYTES + self.size))

    def work_of(self, messages: int) -> float:
        """Return which part of a turn it takes to filter messages."""
        return 0 if self.is_open else messages / self.max_messages

    def passes(self, tag_code: int, record: bytes) -> bool:
        if self.codes is not None:
            return tag_code in self.codes
        if self.condition is None:
            return True
        properties = read_stored(record).properties or {}
        return self.condition({name: value for name, value in properties.items() if value})


EVERYTHING: Final = Filter()


def filter_of(subscription: SubscriptionData) -> Filter:
    """Return the filter of a subscription.

    As in Java, an expression that does not compile, or has an unknown type, passes everything.
    """
    kind = subscription.expression_type or TAG
    if kind == TAG:
        codes = subscription.code_set
        if (
            subscription.sub_string in {None, "", "*"}
            or subscription.class_filter_mode
            or not codes
        ):
            return EVERYTHING
        return Filter(codes=frozenset(codes), size=_CODE_BYTES * len(codes))
    text = subscription.sub_string or ""
    try:
        return Filter(condition=compile_condition(kind, text), size=_CONDITION_BYTES * len(text))
    except IllegalValueError:
        return EVERYTHING


class _Conditions:
    def __init__(self) -> None:
        self._by_text: dict[str, Condition] = {}
        self._size = 0

    def compile(self, text: str) -> Condition:
        by_text = self._by_text
        condition = by_text.pop(text, None)
        if condition is None:
            condition = compile_expression(text)
            self._size += _CODE_BYTES + len(text)
            while self._size > CACHED_CHARACTERS and by_text:
                oldest = next(iter(by_text))
                del by_text[oldest]
                self._size -= _CODE_BYTES + len(oldest)
        by_text[text] = condition
        return condition


_CONDITIONS: Final = _Conditions()


def compile_condition(kind: str, text: str) -> Condition:
    if kind != SQL92:
        raise IllegalExpressionError(f"{kind} is not a type of filters")
    return _CONDITIONS.compile(text)


class Selection(NamedTuple):
    records: list[bytes]
    offsets: list[int]  # their offsets in the queue
    next_offset: int  # offset after the last message that was read


def select(
    queue: Queue,
    offset: int,
    message_filter: Filter,
    *,
    count: int,
    max_bytes: int,
    max_filtered: int,
) -> Selection:
    """Read messages from an offset on, which must be that of a message.

    Args:
        count: maximum number of messages.
        max_bytes: maximum number of bytes; the first message is returned whatever its size.
        max_filtered: messages that are read if there is a filter; fewer if it is expensive.
    """
    if message_filter.is_open:
        records = queue.records(offset, count)
        if sum(map(len, records)) > max_bytes:
            records = _cut_to_size(records, max_bytes)
        end = offset + len(records)
        return Selection(records, list(range(offset, end)), end)
    max_filtered = min(max(max_filtered, count), message_filter.max_messages)
    return _select_filtered(queue, offset, message_filter, count, max_bytes, max_filtered)


def _cut_to_size(records: list[bytes], max_bytes: int) -> list[bytes]:
    size = 0
    for index, record in enumerate(records):
        size += len(record)
        if size > max_bytes and index:
            return records[:index]
    return records


def _select_filtered(
    queue: Queue, offset: int, message_filter: Filter, count: int, max_bytes: int, max_filtered: int
) -> Selection:
    records: list[bytes] = []
    offsets: list[int] = []
    size, last_offset = 0, offset - 1
    candidates = zip(
        queue.tag_codes(offset, max_filtered), queue.records(offset, max_filtered), strict=True
    )
    for last_offset, (code, record) in enumerate(candidates, offset):
        if not message_filter.passes(code, record):
            continue
        size += len(record)
        if len(records) >= count or (size > max_bytes and records):
            return Selection(records, offsets, last_offset)
        records.append(record)
        offsets.append(last_offset)
    return Selection(records, offsets, last_offset + 1)

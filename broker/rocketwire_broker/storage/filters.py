"""Filters of consumers on stored messages, and the messages of a queue that pass one.

Java: ``DefaultMessageFilter``, ``ExpressionMessageFilter``, ``DefaultMessageStore.getMessage``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import IllegalValueError
from rocketwire.sql92 import IllegalExpressionError, compile_expression
from rocketwire_broker.storage.message import read_stored

if TYPE_CHECKING:
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire_broker.storage.queue import Queue

TAG: Final = "TAG"
SQL92: Final = "SQL92"

Condition = Callable[[Mapping[str, str]], bool]
"""Decides by the properties of a message."""

CHARACTERS_PER_TERM: Final = 8
MAX_TERMS_PER_READ: Final = 50_000
"""Terms of an expression times messages of a read: some 100 ms, in which nobody else is served."""


class Filter(NamedTuple):
    """The messages of a topic that a consumer receives; without either part, all of them.

    Attributes:
        codes: tag codes that pass.
        condition: an SQL92 expression.
        terms: about how many terms the expression has.
    """

    codes: frozenset[int] | None = None
    condition: Condition | None = None
    terms: int = 1

    @property
    def is_open(self) -> bool:
        """Whether everything passes."""
        return self.codes is None and self.condition is None

    @property
    def max_messages(self) -> int:
        """Maximum number of messages of a read that the filter looks at."""
        return max(1, MAX_TERMS_PER_READ // self.terms)

    def passes(self, tag_code: int, record: bytes) -> bool:
        """Return whether a stored message passes."""
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
        return Filter(codes=frozenset(codes))
    try:
        text = subscription.sub_string or ""
        return Filter(condition=compiled(kind, text), terms=1 + len(text) // CHARACTERS_PER_TERM)
    except IllegalValueError:
        return EVERYTHING


@lru_cache(maxsize=1024)
def compiled(kind: str, text: str) -> Condition:
    """Compile an expression that is not about tags.

    Raises:
        IllegalValueError: the type is unknown, or the expression is invalid.
    """
    if kind != SQL92:
        raise IllegalExpressionError(f"{kind} is not a type of filters")
    return compile_expression(text)


class Selection(NamedTuple):
    """Messages that were read.

    Attributes:
        records: their stored bytes.
        offsets: their offsets in the queue.
        next_offset: offset after the last message that was read.
    """

    records: list[bytes]
    offsets: list[int]
    next_offset: int


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
        queue: the queue to read.
        offset: offset of the first message to read.
        message_filter: decides which messages are returned.
        count: most messages.
        max_bytes: most bytes of them; the first message is returned whatever its size.
        max_filtered: messages that are read if there is a filter; fewer if it is expensive.
    """
    if message_filter.is_open:
        records = queue.records(offset, count)
        if sum(map(len, records)) > max_bytes:
            records = _within(records, max_bytes)
        end = offset + len(records)
        return Selection(records, list(range(offset, end)), end)
    max_filtered = min(max(max_filtered, count), message_filter.max_messages)
    return _filtered(queue, offset, message_filter, count, max_bytes, max_filtered)


def _within(records: list[bytes], max_bytes: int) -> list[bytes]:
    size = 0
    for index, record in enumerate(records):
        size += len(record)
        if size > max_bytes and index:
            return records[:index]
    return records


def _filtered(
    queue: Queue, offset: int, message_filter: Filter, count: int, max_bytes: int, max_filtered: int
) -> Selection:
    records: list[bytes] = []
    offsets: list[int] = []
    size, at = 0, offset - 1
    candidates = zip(
        queue.tag_codes(offset, max_filtered), queue.records(offset, max_filtered), strict=True
    )
    for at, (code, record) in enumerate(candidates, offset):
        if not message_filter.passes(code, record):
            continue
        size += len(record)
        if len(records) >= count or (size > max_bytes and records):
            return Selection(records, offsets, at)
        records.append(record)
        offsets.append(at)
    return Selection(records, offsets, at + 1)

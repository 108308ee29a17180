"""The search for messages by key, newest first, with bounded work.

There is no index of keys: a search reads the stored bytes of the queues. That costs a send nothing,
and no memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages.message_const import KEY_SEPARATOR, KEYS, TAGS, UNIQ_KEY
from rocketwire_broker.storage.message import read_stored

if TYPE_CHECKING:
    from rocketwire_broker.storage.queue import Queue

MAX_QUEUES: Final = 1_024  # queues that a search reads
MAX_SEARCHED: Final = 50_000  # messages that a search reads
MAX_BYTES: Final = 64 << 20  # bytes of the messages that a search reads, but for the last one
PART: Final = 64
"""Messages of a queue that are read at once, if that many of the largest may be read."""
_LARGE: Final = 4 << 20
_CANDIDATE_BYTES: Final = 8_192
"""Bytes whose reading takes as long as a look into the properties of a message."""
_FOREVER: Final = 1 << 62


class Hit(NamedTuple):
    """A message with the key; later ones are greater."""

    store_time: int  # time of its storage in milliseconds
    physical: int
    record: bytes


class KeySearch:
    """A search for the messages with a key, a unique key included, or with a tag.

    Args:
        queues: each gets an equal part of the work, and what the others leave of it.
        begin, end: period of the storage, in milliseconds.
    """

    def __init__(
        self,
        queues: Iterable[Queue],
        key: str,
        begin: int = 0,
        end: int = _FOREVER,
        *,
        by_tag: bool = False,
    ) -> None:
        self.hits: list[Hit] = []
        self._key, self._by_tag = key, by_tag
        self._needle = key.encode("utf-8", "surrogatepass")
        self._messages, self._bytes = MAX_SEARCHED, MAX_BYTES
        unread = iter(queues)
        spans = [(q.offset_at(begin), q.offset_until(end), q) for q in islice(unread, MAX_QUEUES)]
        # whether all messages were searched; else the oldest of a queue were not
        self.is_complete = next(unread, None) is None
        spans.sort(key=lambda span: span[1] - span[0])
        for index, (first, stop, queue) in enumerate(spans):
            remaining = len(spans) - index
            self._search(queue, first, stop, self._messages // remaining, self._bytes // remaining)

    def _search(self, queue: Queue, first: int, stop: int, messages: int, size: int) -> None:
        # newest first
        start, end = max(first, stop - messages), stop
        self._bytes -= size
        while end > start and size > 0:
            begin = max(start, end - max(1, min(PART, size // _LARGE)))
            for offset, record in enumerate(queue.records(begin, end - begin), begin):
                size -= len(record)
                if self._needle in record:
                    size -= _CANDIDATE_BYTES
                    if self._has_key(record):
                        time = queue.store_time(offset) or 0
                        self.hits.append(Hit(time, queue.physical(offset), record))
            end = begin
        self._messages -= stop - end
        self._bytes += size
        self.is_complete &= end <= first

    def _has_key(self, record: bytes) -> bool:
        properties = read_stored(record).properties or {}
        if self._by_tag:
            return properties.get(TAGS) == self._key
        keys = (properties.get(KEYS) or "").split(KEY_SEPARATOR)
        return self._key in {*keys, properties.get(UNIQ_KEY)}

"""Messages for people: the newest of a topic, those with a key, and one by its id.

Rules of this file: a request reads no more than ``KeySearch``, and reports if it has not read all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import RocketWireError
from rocketwire.messages.message_const import KEYS
from rocketwire.wire.message.body_compression import compression_type, decompress_body
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire_broker.admin_http.status import MAX_QUEUES
from rocketwire_broker.storage.key_search import KeySearch
from rocketwire_broker.storage.message import read_stored

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.queue import Queue

MAX_BODY: Final = 1 << 20  # bytes of a decompressed body; a larger one is not shown
MAX_HEX: Final = 256  # bytes of a body that is no text

_COMPRESSED: Final = 1
_SPACES: Final = {"\n", "\r", "\t"}


@dataclass(frozen=True, slots=True)
class Preview:
    # ``text``, ``bytes`` (then the text has hexadecimal digits) or ``unreadable`` (then it has the
    # reason)
    kind: str
    text: str  # the beginning
    is_whole: bool  # whether this is everything
    size: int  # bytes of the body as stored


def preview(message: StoredMessage, length: int) -> Preview:
    """Return so many characters of a body, decompressed if it was compressed."""
    body = message.body or b""
    size = len(body)
    if int(message.sys_flag) & _COMPRESSED:
        try:
            kind = compression_type(int(message.sys_flag))
            body = decompress_body(body, kind, max_size=MAX_BODY)
        except RocketWireError as error:
            return Preview("unreadable", str(error), is_whole=False, size=size)
    # a character has up to four bytes; the last one may be cut
    head = body[: 4 * length]
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if len(head) == len(body) or error.start < len(head) - 3:
            return _hexadecimal(body, length, size)
        text = head[: error.start].decode()
    if not all(letter.isprintable() or letter in _SPACES for letter in text[:length]):
        return _hexadecimal(body, length, size)
    is_whole = len(text) <= length and len(head) == len(body)
    return Preview("text", text[:length], is_whole, size)


def _hexadecimal(body: bytes, length: int, size: int) -> Preview:
    head = body[: min(MAX_HEX, length // 3)]
    return Preview("bytes", head.hex(" "), len(head) == len(body), size)


PAGE: Final = 25  # messages of a page
LINE: Final = 160  # characters of a body in a list
WHOLE: Final = 16_384  # characters of a body on a page of its own


class Position(NamedTuple):
    """The position of a message in a topic: later ones are greater."""

    store_time: int  # time of its storage in milliseconds
    physical: int

    def __str__(self) -> str:
        return f"{self.store_time}-{self.physical}"

    @classmethod
    def parse(cls, text: str) -> Position | None:
        time, _, physical = text.partition("-")
        if not (time.isascii() and time.isdecimal() and physical.isascii()):
            return None
        if not physical.isdecimal() or len(time) > 18 or len(physical) > 18:
            return None
        return cls(int(time), int(physical))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    id: str  # id by which the broker finds it
    topic: str
    queue_id: int
    queue_offset: int
    store_time: int  # time of its storage, in milliseconds since 1970
    born_time: int  # time of its sending
    born_host: str  # address of its producer
    reconsume_times: int
    tags: str
    keys: str
    properties: dict[str, str]
    body: Preview  # the beginning of its body


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageList:
    messages: tuple[MessageLine, ...]  # newest first
    next: str  # position from which the next page continues; empty if there is none
    is_complete: bool  # whether all messages were searched


def newest(broker: Broker, topic: str, before: Position | None = None) -> MessageList:
    queues = islice(broker.store.queues(topic), MAX_QUEUES)
    merged = heapq.merge(*(_backwards(queue, before) for queue in queues), reverse=True)
    hits = list(islice(merged, PAGE + 1))
    following = str(hits[PAGE - 1][0]) if len(hits) > PAGE else ""
    lines = tuple(line(broker, record, LINE) for _, record in hits[:PAGE])
    return MessageList(messages=lines, next=following, is_complete=True)


def _backwards(queue: Queue, before: Position | None) -> Iterator[tuple[Position, bytes]]:
    end = queue.max_offset if before is None else queue.offset_until(before.store_time)
    for offset in range(end - 1, queue.min_offset - 1, -1):
        record = queue.record(offset)
        position = Position(queue.store_time(offset) or 0, queue.physical(offset))
        if record is not None and (before is None or position < before):
            yield position, record


def with_key(broker: Broker, topic: str, key: str) -> MessageList:
    search = KeySearch(broker.store.queues(topic), key)
    newest_hits = heapq.nlargest(PAGE, search.hits)
    return MessageList(
        messages=tuple(line(broker, hit.record, LINE) for hit in newest_hits),
        next="",
        is_complete=search.is_complete and len(search.hits) <= PAGE,
    )


def by_id(broker: Broker, identifier: str) -> MessageLine | None:
    """Return the message with an id of the broker or of its producer (the unique key)."""
    record = _by_offset_id(broker, identifier)
    if record is None and identifier:
        names = (str(topic.topic_name) for topic in broker.topics)
        hits = KeySearch(_all_queues(broker, names), identifier).hits
        record = max(hits).record if hits else None
    return None if record is None else line(broker, record, WHOLE)


def _all_queues(broker: Broker, topics: Iterable[str]) -> Iterator[Queue]:
    for topic in topics:
        yield from broker.store.queues(topic)


def _by_offset_id(broker: Broker, identifier: str) -> bytes | None:
    try:
        host, offset = decode_offset_message_id(identifier)
    except (RocketWireError, ValueError):
        return None
    return broker.store.record_at(offset) if host == broker.store.store_host else None


def line(broker: Broker, record: bytes, length: int) -> MessageLine:
    stored = read_stored(record)
    properties = {name: value or "" for name, value in (stored.properties or {}).items()}
    return MessageLine(
        id=broker.message_id(stored.commit_log_offset),
        topic=stored.topic,
        queue_id=stored.queue_id,
        queue_offset=stored.queue_offset,
        store_time=stored.store_timestamp,
        born_time=stored.born_timestamp,
        born_host=str(stored.born_host),
        reconsume_times=stored.reconsume_times,
        tags=properties.get("TAGS", ""),
        keys=properties.get(KEYS, ""),
        properties=properties,
        body=preview(stored, length),
    )

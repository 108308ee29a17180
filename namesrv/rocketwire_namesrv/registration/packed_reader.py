"""Reads a registration body as a zlib stream, in chunks.

After decompression the topics follow each other, each as a length and a text.  A chunk is split at
the zero bytes with which the length of a short text begins.  The lengths are then checked: they
have to lead from each topic to the next.

Rules of this file: the way of reading never changes which topics are read; a body is read to its
end or refused.

Java: ``RegisterBrokerBody``, ``TopicConfig``.
"""

from __future__ import annotations

from collections.abc import Generator
from operator import itemgetter, sub
from typing import TYPE_CHECKING, Any, Final

from rocketwire.messages.registration import MAX_RATIO, RegisterParts, body_from_parts
from rocketwire.messages.topic_config import decode_topic
from rocketwire.versions import MQVersion
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.fused import (
    ITEM_LENGTH_SIZE,
    parse_register_head,
    parse_register_item,
    parse_register_tail,
    parse_register_tail_with_mappings,
)
from rocketwire.wire.zlib_stream import inflating
from rocketwire_namesrv.registration.parsed import (
    BodyIdentity,
    BodyRecord,
    RegisteredTopics,
    read_registration,
    settings_of,
)

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings

CHUNK_BYTES: Final = 16_384
"""Minimum size of a chunk of topics: some 270 topics, a fraction of a millisecond."""

_SHORT: Final = bytes(ITEM_LENGTH_SIZE - 1)
"""The first bytes of the length of a text below 256 bytes."""
_SHORTER: Final = 255


def read_packed(
    body: bytes, wall_ms: int, identity: BodyIdentity, max_inflated: int
) -> Generator[None, None, RegisteredTopics]:
    data = yield from inflating(body, max_size=max_inflated, max_ratio=MAX_RATIO)
    yield
    (data_version, count), start = parse_register_head(data)
    topics: dict[str, QueueSettings] = {}
    settings = _Settings()
    longest_name = _SHORTER  # of texts that are short: nobody looks at each
    while count > 0:
        end = data.find(_SHORT, start + CHUNK_BYTES)
        short = _short_items(data, start, end if end >= 0 else len(data), count)
        items, start = short or _any_items(data, start, count)
        if short is None:
            longest_name = max(longest_name, *map(len, items))
        _take(topics, settings, items)
        count -= len(items)
        yield
    has_mappings = identity.version >= MQVersion.V5_0_0
    parse_tail = parse_register_tail_with_mappings if has_mappings else parse_register_tail
    tail: tuple[Any, ...] = parse_tail(data, start)[0]
    content = body_from_parts(RegisterParts(data_version, [], *tail))
    return read_registration(
        content,
        wall_ms,
        topics=topics.items(),
        keys=topics.keys(),
        settings=settings.values(),
        longest_name=longest_name,
        record=BodyRecord(identity, content, len(topics)),
    )


class _Settings(dict[bytes, "QueueSettings"]):
    def __missing__(self, text: bytes) -> QueueSettings:
        settings = self[text] = settings_of(decode_topic(decode_utf8(b"- " + text)))
        return settings


def _take(topics: dict[str, QueueSettings], settings: _Settings, items: list[bytes]) -> None:
    split = [item.partition(b" ") for item in items]
    heads, _, suffixes = zip(*split, strict=True)
    numbers = list(map(settings.__getitem__, suffixes))
    names: list[str] = decode_utf8(b"\n".join(heads)).split("\n")
    if len(names) != len(items):  # a name has more than one line
        names = [decode_utf8(head) for head in heads]
    topics.update(zip(names, numbers, strict=True))


def _short_items(data: bytes, start: int, end: int, count: int) -> tuple[list[bytes], int] | None:
    # Returns at most ``count`` texts and the position after them; None unless all are short.
    items = data[start:end].split(_SHORT, count + 1)[: count + 1]
    first = items.pop(0)
    if first or not items or b"" in items:
        return None
    sizes = list(map(len, items))  # with the last byte of the length
    if set(map(sub, sizes, map(itemgetter(0), items))) != {1}:
        return None
    return [item[1:] for item in items], start + sum(sizes) + len(_SHORT) * len(sizes)


def _any_items(data: bytes, start: int, count: int) -> tuple[list[bytes], int]:
    items: list[bytes] = []
    limit = start + CHUNK_BYTES
    while len(items) < count and start < limit:
        item, start = parse_register_item(data, start)
        items.append(item)
    return items, start

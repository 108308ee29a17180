"""Reads a registration body as a zlib stream, in chunks.

After decompression the topics follow each other, each as a length and a text.  A chunk is split at
the zero bytes with which the length of a short text begins.  The lengths are then checked: they
have to lead from each topic to the next.  If all topics of a chunk differ in their name only, the
chunk is compared with the bytes that these names produce.  If the broker's previous body had the
same names, they are not searched for.

Rules of this file: the way of reading never changes which topics are read; a body is read to its
end or refused.

Java: ``RegisterBrokerBody``, ``TopicConfig``.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from itertools import chain, repeat, zip_longest
from operator import add, itemgetter, sub
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages.registration import MAX_RATIO, body_from_parts
from rocketwire.messages.topic_config import decode_topic
from rocketwire.versions import MQVersion
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.functions import (
    ITEM_LENGTH_SIZE,
    RegisterParts,
    parse_register_head,
    parse_register_tail,
    parse_topic_item,
)
from rocketwire.wire.zlib_stream import inflating
from rocketwire_namesrv.registration.parsed import (
    BodyIdentity,
    BodyRecord,
    RegisteredTopics,
    registered,
    settings_of,
)
from rocketwire_namesrv.routes.topic_batches import TopicBatch, TopicBatches
from rocketwire_namesrv.routes.topic_names import SharedNames, TopicNames, is_plain

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueSettings

CHUNK_BYTES: Final = 16_384
"""Minimum size of a chunk of topics: some 270 topics, a fraction of a millisecond."""

_SHORT: Final = bytes(ITEM_LENGTH_SIZE - 1)
"""The first bytes of the length of a text below 256 bytes."""
_SHORT_TEXT: Final = _SHORT.decode()
_LENGTHS: Final = tuple(_SHORT_TEXT + chr(length) for length in range(128))
"""The lengths of topics as they are written, if a topic is ASCII."""
_PATTERNS: Final = 64
"""Cached patterns; there is one for each length of the text after a name."""


def read_packed(
    body: bytes,
    wall_ms: int,
    identity: BodyIdentity,
    max_inflated: int,
    names: Sequence[TopicNames | None],
    shared_names: SharedNames,
) -> Generator[None, None, RegisteredTopics]:
    """Reads a body.

    Args:
        body: as sent.
        identity: of the body.
        max_inflated: maximum size after decompression.
        names: names of the topics of the broker's previous body.
        shared_names: see ``read_registered_topics``.

    Raises:
        DecodeError: it cannot be read.
    """
    data = yield from inflating(body, max_size=max_inflated, max_ratio=MAX_RATIO)
    yield
    (data_version, count), start = parse_register_head(data)
    topics = PackedTopics(shared_names)
    end = yield from topics.read(data, start, max(0, count), names)
    with_mappings = identity.version >= MQVersion.V5_0_0
    tail = parse_register_tail(data, end, with_mappings=with_mappings)
    content = body_from_parts(RegisterParts(data_version, [], *tail))
    by_name = topics.by_name
    return registered(
        content,
        wall_ms,
        len(data),
        topics=by_name,
        keys=by_name.lazy_names,
        settings=topics.settings.values(),
        record=BodyRecord(identity, content, len(by_name), topics.kept_names()),
    )


class Chunk(NamedTuple):
    """Topics that were read together.

    Attributes:
        topic_count: number of topics.
        end: position after them.
        names: of the topics; None if they are not kept.
    """

    topic_count: int
    end: int
    names: TopicNames | None


class _Settings(dict[bytes, "QueueSettings"]):
    """Text after a topic's name -> settings."""

    def __missing__(self, text: bytes) -> QueueSettings:
        settings = self[text] = settings_of(decode_topic(decode_utf8(b"- " + text)))
        return settings


class PackedTopics:
    """The topics of a body, chunk by chunk.

    Args:
        shared_names: see ``read_registered_topics``.

    Attributes:
        by_name: settings by name.
        settings: text after a name -> settings.
    """

    __slots__ = ("_chunks", "_shared_names", "by_name", "settings")

    def __init__(self, shared_names: SharedNames) -> None:
        self._shared_names = shared_names
        self._chunks: list[TopicNames | None] = []
        self.by_name = TopicBatches()
        self.settings = _Settings()

    def kept_names(self) -> tuple[TopicNames | None, ...]:
        """Returns the names of each chunk, for the broker's next body."""
        return () if self.by_name.has_repeated() else tuple(self._chunks)

    def read(
        self, data: bytes, start: int, count: int, names: Sequence[TopicNames | None] = ()
    ) -> Generator[None, None, int]:
        """Reads topics, in steps; returns the position after them.

        Args:
            data: the body after decompression.
            start: position of the first topic.
            count: number of topics.
            names: names of the topics of the broker's previous body.

        Raises:
            DecodeError: there are fewer topics, or one of them cannot be read.
        """
        batches = chain(zip_longest(names, names[1:]), repeat((None, None)))
        while count:
            batch, following = next(batches)
            chunk = (
                self.take_named(data, start, count, batch)
                or self._take_until(data, start, count, following, batch)
                or self.take_alike(data, start, count)
                or self._take_any(data, start, count, batch)
            )
            self._chunks.append(chunk.names)
            count -= chunk.topic_count
            start = chunk.end
            yield
        return start

    def take_named(
        self, data: bytes, start: int, count: int, names: TopicNames | None
    ) -> Chunk | None:
        """Reads the short topics with these names, if they differ in nothing else."""
        if names is None or not names.names or len(names.names) > count:
            return None
        first = start + ITEM_LENGTH_SIZE
        name_end = first + len(names.names[0])
        text = data[name_end : first + data[first - 1]] if first <= len(data) else b""
        if not data.startswith(names.names[0].encode(), first) or not text.isascii():
            return None
        lengths = _LENGTHS[len(text) :]
        try:
            heads = list(map(lengths.__getitem__, map(len, names.names)))
        except IndexError:
            return None
        suffix = text.decode()
        written = (suffix.join(map(add, heads, names.names)) + suffix).encode()
        if not text.startswith(b" ") or not data.startswith(written, start):
            return None
        self.by_name.add_unique(TopicBatch(names.names, [self.settings[text[1:]]], names))
        return Chunk(len(names.names), start + len(written), names)

    def take_alike(self, data: bytes, start: int, count: int) -> Chunk | None:
        """Reads short topics that differ in their name only; None if they do not."""
        end = data.find(_SHORT, start + CHUNK_BYTES)
        chunk = data[start:end]
        if end < 0 or not chunk.isascii() or b" " not in chunk:
            return None
        text = chunk.decode()
        suffix = text[text.find(" ") : text.find(_SHORT_TEXT, 1)]
        names: list[str] = _pattern(len(suffix)).findall(text)
        lengths = _LENGTHS[len(suffix) :]
        if not names or len(names) > count or max(map(len, names)) >= len(lengths):
            return None
        heads = map(lengths.__getitem__, map(len, names))
        joined = "".join(names)
        if suffix.join(map(add, heads, names)) + suffix != text or not is_plain(joined):
            return None
        shared = self._shared_names.shared(names, joined)
        self.by_name.add(TopicBatch(shared.names, [self.settings[suffix[1:].encode()]], shared))
        return Chunk(len(names), end, shared)

    def _take_until(
        self,
        data: bytes,
        start: int,
        count: int,
        following: TopicNames | None,
        names: TopicNames | None,
    ) -> Chunk | None:
        """Reads short topics up to the first one of the following batch."""
        if following is None or not following.names:
            return None
        first = following.names[0].encode() + b" "
        end = data.find(first, start, start + 4 * CHUNK_BYTES) - ITEM_LENGTH_SIZE
        items = _short_items(data, start, end, count) if end > start else None
        if items is None or items[1] != end:
            return None
        return Chunk(len(items[0]), end, self.take(items[0], names))

    def _take_any(self, data: bytes, start: int, count: int, names: TopicNames | None) -> Chunk:
        """Reads any topics."""
        end = data.find(_SHORT, start + CHUNK_BYTES)
        items, end = _short_items(data, start, end if end >= 0 else len(data), count) or _any_items(
            data, start, count
        )
        return Chunk(len(items), end, self.take(items, names))

    def take(self, items: Sequence[bytes], names: TopicNames | None = None) -> TopicNames | None:
        """Reads topics; returns ``names`` if the topics have these names, else None.

        Raises:
            DecodeError: a topic cannot be read.
        """
        split = [item.partition(b" ") for item in items]
        heads, _, suffixes = zip(*split, strict=True)
        settings = list(map(self.settings.__getitem__, suffixes))
        texts: list[str] = decode_utf8(b"\n".join(heads)).split("\n")
        if len(texts) != len(items):  # a name has more than one line
            texts = [decode_utf8(head) for head in heads]
        if names is None or names.names != texts:
            self.by_name.add(TopicBatch(texts, settings))
            return None
        self.by_name.add_unique(TopicBatch(names.names, settings, names))
        return names


@lru_cache(_PATTERNS)
def _pattern(size: int) -> re.Pattern[str]:
    """Returns a pattern that finds the names of short topics; it cannot backtrack.

    Args:
        size: characters after each name.
    """
    return re.compile(rf"(?s){_SHORT_TEXT}.([^ ]*+).{{{size}}}")


def _short_items(data: bytes, start: int, end: int, count: int) -> tuple[list[bytes], int] | None:
    """Returns the texts between two positions, ``count`` at most, and the position after them; None
    unless all of them are short."""
    items = data[start:end].split(_SHORT, count + 1)[: count + 1]
    first = items.pop(0)
    if first or not items or b"" in items:
        return None
    sizes = list(map(len, items))  # with the last byte of the length
    if set(map(sub, sizes, map(itemgetter(0), items))) != {1}:
        return None
    return [item[1:] for item in items], start + sum(sizes) + len(_SHORT) * len(sizes)


def _any_items(data: bytes, start: int, count: int) -> tuple[list[bytes], int]:
    """Returns the texts of a chunk of any topics, and the position after them."""
    items: list[bytes] = []
    limit = start + CHUNK_BYTES
    while len(items) < count and start < limit:
        item, start = parse_topic_item(data, start)
        items.append(item)
    return items, start

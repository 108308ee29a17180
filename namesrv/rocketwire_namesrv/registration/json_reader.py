"""Reads a registration body as JSON, in chunks.

The table of topics is cut between two topics.  The cuts are checked: each chunk has to be the
members of an object by itself, and the body with an empty table has to be a registration.

Rules of this file: the result is None if the body is not ordinary; the caller then reads the whole
document.

Java: ``RegisterBrokerBody``, as fastjson writes it.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.registration import RegisterBrokerBody
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, loads
from rocketwire_namesrv.registration.json_topics import TABLE, JsonTopics, table_of
from rocketwire_namesrv.registration.parsed import BodyRecord, RegisteredTopics, read_registration

if TYPE_CHECKING:
    from rocketwire_namesrv.registration.parsed import BodyIdentity

HEAD_BYTES: Final = 4096
"""The table of an ordinary body begins within these bytes."""
CHUNK_BYTES: Final = 32_768
"""Minimum size of a chunk of the table: some 150 topics, a fraction of a millisecond."""
MAX_CHUNK_BYTES: Final = 8 * CHUNK_BYTES
"""Maximum size of a chunk."""

_TABLE_NAME: Final = TABLE.encode()
_TABLE_OPENS: Final = b',"%b":{' % _TABLE_NAME
_BETWEEN_TOPICS: Final = re.compile(rb'[0-9]\},"')


def read_json(
    body: bytes, wall_ms: int, identity: BodyIdentity
) -> Generator[None, None, RegisteredTopics | None]:
    """Read a body whose topics are all ordinary; return None for any other body."""
    start = body.find(_TABLE_OPENS, 0, HEAD_BYTES) + len(_TABLE_OPENS)
    if start < len(_TABLE_OPENS) or len(body) > DEFAULT_LIMITS.max_size:
        return None
    topics = JsonTopics()
    end = yield from _read_table(topics, body, start)
    content = None if end is None else _read_content(body[:start], body[end:], topics.marks)
    if content is None:
        return None
    return read_registration(
        content,
        wall_ms,
        topics=topics.by_name.items(),
        keys=topics.by_name.keys(),
        settings=topics.settings.values(),
        longest_name=topics.longest_name,
        record=BodyRecord(identity, content, len(topics.by_name)),
    )


def _read_table(topics: JsonTopics, body: bytes, start: int) -> Generator[None, None, int | None]:
    # Returns the position of the table's closing brace; None if a topic is not ordinary.
    while True:
        cut = _BETWEEN_TOPICS.search(body, start + CHUNK_BYTES, start + MAX_CHUNK_BYTES)
        end = start + MAX_CHUNK_BYTES if cut is None else cut.start() + 2
        if not topics.take(body[start:end]):
            # the table may end here, where two objects end
            end = body.find(b"}}", start, end) + 1
            return end if end and topics.take(body[start:end]) else None
        start = end + 1
        yield


def _read_content(head: bytes, tail: bytes, count: int) -> RegisterBrokerBody | None:
    """Read the body without its topics; return None if it is not certain to be that."""
    skeleton = head + tail
    if skeleton.count(_TABLE_NAME) != 1 or b"\\" in skeleton or b"$ref" in skeleton:
        return None
    for mark in (b",", b"{", b"["):
        count += skeleton.count(mark)
    try:
        document = loads(skeleton)
    except DecodeError:
        return None
    if count > DEFAULT_LIMITS.max_count or table_of(document) != {}:
        return None
    return from_json(RegisterBrokerBody, document)

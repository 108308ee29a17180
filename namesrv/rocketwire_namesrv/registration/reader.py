"""Reads the body of a registration request.

Every broker sends up to ten thousand topics and more every thirty seconds.  Nearly all of them are
ordinary, and nearly always the body is the same as thirty seconds ago.  So a large body is read in
steps, its digest is compared with that of the broker's previous body, and ordinary topics are taken
straight out of the bytes.  Bodies that are not ordinary go through the typed classes, which decide
what they mean.

Rules of this file: one meaning, several speeds.  Nothing here is applied; a body is read to its end
or refused.

Java: ``RegisterBrokerBody``, ``DefaultRequestProcessor.registerBroker``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from rocketwire.messages import from_json
from rocketwire.messages.registration import (
    MAX_INFLATED,
    RegisterBrokerBody,
    decode_register_broker_body,
)
from rocketwire.versions import MQVersion
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.zlib_stream import looks_like_zlib
from rocketwire_namesrv.registration.digests import check_sum, digest_in_steps
from rocketwire_namesrv.registration.json_reader import read_json
from rocketwire_namesrv.registration.json_topics import table_of, topics_of_table
from rocketwire_namesrv.registration.packed_reader import read_packed
from rocketwire_namesrv.registration.parsed import (
    BodyIdentity,
    BodyRecord,
    RegisteredTopics,
    read_registration,
)

MANY_BYTES: Final = 4096
"""Shorter bodies are always read by the typed classes."""


def read_registered_topics(
    body: bytes | None,
    *,
    compressed: bool,
    version: int,
    wall_ms: int,
    previous: BodyRecord | None = None,
    crc: int = 0,
    max_inflated: int = MAX_INFLATED,
) -> Generator[None, None, RegisteredTopics]:
    """Read the body of a registration, in steps of less than a millisecond.

    Args:
        body: as sent; None registers no topics.
        compressed: the field of the header.  A zlib stream is recognised without it: Java's brokers
            send it under the wrong label when ``compressedRegister`` is on.
        version: of the sender; brokers before 3.0.11 send the bare topic table.
        previous: record of the broker's previous body; None to have all topics read.
        crc: checksum of the body, 0 for none.
        max_inflated: maximum size of a packed body after decompression.

    Raises:
        ChecksumError: the checksum differs; this is checked before anything else.
        DecodeError: the body cannot be read, or is null.
    """
    if body is None or version < MQVersion.V3_0_11 or len(body) < MANY_BYTES:
        yield from check_sum(body, crc)
        typed = decode_register_broker_body(
            body, compressed=compressed, version=version, max_inflated=max_inflated
        )
        return read_registration(typed, wall_ms)
    packed = compressed or looks_like_zlib(body)
    digest = yield from digest_in_steps(body)
    identity = BodyIdentity(digest, packed, version, crc)
    if previous is not None and previous.identity == identity:
        return read_registration(
            previous.content,
            wall_ms,
            topics=(),
            keys=(),
            record=previous,
            unchanged=True,
        )
    yield from check_sum(body, crc)
    yield
    if packed:
        return (yield from read_packed(body, wall_ms, identity, max_inflated))
    content = yield from read_json(body, wall_ms, identity)
    return _read_whole(body, wall_ms) if content is None else content


def _read_whole(body: bytes, wall_ms: int) -> RegisteredTopics:
    # a reference needs the whole document, which only the typed classes look at
    document = None if b"$ref" in body else loads(body)
    table = table_of(document)
    if table is None:
        typed = decode_register_broker_body(body, compressed=False, version=MQVersion.V3_0_11)
        return read_registration(typed, wall_ms)
    topics = topics_of_table(table)
    content = from_json(RegisterBrokerBody, document)
    return read_registration(content, wall_ms, topics=topics, keys=table.keys())

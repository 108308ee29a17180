"""What a registration request says, in the light form that the route table takes.

Ten thousand topics come at once, every thirty seconds, from every broker; nearly all of them are
ordinary, and nearly all of them are what they were thirty seconds ago.  So a large body is read in
steps, ordinary topics are taken straight out of it, and what it has in common with the former body
of the same broker is recognised by digests and not read at all.  Whatever is not ordinary goes
through the typed classes, which decide what it means.

Rules of this file: one meaning, several speeds.  Nothing here is applied; a body is read to its end
or refused.

Java: ``RegisterBrokerBody``, ``DefaultRequestProcessor.registerBroker``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.messages import from_json
from rocketwire.messages.registration import (
    MAX_INFLATED,
    RegisterBrokerBody,
    decode_register_broker_body,
)
from rocketwire.versions import MQVersion
from rocketwire.wire.json.fastjson import loads
from rocketwire.wire.zlib_stream import looks_like_zlib
from rocketwire_namesrv.registration.chunks import ChecksumError as ChecksumError
from rocketwire_namesrv.registration.chunks import check_sum, digest_in_steps
from rocketwire_namesrv.registration.json_reader import common, read_json
from rocketwire_namesrv.registration.json_topics import table_of, topics_of_table
from rocketwire_namesrv.registration.packed_reader import read_packed, same_stream
from rocketwire_namesrv.registration.parsed import RegisteredTopics as RegisteredTopics
from rocketwire_namesrv.registration.parsed import registered

if TYPE_CHECKING:
    from collections.abc import Generator

    from rocketwire_namesrv.routes.topic_names import NamesInUse

MANY_BYTES: Final = 4096
"""A shorter body is not worth a second way."""


def read_registered_topics(
    body: bytes | None,
    *,
    compressed: bool,
    version: int,
    wall_ms: int,
    former: object = None,
    crc: int = 0,
    max_inflated: int = MAX_INFLATED,
    in_use: NamesInUse | None = None,
) -> Generator[None, None, RegisteredTopics]:
    """Reads the body of a registration, in steps of less than a millisecond.

    Args:
        body: as sent; None registers no topics.
        compressed: what the header says of it.  A zlib stream is known by itself: Java's brokers
            send it under the wrong label when ``compressedRegister`` is on.
        version: of the sender; brokers before 3.0.11 send the bare topic table.
        wall_ms: wall-clock milliseconds.
        former: image of the broker's former body; None to have all topics read.
        crc: checksum of the body, 0 for none.  A body that is the former one, which had the same
            checksum, is not summed again.
        max_inflated: most bytes that a packed body may unpack to.
        in_use: takes the names of its topics, for the next body; None where they are not kept.

    Raises:
        ChecksumError: the checksum is another one; nothing else counts then.
        DecodeError: it cannot be read, or says null.
    """
    if body is None or version < MQVersion.V3_0_11 or len(body) < MANY_BYTES:
        yield from check_sum(body, crc)
        typed = decode_register_broker_body(
            body, compressed=compressed, version=version, max_inflated=max_inflated
        )
        return registered(typed, wall_ms, len(body or b""))
    if compressed or looks_like_zlib(body):
        digest = yield from digest_in_steps(body)
        same = same_stream(former, digest, version)
        if same is None or same.crc != crc:
            yield from check_sum(body, crc)
            yield
        now = (digest, version, crc)
        return (yield from read_packed(body, wall_ms, former, now, max_inflated, in_use))
    begun = yield from common(body, former)
    if begun is None or begun.same is None or begun.same.crc != crc:
        yield from check_sum(body, crc)
        yield
    light = None
    if begun is not None:
        light = yield from read_json(body, wall_ms, begun, former, crc, in_use)
    return _as_a_whole(body, wall_ms) if light is None else light


def _as_a_whole(body: bytes, wall_ms: int) -> RegisteredTopics:
    """Reads a JSON body that is not an ordinary one."""
    # a reference needs the whole document, which only the typed way looks at
    document = None if b"$ref" in body else loads(body)
    table = table_of(document)
    if table is None:
        typed = decode_register_broker_body(body, compressed=False, version=MQVersion.V3_0_11)
        return registered(typed, wall_ms, len(body))
    topics = topics_of_table(table)
    rest = from_json(RegisterBrokerBody, document)
    return registered(rest, wall_ms, len(body), topics=topics, keys=table.keys())

"""What a registration request says, in the light form that the route table takes.

Ten thousand topics come at once, every thirty seconds, from every broker; nearly all of them are
ordinary, and nearly all of them are what they were thirty seconds ago.  So a large body is read in
steps, ordinary topics are taken straight out of it, and what it has in common with the former body
of the same broker is recognised by digests and not read at all.  Whatever is not ordinary goes
through the typed classes, which decide what it means.

Rules of this file: one meaning, several speeds.  Nothing here is applied; a body is read to its end
or refused.

A JSON table of topics is cut where one topic ends and the next begins.  That the cuts are right is
not taken on trust: each piece has to be the members of an object by itself, and the body with its
table emptied has to be a registration.  Then the whole is what its parts say.

Java: ``RegisterBrokerBody``, ``DefaultRequestProcessor.registerBroker``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.registration import (
    MAX_INFLATED,
    MAX_RATIO,
    RegisterBrokerBody,
    body_from_parts,
    decode_register_broker_body,
    stamped,
)
from rocketwire.messages.topic_config import DataVersion, TopicConfig, decode_topic
from rocketwire.versions import MQVersion
from rocketwire.wire.compression import inflating, looks_like_zlib
from rocketwire.wire.fastjson import DEFAULT_LIMITS, StrictError, loads, strict_loads
from rocketwire.wire.grammar import parse_register_body
from rocketwire.wire.utf8 import decode_utf8
from rocketwire_namesrv.shapes import QueueSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Mapping, Sequence

    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire.wire.fastjson import JsonValue

MANY_BYTES: Final = 4096
"""A shorter body is not worth a second way."""
HEAD_BYTES: Final = 4096
"""Where the table of topics begins, if it is an ordinary body."""
PIECE_BYTES: Final = 32_768
"""Least size of a piece of a table of topics: some 150 topics, a fraction of a millisecond."""
DIGEST_BYTES: Final = 131_072
"""Bytes that are summed in one step."""
TOPICS_PER_RUN: Final = 256
"""Topics of a packed body that are read in one step."""
MOST_PIECES: Final = 16
"""Pieces or runs to which changes may have reduced a small table; a large one may have more."""

_WRAPPER: Final = "topicConfigSerializeWrapper"
_TABLE: Final = "topicConfigTable"
_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})
_TABLE_NAME: Final = _TABLE.encode()
_TABLE_OPENS: Final = b',"%b":{' % _TABLE_NAME
_BETWEEN_TOPICS: Final = re.compile(rb'[0-9]\},"')
_COMMA: Final = ord(",")
_CLOSE: Final = ord("}")
_MARKS: Final = frozenset({b",", b"}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTopics:
    """The body of a registration.

    Attributes:
        topics: name and settings of each topic; with ``only_changes`` of those alone that the
            former body did not have, or had otherwise.
        keys: under which they came; other than the names only in crafted input.
        data_version: as sent, or of this moment where the broker does not say.
        mappings: static mappings by topic.
        filter_servers: None where the body says nothing of them.
        image: what tells this body from the next one; None where that is not worth while.
    """

    topics: Sequence[tuple[str, QueueSettings]]
    keys: Collection[str]
    data_version: DataVersion
    mappings: Mapping[str, TopicQueueMappingInfo]
    filter_servers: Sequence[str] | None
    image: object = None
    only_changes: bool = False


class _Piece(NamedTuple):
    """Some topics of a JSON body: length, digest, and how much ``JsonLimits`` counts in them."""

    length: int
    digest: bytes
    marks: int


class _Pieces(NamedTuple):
    """Image of a JSON body: the pieces of its table of topics, and the bytes from the end of the
    table on."""

    pieces: tuple[_Piece, ...]
    tail: int


class _Packed(NamedTuple):
    """Image of a packed body: its digest, how it was read, what it said but for the topics, and
    number and digest of each run of topics."""

    digest: bytes
    version: int
    rest: RegisterBrokerBody
    runs: tuple[tuple[int, bytes], ...]


def read_registered_topics(
    body: bytes | None, *, compressed: bool, version: int, wall_ms: int, former: object = None
) -> Generator[None, None, RegisteredTopics]:
    """Reads the body of a registration, in steps of less than a millisecond.

    Args:
        body: as sent; None registers no topics.
        compressed: what the header says of it.  A zlib stream is known by itself: Java's brokers
            send it under the wrong label when ``compressedRegister`` is on.
        version: of the sender; brokers before 3.0.11 send the bare topic table.
        wall_ms: wall-clock milliseconds.
        former: image of the broker's former body; None to have all topics read.

    Raises:
        DecodeError: it cannot be read, or says null.
    """
    if body is not None and version >= MQVersion.V3_0_11 and len(body) >= MANY_BYTES:
        if compressed or looks_like_zlib(body):
            return (yield from _unpacked(body, version, wall_ms, former))
        light = yield from _light(body, wall_ms, former if isinstance(former, _Pieces) else _NONE)
        if light is not None:
            return light
        # a reference needs the whole document, which only the typed way looks at
        document = None if b"$ref" in body else loads(body)
        table = _table_of(document)
        if table is not None:
            topics = _topics_of_json(table)
            rest = from_json(RegisterBrokerBody, document)
            return _registered(rest, wall_ms, topics=topics, keys=table.keys())
    typed = decode_register_broker_body(body, compressed=compressed, version=version)
    return _registered(typed, wall_ms)


def _registered(
    body: RegisterBrokerBody | None,
    wall_ms: int,
    *,
    topics: Sequence[tuple[str, QueueSettings]] | None = None,
    keys: Collection[str] | None = None,
    image: object = None,
    only_changes: bool = False,
) -> RegisteredTopics:
    """What a body says; its topics may have been read otherwise."""
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    if body is None or wrapper is None:
        raise DecodeError("null is no registration")
    configs = wrapper.topic_config_table or {}
    version = wrapper.data_version or DataVersion()
    return RegisteredTopics(
        topics=_topics(configs.values()) if topics is None else topics,
        keys=configs.keys() if keys is None else keys,
        data_version=stamped(version, wall_ms) or version,
        mappings=wrapper.topic_queue_mapping_info_map or {},
        filter_servers=body.filter_server_list,
        image=image,
        only_changes=only_changes,
    )


def _topics(configs: Iterable[TopicConfig]) -> list[tuple[str, QueueSettings]]:
    return [(name, _settings(one)) for one in configs if (name := one.topic_name) is not None]


def _settings(one: TopicConfig) -> QueueSettings:
    return QueueSettings(one.read_queue_nums, one.write_queue_nums, one.perm, one.topic_sys_flag)


# ---------------------------------------------------------------------------- packed


def _unpacked(
    body: bytes, version: int, wall_ms: int, former: object
) -> Generator[None, None, RegisteredTopics]:
    digest = yield from _digest(body)
    known: Sequence[tuple[int, bytes]] = ()
    if isinstance(former, _Packed) and former.version == version:
        if former.digest == digest:
            return _registered(former.rest, wall_ms, image=former, only_changes=True)
        known = former.runs
    plain = yield from inflating(body, max_size=MAX_INFLATED, max_ratio=MAX_RATIO)
    yield
    parts = parse_register_body(plain, with_mappings=version >= MQVersion.V5_0_0)
    yield
    front, back = yield from _same_runs(parts.topics, known)
    at = sum(number for number, _ in front)
    stop = len(parts.topics) - sum(number for number, _ in back)
    topics, read = yield from _topics_of_texts(parts.topics, at, stop)
    runs = (*front, *read, *reversed(back))
    most = MOST_PIECES + 4 * len(parts.topics) // TOPICS_PER_RUN
    rest = body_from_parts(parts._replace(topics=[]))
    return _registered(
        rest,
        wall_ms,
        topics=list(topics.items()),
        keys=topics.keys(),
        image=_Packed(digest, version, rest, runs) if len(runs) <= most else None,
        only_changes=bool(front or back),
    )


def _digest(body: bytes) -> Generator[None, None, bytes]:
    total = sha256()
    with memoryview(body) as view:
        for at in range(0, len(body), DIGEST_BYTES):
            if at:
                yield
            total.update(view[at : at + DIGEST_BYTES])
    return total.digest()


def _digest_of(items: Sequence[bytes]) -> bytes:
    total = sha256(b"".join(items))
    total.update(repr([len(item) for item in items]).encode())
    return total.digest()


def _same_runs(
    items: Sequence[bytes], known: Sequence[tuple[int, bytes]]
) -> Generator[None, None, tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]]:
    """The runs with which the topics begin, and those with which they end, the last one first."""
    front: list[tuple[int, bytes]] = []
    back: list[tuple[int, bytes]] = []
    at, stop = 0, len(items)
    for run in known:
        if at + run[0] > stop or _digest_of(items[at : at + run[0]]) != run[1]:
            break
        front.append(run)
        at += run[0]
        yield
    for run in reversed(known[len(front) :]):
        if stop - run[0] < at or _digest_of(items[stop - run[0] : stop]) != run[1]:
            break
        back.append(run)
        stop -= run[0]
        yield
    return front, back


def _topics_of_texts(
    items: Sequence[bytes], at: int, stop: int
) -> Generator[None, None, tuple[dict[str, QueueSettings], list[tuple[int, bytes]]]]:
    """The topics of a packed body from one to another, and their runs; what follows the name is
    understood once for all that have the same."""
    topics: dict[str, QueueSettings] = {}
    runs: list[tuple[int, bytes]] = []
    known: dict[bytes, QueueSettings] = {}
    for start in range(at, stop, TOPICS_PER_RUN):
        run = items[start : min(stop, start + TOPICS_PER_RUN)]
        runs.append((len(run), _digest_of(run)))
        for item in run:
            name, _, rest = item.partition(b" ")
            settings = known.get(rest)
            if settings is None:
                settings = known[rest] = _settings(decode_topic(decode_utf8(item)))
            topics[decode_utf8(name)] = settings
        yield
    return topics, runs


# ---------------------------------------------------------------------------- JSON, in pieces

_NONE: Final = _Pieces((), 0)


def _light(
    body: bytes, wall_ms: int, former: _Pieces
) -> Generator[None, None, RegisteredTopics | None]:
    """Reads a body whose topics are all ordinary; None where it is not one of those."""
    start = body.find(_TABLE_OPENS, 0, HEAD_BYTES) + len(_TABLE_OPENS)
    if start < len(_TABLE_OPENS) or len(body) > DEFAULT_LIMITS.max_size:
        return None
    back: list[_Piece] = []
    new = _Topics()
    front, at = yield from _same_from_the_front(body, start, former.pieces)
    if front and body[at - 1] == _CLOSE:
        close = at - 1
    else:
        close = _close(body, at, former)
        back, stop = yield from _same_from_the_back(body, at, close, former.pieces[len(front) :])
        read = yield from _read_pieces(body, at, stop)
        if read is None or (at == stop and front):
            return None
        new = read
    pieces = (*front, *new.pieces, *reversed(back))
    rest = _rest(body[:start], body[close:], sum(piece.marks for piece in pieces))
    if rest is None:
        return None
    most = MOST_PIECES + 4 * len(body) // PIECE_BYTES
    return _registered(
        rest,
        wall_ms,
        topics=list(new.table.values()),
        keys=new.table.keys(),
        image=_Pieces(pieces, len(body) - close) if len(pieces) <= most else None,
        only_changes=bool(front or back),
    )


def _same_from_the_front(
    body: bytes, at: int, known: Sequence[_Piece]
) -> Generator[None, None, tuple[list[_Piece], int]]:
    """The pieces with which the table begins, and the position behind them and the mark that
    follows."""
    same: list[_Piece] = []
    with memoryview(body) as view:
        for piece in known:
            end = at + piece.length
            if body[end : end + 1] not in _MARKS or sha256(view[at:end]).digest() != piece.digest:
                break
            same.append(piece)
            at = end + 1
            if body[end] == _CLOSE:
                break
            yield
    return same, at


def _same_from_the_back(
    body: bytes, at: int, stop: int, known: Sequence[_Piece]
) -> Generator[None, None, tuple[list[_Piece], int]]:
    """The pieces with which the table ends, the last one first, and the position before them and
    the comma; something is left between ``at`` and that."""
    same: list[_Piece] = []
    with memoryview(body) as view:
        for piece in reversed(known):
            begin = stop - piece.length
            if begin <= at + 1 or body[begin - 1] != _COMMA:
                break
            if sha256(view[begin:stop]).digest() != piece.digest:
                break
            same.append(piece)
            stop = begin - 1
            yield
    return same, stop


def _close(body: bytes, at: int, former: _Pieces) -> int:
    """Where the table seems to end: what follows is as long as in the former body, or begins where
    two objects end for the first time."""
    guess = len(body) - former.tail
    if former.tail and guess > at and body[guess - 1 : guess + 1] == b"}}":
        return guess
    return body.find(b"}}", at) + 1 or len(body)


class _Topics:
    """What has been read of a table: the pieces, and name and settings by key."""

    __slots__ = ("known", "pieces", "table")

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []
        self.table: dict[str, tuple[str, QueueSettings]] = {}
        self.known: dict[tuple[Any, ...], QueueSettings] = {}

    def take(self, text: bytes) -> bool:
        """Reads a piece; False where it is not a piece or holds a topic that is not ordinary."""
        if b"\\" in text or b"$ref" in text:
            return False
        try:
            members: Any = strict_loads(b"{%b}" % text)
            for key, value in members.items():
                name, numbers = _ordinary(value)
                settings = self.known.get(numbers)
                if settings is None:
                    if not _INTEGER.issuperset(map(type, numbers)):
                        return False
                    settings = self.known[numbers] = _settings(_typed(value))
                self.table[key] = name, settings
        except (StrictError, KeyError, TypeError):
            return False
        marks = text.count(b",") + text.count(b"{") + text.count(b"[") + 1
        self.pieces.append(_Piece(len(text), sha256(text).digest(), marks))
        return bool(members)


def _read_pieces(body: bytes, at: int, stop: int) -> Generator[None, None, _Topics | None]:
    topics = _Topics()
    while at < stop:
        cut = _BETWEEN_TOPICS.search(body, at + PIECE_BYTES, stop)
        end = stop if cut is None or stop - cut.end() < PIECE_BYTES // 2 else cut.start() + 2
        if not topics.take(body[at:end]):
            return None
        at = end + 1
        yield
    return topics


def _rest(head: bytes, tail: bytes, count: int) -> RegisterBrokerBody | None:
    """The body without its topics; None where it is not certain to be that."""
    skeleton = head + tail
    if skeleton.count(_TABLE_NAME) != 1 or b"\\" in skeleton or b"$ref" in skeleton:
        return None
    for mark in (b",", b"{", b"["):
        count += skeleton.count(mark)
    try:
        document = loads(skeleton)
    except DecodeError:
        return None
    if count > DEFAULT_LIMITS.max_count or _table_of(document) != {}:
        return None
    return from_json(RegisterBrokerBody, document)


# ---------------------------------------------------------------------------- JSON


def _table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Takes the topic table out of a parsed registration, if both are what they should be."""
    wrapper = document.get(_WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(_TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[_TABLE]
    return table


def _topics_of_json(table: dict[str, JsonValue]) -> list[tuple[str, QueueSettings]]:
    """The topics of a parsed table; what is not ordinary is read as ``TopicConfig``."""
    topics: list[tuple[str, QueueSettings]] = []
    known: dict[tuple[Any, ...], QueueSettings] = {}
    for value in table.values():
        try:
            name, numbers = _ordinary(value)
            settings = known.get(numbers)
            if settings is None:
                # whole floats and booleans find the settings of the number they are equal to,
                # which is what the typed class makes of them
                settings = known[numbers] = _settings(_typed(value))
            topics.append((name, settings))
        except (KeyError, TypeError):
            topics += _topics([_typed(value)])
    return topics


def _ordinary(value: Any) -> tuple[str, tuple[Any, ...]]:
    """Name and numbers of a topic whose other members are certain to be read without a complaint.

    Raises:
        KeyError, TypeError: it is not such a topic.
    """
    name: Any = value["topicName"]
    attributes: dict[str, Any] = value["attributes"]
    numbers = (
        value["readQueueNums"],
        value["writeQueueNums"],
        value["perm"],
        value["topicSysFlag"],
    )
    if (
        type(name) is not str
        or type(attributes) is not dict
        or type(value["order"]) is not bool
        or value["topicFilterType"] not in _FILTER_TYPES
        or not _TEXT.issuperset(map(type, attributes.values()))
    ):
        raise TypeError
    return name, numbers


def _typed(value: JsonValue) -> TopicConfig:
    config = from_json(TopicConfig, value)
    if config is None:
        raise DecodeError("null has no place here", path=f"RegisterBrokerBody.{_WRAPPER}.{_TABLE}")
    return config

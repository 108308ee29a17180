"""The body of a registration as JSON, read in pieces.

A table of topics is cut where one topic ends and the next begins.  That the cuts are right is not
taken on trust: each piece has to be the members of an object by itself, and the body with its table
emptied has to be a registration.  Then the whole is what its parts say.

In a piece most topics differ in nothing but their name.  What stands before the name, between its
two occurrences and behind them is understood once, with two names of which it is known how they
have to come out.

Rules of this file: whatever is not ordinary is None or False here, and left to who reads the whole.

Java: ``RegisterBrokerBody``, as fastjson writes it.
"""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.registration import RegisterBrokerBody
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.wire.fastjson import DEFAULT_LIMITS, StrictError, loads, strict_loads
from rocketwire_namesrv.pieces import (
    MOST_PIECES,
    PIECES_PER_STEP,
    Digest,
    Piece,
    digest_of,
    same_from_the_back,
)
from rocketwire_namesrv.registered import RegisteredTopics, registered, settings_of, topics_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from rocketwire.wire.fastjson import JsonValue
    from rocketwire_namesrv.shapes import QueueSettings

HEAD_BYTES: Final = 4096
"""Where the table of topics begins, if it is an ordinary body."""
PIECE_BYTES: Final = 32_768
"""Least size of a piece of a table of topics: some 150 topics, a fraction of a millisecond."""

_WRAPPER: Final = "topicConfigSerializeWrapper"
_TABLE: Final = "topicConfigTable"
_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_FILTER_TYPES: Final = frozenset({"SINGLE_TAG", "MULTI_TAG"})
_TABLE_NAME: Final = _TABLE.encode()
_TABLE_OPENS: Final = b',"%b":{' % _TABLE_NAME
_BETWEEN_TOPICS: Final = re.compile(rb'[0-9]\},"')
_CLOSE: Final = ord("}")
_MARKS: Final = frozenset({b",", b"}"})
_PROBES: Final = ("a", "b")


class JsonImage(NamedTuple):
    """What is kept of a body.

    Attributes:
        pieces: of its table of topics.
        around: digest of what stands around the table.
        tail: bytes from the end of the table on.
        rest: what it says but for the topics.
        crc: checksum that it was compared with, 0 for none.
    """

    pieces: tuple[Piece, ...]
    around: Digest
    tail: int
    rest: RegisterBrokerBody
    crc: int


class Common(NamedTuple):
    """What a body has in common with the former one from its beginning on.

    Attributes:
        start: where its table begins.
        front: the pieces with which the table begins.
        at: where what follows them begins; where the table ends if nothing follows.
        ends: whether nothing follows.
        same: the former body's image, if all is as it was.
    """

    start: int
    front: list[Piece]
    at: int
    ends: bool
    same: JsonImage | None


def common(body: bytes, former: object) -> Generator[None, None, Common | None]:
    """Compares a body with the former one; None where it is certain not to be an ordinary one."""
    start = body.find(_TABLE_OPENS, 0, HEAD_BYTES) + len(_TABLE_OPENS)
    if start < len(_TABLE_OPENS) or len(body) > DEFAULT_LIMITS.max_size:
        return None
    if not isinstance(former, JsonImage):
        return Common(start, [], start, False, None)
    front: list[Piece] = []
    at = start
    ends = False
    with memoryview(body) as view:
        for piece in former.pieces:
            end = at + piece.length
            if body[end : end + 1] not in _MARKS or digest_of(view[at:end]) != piece.digest:
                break
            front.append(piece)
            ends = body[end] == _CLOSE
            at = end if ends else end + 1
            if ends:
                break
            if len(front) % PIECES_PER_STEP == 0:
                yield
    whole = ends and len(front) == len(former.pieces) and len(body) - at == former.tail
    same = former if whole and _around(body, start, at) == former.around else None
    return Common(start, front, at, ends, same)


def _around(body: bytes, start: int, close: int) -> Digest:
    return digest_of(memoryview(b"%d %b%b" % (start, body[:start], body[close:])))


def read_json(
    body: bytes, wall_ms: int, begun: Common, former: object, crc: int
) -> Generator[None, None, RegisteredTopics | None]:
    """Reads a body whose topics are all ordinary; None where it is not one of those.

    Args:
        body: as sent.
        wall_ms: wall-clock milliseconds.
        begun: what it has in common with the former one.
        former: image of that.
        crc: checksum that it has been compared with.
    """
    same = begun.same
    if same is not None:
        return _unchanged(same if same.crc == crc else same._replace(crc=crc), wall_ms, len(body))
    start, front, at, ends, _ = begun
    back: list[Piece] = []
    new = _Topics()
    if ends:
        close = at
    else:
        known = former if isinstance(former, JsonImage) else None
        close = _close(body, at, 0 if known is None else known.tail)
        stop = close
        if known is not None:
            left = known.pieces[len(front) :]
            back, stop = yield from same_from_the_back(body, at, close, left, comma=b",")
        read = yield from _read_pieces(body, at, stop)
        if read is None or (at == stop and front):
            return None
        new = read
    pieces = (*front, *new.pieces, *reversed(back))
    rest = _rest(body[:start], body[close:], sum(piece.marks for piece in pieces))
    if rest is None:
        return None
    image = None
    if len(pieces) <= MOST_PIECES + 4 * len(body) // PIECE_BYTES:
        image = JsonImage(pieces, _around(body, start, close), len(body) - close, rest, crc)
    return registered(
        rest,
        wall_ms,
        len(body),
        topics=new.table.values(),
        keys=new.table.keys(),
        settings=new.known.values(),
        count=sum(piece.topics for piece in pieces),
        image=image,
        only_changes=bool(front or back),
    )


def _unchanged(image: JsonImage, wall_ms: int, size: int) -> RegisteredTopics:
    count = sum(piece.topics for piece in image.pieces)
    return registered(
        image.rest,
        wall_ms,
        size,
        topics=(),
        keys=(),
        count=count,
        image=image,
        only_changes=True,
    )


def _close(body: bytes, at: int, tail: int) -> int:
    """Where the table seems to end: what follows is as long as in the former body, or begins where
    two objects end for the first time."""
    guess = len(body) - tail
    if tail and guess > at and body[guess - 1 : guess + 1] == b"}}":
        return guess
    return body.find(b"}}", at) + 1 or len(body)


class _Topics:
    """What has been read of a table: the pieces, and name and settings by key."""

    __slots__ = ("alike", "known", "pieces", "table")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.table: dict[str, tuple[str, QueueSettings]] = {}
        self.known: dict[tuple[Any, ...], QueueSettings] = {}
        self.alike: dict[tuple[str, str], QueueSettings | None] = {}

    def take(self, text: bytes) -> bool:
        """Reads a piece; False where it is not a piece or holds a topic that is not ordinary."""
        if b"\\" in text or b"$ref" in text:
            return False
        count, marks = self._take_alike(text) or self._take_each(text)
        with memoryview(text) as view:
            self.pieces.append(Piece(len(text), digest_of(view), count, marks))
        return count > 0

    def _take_each(self, text: bytes) -> tuple[int, int]:
        """Reads a piece of any topics; returns how many, 0 where one is not ordinary, and the
        marks in them."""
        try:
            members: Any = strict_loads(b"{%b}" % text)
            for key, value in members.items():
                self.table[key] = self._topic(value)
        except (StrictError, KeyError, TypeError):
            return 0, 0
        return len(members), text.count(b",") + text.count(b"{") + text.count(b"[") + 1

    def _topic(self, value: Any) -> tuple[str, QueueSettings]:
        name, numbers = _ordinary(value)
        settings = self.known.get(numbers)
        if settings is None:
            if not _INTEGER.issuperset(map(type, numbers)):
                raise TypeError
            settings = self.known[numbers] = settings_of(_typed(value))
        return name, settings

    def _take_alike(self, piece: bytes) -> tuple[int, int] | None:
        """Reads a piece of topics that differ in their name alone; returns how many and the marks
        in them, None where they do not."""
        try:
            text = piece.decode()
        except UnicodeDecodeError:
            return None
        # a topic is: "name" middle name" end
        name = text[1 : text.find('"', 1)]
        again = text.find(f'"{name}"', len(name) + 2)
        middle = text[len(name) + 1 : again + 1]
        end = text[again + 1 + len(name) : text.find("}", again) + 1]
        if again < 0 or not end or not text.startswith('"') or not text.endswith(end):
            return None
        items = text[1 : -len(end)].split(f'{end},"')
        names = [item[: (len(item) - len(middle)) >> 1] for item in items]
        if [f"{name}{middle}{name}" for name in names] != items:
            return None
        together = "".join(names)
        if '"' in together or not together.isprintable():
            return None
        settings = self._alike(middle, end)
        if settings is None:
            return None
        self.table.update(zip(names, zip(names, repeat(settings)), strict=False))
        marks = len(items) * (1 + _marks(middle + end)) + 2 * _marks(together)
        return len(set(names)), marks

    def _alike(self, middle: str, end: str) -> QueueSettings | None:
        """The settings of all topics that are written so; None where they are not ordinary."""
        if (middle, end) not in self.alike:
            self.alike[middle, end] = self._understood(middle, end)
        return self.alike[middle, end]

    def _understood(self, middle: str, end: str) -> QueueSettings | None:
        found: set[QueueSettings] = set()
        try:
            for probe in _PROBES:
                members: Any = strict_loads(f'{{"{probe}{middle}{probe}{end}}}'.encode())
                ((key, value),) = members.items()
                name, settings = self._topic(value)
                if not key == name == probe:
                    return None
                found.add(settings)
        except (StrictError, KeyError, TypeError, ValueError):
            return None
        return found.pop() if len(found) == 1 else None


def _marks(text: str) -> int:
    """What ``JsonLimits`` counts in a text."""
    return text.count(",") + text.count("{") + text.count("[")


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
    if count > DEFAULT_LIMITS.max_count or table_of(document) != {}:
        return None
    return from_json(RegisterBrokerBody, document)


# ---------------------------------------------------------------------------- as a whole


def table_of(document: JsonValue) -> dict[str, JsonValue] | None:
    """Takes the topic table out of a parsed registration, if both are what they should be."""
    wrapper = document.get(_WRAPPER) if isinstance(document, dict) else None
    table = wrapper.get(_TABLE) if isinstance(wrapper, dict) else None
    if not isinstance(wrapper, dict) or not isinstance(table, dict):
        return None
    del wrapper[_TABLE]
    return table


def topics_of_table(table: dict[str, JsonValue]) -> list[tuple[str, QueueSettings]]:
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
                settings = known[numbers] = settings_of(_typed(value))
            topics.append((name, settings))
        except (KeyError, TypeError):
            topics += topics_of([_typed(value)])
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

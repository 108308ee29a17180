"""The body of a registration as JSON, read in pieces.

A table of topics is cut where one topic ends and the next begins.  That the cuts are right is not
taken on trust: each piece has to be the members of an object by itself, and the body with its table
emptied has to be a registration.  Then the whole is what its parts say.

Rules of this file: whatever is not ordinary is None or False here, and left to who reads the whole.

Java: ``RegisterBrokerBody``, as fastjson writes it.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.messages import from_json
from rocketwire.messages.registration import RegisterBrokerBody
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS, loads
from rocketwire_namesrv.registration.chunks import (
    MOST_PIECES,
    PIECES_PER_STEP,
    Digest,
    Piece,
    digest_of,
    same_from_the_back,
)
from rocketwire_namesrv.registration.json_topics import TABLE, JsonTopics, table_of
from rocketwire_namesrv.registration.parsed import RegisteredTopics, registered

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rocketwire_namesrv.routes.topic_names import NamesInUse

HEAD_BYTES: Final = 4096
"""Where the table of topics begins, if it is an ordinary body."""
PIECE_BYTES: Final = 65_536
"""Least size of a piece of a table of topics: some 300 topics, a fraction of a millisecond."""
SEARCHED_PER_STEP: Final = 4 * PIECE_BYTES
"""Bytes in which the end of a table is looked for in one step."""

_TABLE_NAME: Final = TABLE.encode()
_TABLE_OPENS: Final = b',"%b":{' % _TABLE_NAME
_BETWEEN_TOPICS: Final = re.compile(rb'[0-9]\},"')
_CLOSE: Final = ord("}")
_MARKS: Final = frozenset({b",", b"}"})


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
    for piece in former.pieces:
        end = at + piece.length
        if body[end : end + 1] not in _MARKS or digest_of(body[at:end]) != piece.digest:
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
    return digest_of(b"%d %b%b" % (start, body[:start], body[close:]))


def read_json(
    body: bytes,
    wall_ms: int,
    begun: Common,
    former: object,
    crc: int,
    in_use: NamesInUse | None = None,
) -> Generator[None, None, RegisteredTopics | None]:
    """Reads a body whose topics are all ordinary; None where it is not one of those.

    Args:
        body: as sent.
        wall_ms: wall-clock milliseconds.
        begun: what it has in common with the former one.
        former: image of that.
        crc: checksum that it has been compared with.
        in_use: takes the names of its topics, for the next body.
    """
    same = begun.same
    if same is not None:
        return _unchanged(same if same.crc == crc else same._replace(crc=crc), wall_ms, len(body))
    start, front, at, ends, _ = begun
    back: list[Piece] = []
    new = JsonTopics()
    pieces: list[Piece] = []
    if ends:
        close = at
    else:
        known = former if isinstance(former, JsonImage) else None
        close = yield from _close(body, at, 0 if known is None else known.tail)
        stop = close
        left: tuple[Piece, ...] = ()
        if known is not None:
            left = known.pieces[len(front) :]
            back, stop = yield from same_from_the_back(body, at, close, left, comma=b",")
            left = left[: len(left) - len(back)]
        new = JsonTopics(None if front or back else in_use)
        found = yield from _read_pieces(new, body, at, stop, left)
        if found is None or (at == stop and front):
            return None
        pieces = found
    if new.by_key.has_repeated():
        pieces = [piece._replace(known=None) for piece in pieces]
    pieces = [*front, *pieces, *reversed(back)]
    rest = _rest(body[:start], body[close:], sum(piece.marks for piece in pieces))
    if rest is None:
        return None
    image = None
    if len(pieces) <= MOST_PIECES + 4 * len(body) // PIECE_BYTES:
        image = JsonImage(tuple(pieces), _around(body, start, close), len(body) - close, rest, crc)
    return registered(
        rest,
        wall_ms,
        len(body),
        topics=new.topics(),
        keys=new.by_key.each_name,
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


def _close(body: bytes, at: int, tail: int) -> Generator[None, None, int]:
    """Where the table seems to end: what follows is as long as in the former body, or begins where
    two objects end for the first time."""
    guess = len(body) - tail
    if tail and guess > at and body[guess - 1 : guess + 1] == b"}}":
        return guess
    while at < len(body):
        found = body.find(b"}}", at, at + SEARCHED_PER_STEP + 1)
        if found >= 0:
            return found + 1
        at += SEARCHED_PER_STEP
        yield
    return len(body)


def _read_pieces(
    topics: JsonTopics, body: bytes, at: int, stop: int, former: Sequence[Piece]
) -> Generator[None, None, list[Piece] | None]:
    """Reads a part of a table; None where that cannot be done.

    Args:
        topics: takes what is read.
        body: whole.
        at: where the part begins.
        stop: where it ends.
        former: the pieces that were there in the former body.
    """
    pieces: list[Piece] = []
    for known, following in zip_longest(former, former[1:]):
        piece = yield from _read_again(topics, body, at, stop, known, following)
        if piece is None:
            break
        pieces.append(piece)
        at += piece.length + 1
        yield
    while at < stop:
        cut = _BETWEEN_TOPICS.search(body, at + PIECE_BYTES, stop)
        end = stop if cut is None or stop - cut.end() < PIECE_BYTES // 2 else cut.start() + 2
        piece = yield from topics.take(body[at:end])
        if piece is None:
            return None
        pieces.append(piece)
        at = end + 1
        yield
    return pieces


def _read_again(
    topics: JsonTopics, body: bytes, at: int, stop: int, known: Piece, following: Piece | None
) -> Generator[None, None, Piece | None]:
    """Reads what stands where a piece of the former body stood, up to what followed that; None
    where it cannot be told where this is, and nothing has been read then."""
    if known.known is not None:
        piece = topics.take_known(body, at, stop, known.known)
        if piece is not None:
            return piece
    end = stop
    if following is not None:
        names = following.known.names if following.known is not None else []
        mark = b',"%b":{' % names[0].encode() if names else b""
        end = body.find(mark, at, min(at + 2 * known.length + PIECE_BYTES, stop)) if mark else -1
    if at >= end:
        return None
    return (yield from topics.take(body[at:end], known.known))


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

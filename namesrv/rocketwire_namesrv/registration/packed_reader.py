"""The body of a registration as a zlib stream, inflated and read in pieces.

Topics stand one behind another, a length and a text each, so a piece begins where the one before
ends.  A piece is read at once by the zero bytes that the length of a short text begins with; that
they are what they seem is checked by the lengths, which have to lead from each topic to the next.
Where topics differ in their name alone, the piece has to be what their names make of it.  Their
names are at hand if the body before was read so, and are not looked for then.

Rules of this file: which topics are read does not depend on how; a body is read to its end or
refused.

Java: ``RegisterBrokerBody``, ``TopicConfig``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add, itemgetter, sub
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.messages.registration import MAX_RATIO, RegisterBrokerBody, body_from_parts
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
from rocketwire_namesrv.registration.chunks import (
    MOST_PIECES,
    PIECES_PER_STEP,
    Digest,
    Piece,
    digest_of,
    same_from_the_back,
)
from rocketwire_namesrv.registration.parsed import RegisteredTopics, registered, settings_of
from rocketwire_namesrv.routes.topic_batches import Run, TopicRuns
from rocketwire_namesrv.routes.topic_names import marks_in

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rocketwire_namesrv.routes.queue_layouts import QueueSettings
    from rocketwire_namesrv.routes.topic_names import KnownNames, NamesInUse

PIECE_BYTES: Final = 16_384
"""Least size of a piece of a table of topics: some 270 topics, a fraction of a millisecond."""

_SHORT: Final = bytes(ITEM_LENGTH_SIZE - 1)
"""What the length of a text below 256 bytes begins with."""
_SHORT_TEXT: Final = _SHORT.decode()
_LENGTHS: Final = tuple(_SHORT_TEXT + chr(length) for length in range(128))
"""The lengths of topics as they are written, where no byte of a topic is beyond ASCII."""
_PATTERNS: Final = 64
"""Patterns that are kept; there is one for each length of what follows a name."""


class PackedImage(NamedTuple):
    """What is kept of a body.

    Attributes:
        digest: of the stream.
        version: by which it was read.
        rest: what it says but for the topics.
        pieces: of its topics.
        tail: bytes behind the topics.
        crc: checksum that the stream was compared with, 0 for none.
    """

    digest: Digest
    version: int
    rest: RegisterBrokerBody
    pieces: tuple[Piece, ...]
    tail: int
    crc: int


def same_stream(former: object, digest: Digest, version: int) -> PackedImage | None:
    """The image of the former body, if this one is the same to the byte."""
    if isinstance(former, PackedImage) and (former.digest, former.version) == (digest, version):
        return former
    return None


def read_packed(
    body: bytes,
    wall_ms: int,
    former: object,
    now: tuple[Digest, int, int],
    max_inflated: int,
    in_use: NamesInUse | None = None,
) -> Generator[None, None, RegisteredTopics]:
    """Reads a body.

    Args:
        body: as sent.
        wall_ms: wall-clock milliseconds.
        former: image of the former body.
        now: digest of this one, the version of its sender, and the checksum that it has been
            compared with.
        max_inflated: most bytes that may come out of it.
        in_use: takes the names of its topics, for the next body.

    Raises:
        DecodeError: it cannot be read.
    """
    digest, version, crc = now
    same = same_stream(former, digest, version)
    if same is not None:
        return _unchanged(same if same.crc == crc else same._replace(crc=crc), wall_ms)
    plain = yield from inflating(body, max_size=max_inflated, max_ratio=MAX_RATIO)
    yield
    with_mappings = version >= MQVersion.V5_0_0
    known = former if isinstance(former, PackedImage) and former.version == version else None
    found = yield from _in_pieces(plain, with_mappings, known, in_use)
    rest = body_from_parts(found.parts)
    image = None
    if len(found.pieces) <= MOST_PIECES + 4 * len(plain) // PIECE_BYTES:
        image = PackedImage(digest, version, rest, found.pieces, found.tail, crc)
    topics = found.topics.by_name
    return registered(
        rest,
        wall_ms,
        len(plain),
        topics=topics,
        keys=topics.each_name,
        settings=found.topics.known.values(),
        count=sum(piece.topics for piece in found.pieces),
        image=image,
        only_changes=found.only_changes,
    )


def _unchanged(image: PackedImage, wall_ms: int) -> RegisteredTopics:
    count = sum(piece.topics for piece in image.pieces)
    return registered(
        image.rest, wall_ms, 0, topics=(), keys=(), count=count, image=image, only_changes=True
    )


class _Found(NamedTuple):
    """What an inflated body says: all but the topics, those that were read, and the pieces of all;
    how many bytes follow the topics."""

    parts: RegisterParts
    topics: PackedTopics
    pieces: tuple[Piece, ...]
    tail: int
    only_changes: bool


class _Known(dict[bytes, "QueueSettings"]):
    """What follows a topic's name -> settings; understood once for all that have the same."""

    def __missing__(self, rest: bytes) -> QueueSettings:
        settings = self[rest] = settings_of(decode_topic(decode_utf8(b"- " + rest)))
        return settings


class PackedTopics:
    """What has been read of the topics: their settings by name, and the pieces.

    Args:
        in_use: takes the names of topics that differ in nothing else, for the next body; None where
            some of the body is not read, which may have the same names.
    """

    __slots__ = ("by_name", "in_use", "known", "pieces")

    def __init__(self, in_use: NamesInUse | None) -> None:
        self.in_use = in_use
        self.by_name = TopicRuns()
        self.known = _Known()
        self.pieces: list[Piece] = []

    def read(
        self, plain: bytes, at: int, count: int, former: Sequence[Piece] = ()
    ) -> Generator[None, None, int]:
        """Reads so many topics; returns the position behind them.

        Args:
            plain: inflated body.
            at: where they begin.
            count: how many.
            former: the pieces that were there in the former body.

        Raises:
            DecodeError: there are not so many, or one of them cannot be read.
        """
        names = iter([piece.known for piece in former])
        known = next(names, None)
        while count:
            piece = (
                self.take_known(plain, at, count, known)
                or self.take_alike(plain, at, count)
                or self._take_any(plain, at, count, known)
            )
            if piece.known is not known:  # what follows is not what followed
                names = iter(())
            known = next(names, None)
            self.pieces.append(piece)
            count -= piece.topics
            at += piece.length
            yield
        return at

    def take_known(
        self, plain: bytes, at: int, count: int, known: KnownNames | None
    ) -> Piece | None:
        """Reads the short topics with these names, if they differ in nothing else."""
        if known is None or not known.names or not known.are_plain or len(known.names) > count:
            return None
        names = known.names
        begin = at + ITEM_LENGTH_SIZE
        rest = (
            plain[begin + len(names[0]) : begin + plain[begin - 1]] if begin <= len(plain) else b""
        )
        lengths = _LENGTHS[len(rest) :]
        if not rest.isascii() or not rest.startswith(b" "):
            return None
        text = rest.decode()
        try:
            heads = list(map(lengths.__getitem__, map(len, names)))
        except IndexError:
            return None
        data = (text.join(map(add, heads, names)) + text).encode()
        if not plain.startswith(data, at):
            return None
        self.by_name.add_known(Run(names, [self.known[rest[1:]]], known))
        return Piece(len(data), digest_of(data), len(names), 0, known)

    def take_alike(self, plain: bytes, at: int, count: int) -> Piece | None:
        """Reads a piece of short topics that differ in their name alone; None where they do not."""
        cut = plain.find(_SHORT, at + PIECE_BYTES)
        chunk = plain[at:cut]
        if cut < 0 or not chunk.isascii() or b" " not in chunk:
            return None
        text = chunk.decode()
        rest = text[text.find(" ") : text.find(_SHORT_TEXT, 1)]
        names: list[str] = _pattern(len(rest)).findall(text)
        lengths = _LENGTHS[len(rest) :]
        if not names or len(names) > count or max(map(len, names)) >= len(lengths):
            return None
        heads = map(lengths.__getitem__, map(len, names))
        if rest.join(map(add, heads, names)) + rest != text:
            return None
        together = "".join(names)
        marks = marks_in(together)
        known = None
        if self.in_use is not None and marks is not None:
            known = self.in_use.shared(names, together, marks)
            names = known.names
        if self.by_name.add(Run(names, [self.known[rest[1:].encode()]], known)) != len(names):
            known = None
        return Piece(cut - at, digest_of(chunk), len(names), 0, known)

    def _take_any(self, plain: bytes, at: int, count: int, known: KnownNames | None) -> Piece:
        """Reads a piece of any topics."""
        items, end = _short_items(plain, at, count) or _any_items(plain, at, count)
        known = self.take(items, known)
        return Piece(end - at, digest_of(plain[at:end]), len(items), 0, known)

    def take(self, items: Sequence[bytes], known: KnownNames | None = None) -> KnownNames | None:
        """Understands topics; returns the names that were known if these are theirs.

        Raises:
            DecodeError: that cannot be done.
        """
        split = [item.partition(b" ") for item in items]
        heads, _, rests = zip(*split, strict=True)
        settings = list(map(self.known.__getitem__, rests))
        names: list[str] = decode_utf8(b"\n".join(heads)).split("\n")
        if len(names) != len(items):  # some name has more than one line
            names = [decode_utf8(head) for head in heads]
        if known is not None and known.names == names:
            self.by_name.add_known(Run(known.names, settings, known))
            return known
        self.by_name.add(Run(names, settings))
        return None


@lru_cache(_PATTERNS)
def _pattern(rest: int) -> re.Pattern[str]:
    """Finds the names of short topics, with that many characters behind each.  Nothing in it is
    tried twice."""
    return re.compile(rf"(?s){_SHORT_TEXT}.([^ ]*+).{{{rest}}}")


def _short_items(plain: bytes, at: int, count: int) -> tuple[list[bytes], int] | None:
    """The texts of a piece, ``count`` at most, and the position behind them; None unless all of
    them are short."""
    cut = plain.find(_SHORT, at + PIECE_BYTES)
    items = plain[at : cut if cut >= 0 else len(plain)].split(_SHORT, count + 1)[: count + 1]
    first = items.pop(0)
    if first or not items or b"" in items:
        return None
    sizes = list(map(len, items))  # with the byte of the length that is not zero
    if set(map(sub, sizes, map(itemgetter(0), items))) != {1}:
        return None
    end = at + sum(sizes) + len(_SHORT) * len(sizes)
    return [item[1:] for item in items], end


def _any_items(plain: bytes, at: int, count: int) -> tuple[list[bytes], int]:
    """The same of any texts, one after another."""
    items: list[bytes] = []
    limit = at + PIECE_BYTES
    while len(items) < count and at < limit:
        item, at = parse_topic_item(plain, at)
        items.append(item)
    return items, at


def _in_pieces(
    plain: bytes, with_mappings: bool, former: PackedImage | None, in_use: NamesInUse | None
) -> Generator[None, None, _Found]:
    """Reads what differs from the former body.

    Topics are read one behind another until there are as many as the body says, so that what is
    taken for the end of the former table can only be wrong in that nothing is gained by it.
    """
    known, tail = ((), 0) if former is None else (former.pieces, former.tail)
    (data_version, declared), at = parse_register_head(plain)
    left = max(0, declared)
    front, at = yield from _same_from_the_front(plain, at, left, known)
    left -= sum(piece.topics for piece in front)
    behind = known[len(front) :]
    back, begin = yield from same_from_the_back(plain, at, len(plain) - tail, behind)
    behind = behind[: len(behind) - len(back)]
    topics = PackedTopics(None if front or back else in_use)
    between = left - sum(piece.topics for piece in back)
    at = yield from topics.read(plain, at, max(0, between), behind)
    if between < 0 or at != begin:  # these were not what they seemed
        back = []
        at = yield from topics.read(plain, at, min(left, left - between))
    at += sum(piece.length for piece in back)
    parts = parse_register_tail(plain, at, with_mappings=with_mappings)
    if topics.by_name.has_repeated():
        topics.pieces = [piece._replace(known=None) for piece in topics.pieces]
    pieces = (*front, *topics.pieces, *reversed(back))
    rest = RegisterParts(data_version, [], *parts)
    return _Found(rest, topics, pieces, len(plain) - at, bool(front or back))


def _same_from_the_front(
    plain: bytes, at: int, count: int, known: Sequence[Piece]
) -> Generator[None, None, tuple[list[Piece], int]]:
    """The pieces with which the topics begin, no more topics than there are, and the position
    behind them."""
    same: list[Piece] = []
    for piece in known:
        end = at + piece.length
        count -= piece.topics
        if count < 0 or end > len(plain) or digest_of(plain[at:end]) != piece.digest:
            break
        same.append(piece)
        at = end
        if len(same) % PIECES_PER_STEP == 0:
            yield
    return same, at

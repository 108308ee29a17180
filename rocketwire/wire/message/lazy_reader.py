"""Stored messages behind one that is like them, read at half the price: nearly all messages of an answer.

Rules of this file: a message is read here only if it is of the same topic as the one before, in the first layout, and neither
compressed, nor an inner batch, nor with addresses of IPv6; every length of it is checked.  Whatever else it is, it is left to the
parser, which says what is wrong with it.  So the one is as good as the other; a test holds that for bytes with damage anywhere.
What few ask for stays in its bytes until somebody does (``Unread``): nothing about it can be wrong.
Messages of one size behind each other, as most programs send them, are held against the first and taken apart by a few calls for
all of them, as rows of a table.
"""

from __future__ import annotations

from functools import lru_cache
from operator import lt
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.flags import MessageSysFlag
from rocketwire.wire.layouts.functions import MAGIC_V1
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.properties import MAX_PROPERTIES_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD: Final = Struct(">lLlllqqlq8sq8slql")
"""From the size to the length of the body, as ``declarations`` has it; address and port of each host are in one."""

_ASKED: Final = Struct(">lL12xq8xl12xH14xH14xl")
"""The same, without what is read later; of ports the half that is zero."""

_CHECKED: Final = "Q28xl12xH14xH14xl%dx%ds%dx"
"""The same of a row: what is as in the others, size and layout in one; around its body, its ending and its properties."""

_KEPT: Final = "%ds%ds%dx%ds"
"""A row: what is read later, body, ending, properties."""

_OFFSET: Final = "20xq%dx"
"""A row: its offset in the queue, and what is behind that."""

_LATER: Final = (
    "store_size",
    "body_crc",
    "queue_id",
    "flag",
    "commit_log_offset",
    "sys_flag",
    "born_timestamp",
    "born_host",
    "store_timestamp",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
)
_LATER_STRUCT: Final = Struct(">l4xlll8xqlq8sq8slq4x")
_HOSTS: Final = (_LATER.index("born_host"), _LATER.index("store_host"))
_ADDRESS: Final = 4

_SAME: Final = 8
"""Bytes of size and layout."""

_LENGTH: Final = 2
SMALLEST: Final = _HEAD.size + 1 + _LENGTH
"""Bytes of a message without topic, body and properties."""

_MOST_ROWS: Final = 32
"""Rows that are read at once: as many messages as brokers hand out at once."""

_UNUSUAL: Final = int(
    MessageSysFlag.COMPRESSED
    | MessageSysFlag.INNER_BATCH
    | MessageSysFlag.NEED_UNWRAP
    | MessageSysFlag.BORNHOST_V6
    | MessageSysFlag.STOREHOSTADDRESS_V6
)


class Unread:
    """The places of a stored message's values; those that were not filled are read when somebody asks for one of them."""

    __slots__ = (
        *_LATER,
        "_head",
        "body",
        "properties",
        "queue_offset",
        "topic",
    )


def read_late(cls: type[Unread]) -> None:
    """Have what was left unread be read when the first of it is asked for."""
    slots = [vars(Unread)[name] for name in _LATER]

    def read(one: object) -> None:
        values: list[object] = [*_LATER_STRUCT.unpack(head(one))]
        for at in _HOSTS:
            values[at] = _host(values[at])
        for slot, value in zip(slots, values, strict=True):
            slot.__set__(one, value)

    def late(get: Callable[[object], object]) -> Callable[[object], object]:
        def value(one: object) -> object:
            try:
                return get(one)
            except AttributeError:
                read(one)
            return get(one)

        return value

    head = vars(Unread)["_head"].__get__
    for name, slot in zip(_LATER, slots, strict=True):
        setattr(cls, name, property(late(slot.__get__), slot.__set__))


def _host(raw: Any) -> Host:
    return Host(raw[:_ADDRESS], int.from_bytes(raw[_ADDRESS:]))


class Known:
    """What messages that lie together have in common, as far as it was seen; for those of the next answer, too.

    Attributes:
        ascends: whether each offset of what was last read is larger than the one before; False where that was not seen by the way.
        bodies: bytes of the bodies of all that was last read; if ``was_usual``.
        endings: the topic behind its length and the length of the properties, by how much longer than its body a message is.
        number: how many were last read; if ``was_usual``.
        raw_topic: the topic behind its length.
        size: of those that were last read as rows.
        topic: the topic.
        was_usual: whether all that was last read is neither compressed, nor an inner batch, nor with addresses of IPv6.
    """

    __slots__ = (
        "ascends",
        "bodies",
        "endings",
        "number",
        "raw_topic",
        "size",
        "topic",
        "was_usual",
    )

    def __init__(self) -> None:
        """Nothing was seen."""
        self.ascends = False
        self.bodies = self.number = 0
        self.endings: dict[int, bytes] = {}
        self.raw_topic = b""
        self.size = 0
        self.topic = ""
        self.was_usual = False

    def learn(self, data: bytes, at: int, topic: str) -> bool:
        """Takes note of the message at a position, which was read; returns whether those behind it may be like it.

        Args:
            data: messages.
            at: where that one begins.
            topic: its topic.
        """
        _, magic, _, _, _, _, _, sys_flag, _, _, _, _, _, _, size = _HEAD.unpack_from(data, at)
        if magic != MAGIC_V1 or sys_flag & _UNUSUAL:
            return False
        begin = at + _HEAD.size + size
        raw_topic = data[begin : begin + 1 + data[begin]]
        if raw_topic != self.raw_topic:
            self.raw_topic = raw_topic
            self.endings.clear()
        self.topic = topic
        return True

    def ending(self, longer: int) -> bytes:
        """What follows the body of a message that is so much longer than it; nothing where that cannot be."""
        properties = longer - _HEAD.size - len(self.raw_topic) - _LENGTH
        if not 0 <= properties <= MAX_PROPERTIES_BYTES:
            return b""
        ending = self.endings[longer] = self.raw_topic + properties.to_bytes(_LENGTH)
        return ending


class _Rows(NamedTuple):
    """What takes so many messages of one size apart, with bodies and endings of one length.

    Attributes:
        checked: what has to be as in the first of them.
        kept: what is read later, body and properties of each.
        offsets: of each in the queue.
    """

    checked: Struct
    kept: Struct
    offsets: Struct


@lru_cache(maxsize=256)
def _rows(number: int, size: int, length: int, between: int) -> _Rows:
    head = _HEAD.size
    properties = size - head - length - between
    checked = _CHECKED % (length, between, properties)
    kept = _KEPT % (head, length, between, properties)
    offset = _OFFSET % (size - 28)
    return _Rows(*(Struct(">" + number * row) for row in (checked, kept, offset)))


def _row_reader(cls: type[Any], draft: type[Any]) -> Callable[..., tuple[int, bool]]:
    """A function that adds to a list the messages from a position on that have this size and begin as the first of them, so many at
    most, unless one of them differs from what they have in common; it returns how many, and whether each offset is larger than the
    one before."""

    def read_rows(
        data: bytes, at: int, most: int, size: int, topic: str, found: list[Any],
        sys_flag: int, length: int, ending: bytes,
    ) -> tuple[int, bool]:  # fmt: skip
        row = (size << 32 | MAGIC_V1, sys_flag, 0, 0, length, ending)
        rows = _rows(most, size, length, len(ending))
        if rows.checked.unpack_from(data, at) != row * most:
            fewer = _alike(data, at, size, most)
            if not 1 < fewer < most:
                return 0, False
            return read_rows(data, at, fewer, size, topic, found, sys_flag, length, ending)
        add = found.append
        parts = iter(rows.kept.unpack_from(data, at))
        offsets = rows.offsets.unpack_from(data, at)
        for queue_offset, head, body, properties in zip(offsets, parts, parts, parts, strict=True):
            one = draft()
            one.topic = topic
            one.body = body or None
            one.properties = properties or None
            one.queue_offset = queue_offset
            one._head = head
            one.__class__ = cls
            add(one)
        usual = offsets == tuple(range(offsets[0], offsets[0] + most))
        return most, usual or all(map(lt, offsets, offsets[1:]))

    return read_rows


def _alike(data: bytes, at: int, size: int, most: int) -> int:
    """How many messages of a size behind each other begin as the first one does."""
    same, number = data[at : at + _SAME], 1
    while number < most and data.startswith(same, at + number * size):
        number += 1
    return number


def alike_reader(cls: type[Any]) -> Callable[[bytes, int, Known, list[Any]], int]:
    """A function that adds to a list the messages from a position on, until one is unlike; it returns where that one begins.

    Args:
        cls: of the messages: ``StoredMessage``, whose properties may be left as bytes.
    """
    draft: Any = type("Draft", (Unread,), {"__slots__": ()})
    read_rows = _row_reader(cls, draft)
    unpack, head = _ASKED.unpack_from, _HEAD.size

    def read_alike(data: bytes, at: int, known: Known, found: list[Any]) -> int:
        ending_of, topic = known.endings.get, known.topic
        add, starts, end = found.append, data.startswith, len(data)
        between = len(known.raw_topic) + _LENGTH
        longer: int | None = None
        ending, last, in_rows = b"", known.size, True
        bodies, newest, ascends = 0, -1, True
        while at + SMALLEST <= end:
            size, magic, queue_offset, sys_flag, born, store, length = unpack(data, at)
            stop = at + size
            if magic != MAGIC_V1 or sys_flag & _UNUSUAL or born or store:
                break
            if length < 0 or stop > end:
                break
            rest = size - length
            if rest != longer:
                longer = rest
                if not (ending := ending_of(rest) or known.ending(rest)):
                    break
            body = at + head
            behind = body + length
            if not starts(ending, behind):
                break
            if size == last and in_rows and starts(data[at : at + _SAME], stop):
                most = min((end - at) // size, _MOST_ROWS)
                rows, rise = read_rows(data, at, most, size, topic, found, sys_flag, length, ending)
                if rows:
                    known.size = size
                    at += rows * size
                    bodies += rows * length
                    ascends = ascends and rise and queue_offset > newest
                    newest = found[-1].queue_offset
                    continue
                in_rows = False
            last = size
            one = draft()
            one.topic = topic
            one.body = data[body:behind] or None
            one.properties = data[behind + between : stop] or None
            one.queue_offset = queue_offset
            one._head = data[at:body]
            one.__class__ = cls
            add(one)
            at = stop
            bodies += length
            ascends = ascends and queue_offset > newest
            newest = queue_offset
        known.ascends, known.bodies = ascends, bodies
        return at

    return read_alike

"""Stored messages behind one that is like them, read at half the price: nearly all messages of an answer.

Rules of this file: a message is read here only if it is of the same topic as the one before, of hosts that were seen, in the first
layout, and neither compressed nor with addresses of IPv6; every length of it is checked.  Whatever else it is, it is left to the
parser, which says what is wrong with it.  So the one is as good as the other; a test holds that for bytes with damage anywhere.
Numbers that few ask for stay in their bytes until somebody does (``Unread``): nothing about them can be wrong.
Messages of one size behind each other, as most programs send them, are taken apart by one call, as rows of a table.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.flags import MessageSysFlag
from rocketwire.wire.grammar import MAGIC_V1
from rocketwire.wire.properties import MAX_PROPERTIES_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from rocketwire.wire.host import Host

    _Common: TypeAlias = tuple[int, bytes, bytes, int, bytes]

_HEAD: Final = Struct(">lLlllqqlq8sq8slql")
"""From the size to the length of the body, as ``declarations`` has it; address and port of each host are in one."""

_ASKED: Final = Struct(">lL12xq8xl8x8s8x8s12xl")
"""The same, without what is read later."""

_ROW: Final = ">Q12xq8xl8x8s8x8s12xl%ds%ds%ds"
"""The same, size and layout in one, with what follows: a body, an ending and properties of these lengths."""

_LATER: Final = (
    "store_size",
    "body_crc",
    "queue_id",
    "flag",
    "commit_log_offset",
    "born_timestamp",
    "store_timestamp",
    "reconsume_times",
    "prepared_transaction_offset",
)
_LATER_STRUCT: Final = Struct(">l4xlll8xq4xq8xq8xlq4x")

_SAME: Final = 8
"""Bytes of size and layout."""

_LENGTH: Final = 2
SMALLEST: Final = _HEAD.size + 1 + _LENGTH
"""Bytes of a message without topic, body and properties."""

_MOST_HOSTS: Final = 256
"""Hosts that are kept; endings are never more than there are lengths of properties."""

_UNUSUAL: Final = int(
    MessageSysFlag.COMPRESSED | MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6
)


class Unread:
    """The places of a stored message's values; those that were not filled are read when somebody asks for one of them."""

    __slots__ = (
        *_LATER,
        "_head",
        "body",
        "born_host",
        "properties",
        "queue_offset",
        "store_host",
        "sys_flag",
        "topic",
    )


def read_late(cls: type[Unread]) -> None:
    """Have the numbers that were left unread be read when the first of them is asked for."""
    slots = [vars(Unread)[name] for name in _LATER]

    def read(one: object) -> None:
        for slot, value in zip(slots, _LATER_STRUCT.unpack(head(one)), strict=True):
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


class Known:
    """What messages that lie together have in common, as far as it was seen; for those of the next answer, too.

    Attributes:
        endings: the topic behind its length and the length of the properties, by how much longer than its body a message is.
        hosts: of senders and brokers, by how they are written.
        raw_topic: the topic behind its length.
        size: of those that were last read as rows.
        topic: the topic.
    """

    __slots__ = ("_row", "_row_lengths", "endings", "hosts", "raw_topic", "size", "topic")

    def __init__(self) -> None:
        """Nothing was seen."""
        self.endings: dict[int, bytes] = {}
        self.hosts: dict[bytes, Host] = {}
        self.raw_topic = b""
        self.size = 0
        self.topic = ""
        self._row_lengths = (0, 0, 0)
        self._row = Struct(_ROW % self._row_lengths)

    def learn(self, data: bytes, at: int, shared: tuple[str, Host, Host]) -> bool:
        """Takes note of the message at a position, which was read; returns whether those behind it may be like it.

        Args:
            data: messages.
            at: where that one begins.
            shared: its topic, and the hosts of sender and broker.
        """
        if len(self.hosts) > _MOST_HOSTS:
            self.hosts.clear()
        _, magic, _, _, _, _, _, sys_flag, _, born, _, store, _, _, size = _HEAD.unpack_from(data, at)  # fmt: skip
        if magic != MAGIC_V1 or sys_flag & _UNUSUAL:
            return False
        topic = at + _HEAD.size + size
        raw_topic = data[topic : topic + 1 + data[topic]]
        if raw_topic != self.raw_topic:
            self.raw_topic = raw_topic
            self.endings.clear()
        self.topic, self.hosts[born], self.hosts[store] = shared
        return True

    def ending(self, longer: int) -> bytes:
        """What follows the body of a message that is so much longer than it; nothing where that cannot be."""
        properties = longer - _HEAD.size - len(self.raw_topic) - _LENGTH
        if not 0 <= properties <= MAX_PROPERTIES_BYTES:
            return b""
        ending = self.endings[longer] = self.raw_topic + properties.to_bytes(_LENGTH)
        return ending

    def row(self, size: int, length: int) -> Struct:
        """What takes messages of one size apart, with bodies of one length."""
        self.size = size
        between = len(self.raw_topic) + _LENGTH
        lengths = (length, between, size - _HEAD.size - length - between)
        if lengths != self._row_lengths:
            self._row_lengths, self._row = lengths, Struct(_ROW % lengths)
        return self._row


def _row_reader(cls: type[Any], draft: type[Any]) -> Callable[..., int]:
    """A function that adds to a list the messages from a position on that have this size, until one differs from what they have in
    common; it returns where that one begins."""
    head = _HEAD.size

    def read_rows(
        data: bytes, at: int, size: int, known: Known, found: list[Any], common: _Common
    ) -> int:
        sys_flag, born, store, length, ending = common
        start = size << 32 | MAGIC_V1
        born_host, store_host, topic = known.hosts[born], known.hosts[store], known.topic
        add, most = found.append, (len(data) - at) // size
        whole = memoryview(data)[at : at + most * size]
        for (
            its_start,
            queue_offset,
            its_sys_flag,
            its_born,
            its_store,
            its_length,
            body,
            its_ending,
            properties,
        ) in known.row(size, length).iter_unpack(whole):
            if (
                its_start != start
                or its_length != length
                or its_sys_flag != sys_flag
                or its_ending != ending
                or its_born != born
                or its_store != store
            ):
                break
            one = draft()
            one.topic = topic
            one.body = body or None
            one.properties = properties or None
            one.queue_offset = queue_offset
            one.sys_flag = sys_flag
            one.born_host = born_host
            one.store_host = store_host
            one._head = data[at : at + head]
            one.__class__ = cls
            add(one)
            at += size
        return at

    return read_rows


def alike_reader(cls: type[Any]) -> Callable[[bytes, int, Known, list[Any]], int]:
    """A function that adds to a list the messages from a position on, until one is unlike; it returns where that one begins.

    Args:
        cls: of the messages: ``StoredMessage``, whose properties may be left as bytes.
    """
    draft: Any = type("Draft", (Unread,), {"__slots__": ()})
    read_rows = _row_reader(cls, draft)
    unpack, head = _ASKED.unpack_from, _HEAD.size

    def read_alike(data: bytes, at: int, known: Known, found: list[Any]) -> int:
        host_of, ending_of, topic = known.hosts.get, known.endings.get, known.topic
        add, starts, end = found.append, data.startswith, len(data)
        between = len(known.raw_topic) + _LENGTH
        born, store, longer, ending, last = b"", b"", 0, b"", known.size
        born_host: Host | None = None
        store_host: Host | None = None
        while at + SMALLEST <= end:
            size, magic, queue_offset, sys_flag, raw_born, raw_store, length = unpack(data, at)
            stop = at + size
            if magic != MAGIC_V1 or sys_flag & _UNUSUAL or length < 0 or stop > end:
                break
            if size - length != longer:
                longer = size - length
                if not (ending := ending_of(longer) or known.ending(longer)):
                    break
            body = at + head
            behind = body + length
            if not starts(ending, behind):
                break
            if raw_born != born and (born_host := host_of(born := raw_born)) is None:
                break
            if raw_store != store and (store_host := host_of(store := raw_store)) is None:
                break
            if size == last and starts(data[at : at + _SAME], stop):
                common = (sys_flag, born, store, length, ending)
                at = read_rows(data, at, size, known, found, common)
                last = 0
                continue
            last = size
            one = draft()
            one.topic = topic
            one.body = data[body:behind] or None
            one.properties = data[behind + between : stop] or None
            one.queue_offset = queue_offset
            one.sys_flag = sys_flag
            one.born_host = born_host
            one.store_host = store_host
            one._head = data[at:body]
            one.__class__ = cls
            add(one)
            at = stop
        return at

    return read_alike

"""Stored messages behind one that is like them, read at half the price: nearly all messages of an answer.

Rules of this file: a message is read here only if it is of the same topic as the one before, of hosts that were seen, in the first
layout, and neither compressed nor with addresses of IPv6; every length of it is checked.  Whatever else it is, it is left to the
parser, which says what is wrong with it.  So the one is as good as the other; a test holds that for bytes with damage anywhere.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from rocketwire.flags import MessageSysFlag
from rocketwire.wire.drafts import draft_of
from rocketwire.wire.grammar import MAGIC_V1

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.host import Host

_HEAD: Final = Struct(">lLlllqqlq8sq8slql")
"""From the size to the length of the body, as ``declarations`` has it; address and port of each host are in one."""

_LENGTH: Final = 2
SMALLEST: Final = _HEAD.size + 1 + _LENGTH
"""Bytes of a message without topic, body and properties."""

_UNUSUAL: Final = int(
    MessageSysFlag.COMPRESSED | MessageSysFlag.BORNHOST_V6 | MessageSysFlag.STOREHOSTADDRESS_V6
)
_BELOW_ZERO: Final = 0x80


class Known:
    """What messages that lie together have in common, as far as it was seen.

    Attributes:
        hosts: of senders and brokers, by how they are written.
        raw_topic: the topic behind its length.
        topic: the topic.
    """

    __slots__ = ("hosts", "raw_topic", "topic")

    def __init__(self) -> None:
        """Nothing was seen."""
        self.hosts: dict[bytes, Host] = {}
        self.raw_topic = b""
        self.topic = ""

    def learn(self, data: bytes, at: int, shared: tuple[str, Host, Host]) -> bool:
        """Takes note of the message at a position, which was read; returns whether those behind it may be like it.

        Args:
            data: messages.
            at: where that one begins.
            shared: its topic, and the hosts of sender and broker.
        """
        _, magic, _, _, _, _, _, sys_flag, _, born, _, store, _, _, size = _HEAD.unpack_from(data, at)  # fmt: skip
        if magic != MAGIC_V1 or sys_flag & _UNUSUAL:
            return False
        topic = at + _HEAD.size + size
        self.raw_topic = data[topic : topic + 1 + data[topic]]
        self.topic, self.hosts[born], self.hosts[store] = shared
        return True


def alike_reader(cls: type[Any]) -> Callable[[bytes, int, Known, list[Any]], int]:
    """A function that adds to a list the messages from a position on, until one is unlike; it returns where that one begins.

    Args:
        cls: of the messages: ``StoredMessage``, whose properties may be left as bytes.
    """
    draft, new, unpack, head = draft_of(cls), object.__new__, _HEAD.unpack_from, _HEAD.size

    def read_alike(data: bytes, at: int, known: Known, found: list[Any]) -> int:
        host_of, raw_topic, topic = known.hosts.get, known.raw_topic, known.topic
        add, starts, end = found.append, data.startswith, len(data)
        between = len(raw_topic) + _LENGTH
        born, store = b"", b""
        born_host: Host | None = None
        store_host: Host | None = None
        while at + SMALLEST <= end:
            (
                size,
                magic,
                body_crc,
                queue_id,
                flag,
                queue_offset,
                commit_log_offset,
                sys_flag,
                born_timestamp,
                raw_born,
                store_timestamp,
                raw_store,
                reconsume_times,
                prepared_transaction_offset,
                length,
            ) = unpack(data, at)
            stop = at + size
            body = at + head
            behind = body + length
            tail: int = behind + between
            if (
                magic != MAGIC_V1
                or sys_flag & _UNUSUAL
                or length < 0
                or not tail <= stop <= end
                or not starts(raw_topic, behind)
                or (high := data[tail - 2]) >= _BELOW_ZERO
                or tail + (high << 8 | data[tail - 1]) != stop
            ):
                break
            if raw_born != born:
                born, born_host = raw_born, host_of(raw_born)
            if raw_store != store:
                store, store_host = raw_store, host_of(raw_store)
            if born_host is None or store_host is None:
                break
            one = new(draft)
            one.topic = topic
            one.body = data[body:behind] or None
            one.flag = flag
            one.properties = data[tail:stop] or None
            one.queue_id = queue_id
            one.queue_offset = queue_offset
            one.commit_log_offset = commit_log_offset
            one.store_size = size
            one.sys_flag = sys_flag
            one.body_crc = body_crc
            one.born_timestamp = born_timestamp
            one.born_host = born_host
            one.store_timestamp = store_timestamp
            one.store_host = store_host
            one.reconsume_times = reconsume_times
            one.prepared_transaction_offset = prepared_transaction_offset
            one.__class__ = cls
            add(one)
            at = stop
        return at

    return read_alike

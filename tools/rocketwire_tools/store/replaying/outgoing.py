"""Stored messages in the form in which they are sent once more.

A consumer gets the same body, flag, born time and properties, unique key included.  Bodies stay
compressed as they are.  Properties are left out if a broker sets them itself, or if they would make
it hold the message back: a message that was delayed or committed once is sent as a plain one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.properties import encode_properties
from rocketwire_tools.store.engine.rows import INNER_BATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.store.engine.rows import Rows

SET_BY_BROKERS: Final = frozenset(
    {
        const.CLUSTER,
        const.MSG_REGION,
        const.TRACE_ON,
        const.INNER_NUM,
        const.INNER_BASE,
        const.INNER_MULTI_QUEUE_OFFSET,
        const.POP_CK,
        const.CRC32,
    }
)
HELD_BACK: Final = frozenset({const.DELAY, const.TRANSACTION_PREPARED})
TIMED: Final = frozenset({const.TIMER_DELAY_SEC, const.TIMER_DELAY_MS, const.TIMER_DELIVER_MS})
"""Brokers hold a message back for these unless it has ``TIMER_OUT_MS``: then it was due once."""

_BODY_FLAGS: Final = int(
    MessageSysFlag.COMPRESSED | MessageSysFlag.MULTI_TAGS | MessageSysFlag.COMPRESSION_TYPE_MASK
)
NO_BATCH: Final = -1  # batch index of a message that is not in an inner batch


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayMessage:
    physical_offset: int  # in the commit log
    batch_index: int  # number in its inner batch, or ``NO_BATCH``
    topic: str  # where consumers saw it
    queue_id: int
    queue_offset: int
    unique_key: str  # of the producer; empty without one
    body: bytes  # as stored
    born: int  # milliseconds since 1970
    flag: int  # the producer's
    sys_flag: int  # compression of the body
    properties: str  # to be sent, encoded

    @property
    def position(self) -> tuple[int, int]:
        return self.physical_offset, self.batch_index

    @property
    def name(self) -> str:
        return f"{self.topic}:{self.queue_id}:{self.queue_offset} at {self.physical_offset}"

    def is_stored_as(self, message: StoredMessage) -> bool:
        """Whether a message of the target is this one: key, born time, flag and body are equal.

        Brokers of 5.x give a key to a message that was sent without one.
        """
        key = (message.properties or {}).get(const.UNIQ_KEY, "")
        return (
            (key == self.unique_key or not self.unique_key)
            and message.born_timestamp == self.born
            and message.flag == self.flag
            and message.body_crc == crc32(self.body)
        )


def choose_properties(properties: Mapping[str, str]) -> dict[str, str]:
    dropped = SET_BY_BROKERS | HELD_BACK
    if const.TIMER_OUT_MS not in properties:
        dropped |= TIMED
    return {name: value for name, value in properties.items() if name not in dropped}


def messages_of(rows: Rows) -> Iterator[ReplayMessage | None]:
    numbers = {
        name: rows.column(name).tolist()
        for name in ("commit_log_offset", "queue_id", "queue_offset", "flag", "sys_flag")
    }
    born = rows.column("born_timestamp").tolist()
    topics, indexes = rows.column("topic"), rows.batch_indexes
    bodies = rows.bodies if rows.are_unfolded else []
    stored, properties = rows.stored_bodies, rows.properties
    for row, index in enumerate(indexes):
        sys_flag: int = numbers["sys_flag"][row]
        if index is None and sys_flag & INNER_BATCH == INNER_BATCH:
            yield None
            continue
        yield ReplayMessage(
            physical_offset=numbers["commit_log_offset"][row],
            batch_index=NO_BATCH if index is None else index,
            topic=topics[row],
            queue_id=numbers["queue_id"][row],
            queue_offset=numbers["queue_offset"][row],
            unique_key=properties[row].get(const.UNIQ_KEY, ""),
            body=stored[row] if index is None else bodies[row] or b"",
            born=born[row],
            flag=numbers["flag"][row],
            sys_flag=sys_flag & _BODY_FLAGS if index is None else 0,
            properties=encode_properties(choose_properties(properties[row])),
        )

"""Unique keys of ``ids=stable``: equal for equal rows, whenever and wherever a task writes them.

A key is a digest of the row and of its scope, in the form of Java's keys. With a column ``id``, the
digest is of topic and id only. Without it, the digest is of all columns, of the scope (query and
micro-batch, or run) and the partition, and of the number of equal rows before it in the partition.
The position of a row does not count, because rows of a shuffled partition arrive in any order.

Without the column ``id`` a key is stable if Spark computes the same rows in the same partition
again. That does not hold for values such as ``rand()``, or for another number of partitions.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire_tools.spark.topics.sink.attempts import SinkError

if TYPE_CHECKING:
    from rocketwire.client.message import Message

DIGEST_SIZE: Final = 12  # Bytes of a digest: what a key of 16 bytes has, without its time

MAX_ROWS: Final = 2_000_000
"""Maximum rows of a partition without the column ``id``; their digests are kept in memory."""

_encode: Final = msgspec.msgpack.Encoder().encode


def format_key(digest: bytes) -> str:
    """Return a digest as a unique key of Java's form.

    The time in it is the start of a month. Java's tools search from that time on, and so find the
    message in the month in which it was stored.
    """
    return (digest[:10] + b"\x00\x00\x00\x00" + digest[10:]).hex().upper()


class StableKeys:
    def __init__(self, scope: str, partition: int, *, max_rows: int = MAX_ROWS) -> None:
        """Start before the first row.

        Args:
            scope: what the rows belong to: a micro-batch of a query, or a run.
            partition: number of the partition.
            max_rows: maximum number of rows without an id.
        """
        self._of_rows = hashlib.blake2b(_encode(("row", scope, partition)), digest_size=DIGEST_SIZE)
        self._of_ids = hashlib.blake2b(_encode(("id",)), digest_size=DIGEST_SIZE)
        self._seen: set[bytes] = set()
        self._repeats: dict[bytes, int] = {}
        self._max_rows = max_rows

    def of_id(self, topic: str, row_id: str) -> str:
        digest = self._of_ids.copy()
        digest.update(_encode((topic, row_id)))
        return format_key(digest.digest())

    def of_message(self, message: Message) -> str:
        content: tuple[Any, ...] = (
            message.topic,
            message.body,
            message.tags,
            message.keys,
            sorted(message.properties.items()),
            message.sharding_key,
            message.delay_seconds,
            message.deliver_millis,
        )
        hasher = self._of_rows.copy()
        hasher.update(_encode(content))
        digest = hasher.digest()
        if digest in self._seen:
            self._repeats[digest] = repeat = self._repeats.get(digest, 0) + 1
            hasher.update(_encode(repeat))
            return format_key(hasher.digest())
        if len(self._seen) >= self._max_rows:
            raise SinkError(
                f"ids=stable: a partition has more than {self._max_rows} rows without an id: "
                "repartition the frame, or add a column 'id'"
            )
        self._seen.add(digest)
        return format_key(digest)

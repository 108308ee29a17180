"""A commit log in memory, and messages for a store."""

from collections.abc import Sequence

from rocketwire.wire.message.host import Host
from rocketwire_broker.storage.log_store import LogStore
from rocketwire_broker.storage.message import Message
from rocketwire_broker.storage.store import UnwritableError

HOST = Host(b"\x7f\0\0\x01", 10911)


class LogAtHand:
    """A log in memory.

    Attributes:
        reads: how often it was read.
    """

    def __init__(self, file_size: int = 1_000) -> None:
        self.first = self.end = self.reads = 0
        self.file_size = file_size
        self.files: dict[int, bytearray] = {}
        self.is_full = False

    def append(self, physical: int, data: bytes) -> None:
        if self.is_full:
            raise UnwritableError("full")
        start = physical - physical % self.file_size
        file = self.files.setdefault(start, bytearray(self.file_size))
        assert physical == self.end or physical == start
        file[physical - start : physical - start + len(data)] = data
        assert len(file) == self.file_size
        self.end = physical + len(data)

    def read(self, physical: int, size: int) -> bytes:
        self.reads += 1
        start = physical - physical % self.file_size
        return bytes(self.files.get(start, b"")[physical - start :][:size])

    def remove_first(self) -> None:
        del self.files[self.first]
        self.first = min(self.files)

    def starts(self) -> Sequence[int]:
        return sorted(self.files)


def make_message(
    topic: str = "orders", queue_id: int = 0, body: bytes = b"x", **properties: str
) -> Message:
    return Message(topic=topic, queue_id=queue_id, body=body, properties=properties, born_host=HOST)


def make_lite_message(name: str = "a", body: bytes = b"x", topic: str = "rooms") -> Message:
    """A message of the lite topic ``name``."""
    lmq = f"%LMQ%${topic}${name}"
    return make_message(topic, 0, body, __LITE_TOPIC=name, INNER_MULTI_DISPATCH=lmq)


def open_store(log: LogAtHand, retain_bytes: int = 0) -> LogStore:
    return LogStore(log, retain_bytes=retain_bytes, retain_ms=1_000, store_host=HOST)

"""Commit logs and messages for a store."""

from pathlib import Path

from rocketwire.wire.message.host import Host
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import LogFiles
from rocketwire_broker.files.log_store import LogStore
from rocketwire_broker.storage.message import Message

HOST = Host(b"\x7f\0\0\x01", 10911)


class CountingLog(LogFiles):
    def __init__(self, root: Path, file_size: int = 1_000) -> None:
        super().__init__(Disk(root), file_size, [])
        self.reads = 0

    def read(self, physical: int, size: int) -> bytes:
        self.reads += 1
        return super().read(physical, size)


def make_message(
    topic: str = "orders", queue_id: int = 0, body: bytes = b"x", **properties: str
) -> Message:
    return Message(topic=topic, queue_id=queue_id, body=body, properties=properties, born_host=HOST)


def make_lite_message(name: str = "a", body: bytes = b"x", topic: str = "rooms") -> Message:
    lmq = f"%LMQ%${topic}${name}"
    return make_message(topic, 0, body, __LITE_TOPIC=name, INNER_MULTI_DISPATCH=lmq)


def open_store(log: CountingLog, retain_bytes: int = 0) -> LogStore:
    return LogStore(log, retain_bytes=retain_bytes, retain_ms=1_000, store_host=HOST)

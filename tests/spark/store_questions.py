"""Answers to the questions of the guide about stores, computed from the responses to producers and consumers.

Rules of this file: nothing here reads a store, except for the bytes that a test has damaged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.stores.store import BrokerStore
from tests.support.stores.truth import Pulled, Queue, Sent

BROKERS_TOPICS: Final = ("RMQ_SYS_", "rmq_sys_", "SCHEDULE_TOPIC_XXXX")
"""Prefixes of the topics that brokers write for themselves."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A store, and the lost bytes of its log: the first one, and the one after the last."""

    store: BrokerStore
    lost: tuple[int, int] = (0, 0)

    def has(self, message: Pulled) -> bool:
        first, end = self.lost
        return message.physical_offset >= end or message.physical_offset + message.size <= first

    @property
    def queues(self) -> Iterator[tuple[Queue, list[Pulled]]]:
        for queue in self.store.truth.queues:
            if not queue.topic.startswith(BROKERS_TOPICS):
                yield queue, [message for message in queue.messages if self.has(message)]


def first_place(sent: Sent) -> tuple[str, int]:
    # The queue that a message went to at first; its offset there is the one in the producer's response.
    if sent.how == "delayed":
        return "SCHEDULE_TOPIC_XXXX", min(int(sent.properties["DELAY"]), 18) - 1
    if sent.how == "half":
        return "RMQ_SYS_TRANS_HALF_TOPIC", 0
    if sent.how == "timer":
        return "rmq_sys_wheel_timer", 0
    return sent.topic, sent.queue_id


def inside(message: Pulled) -> int:
    return int(message.properties.get("INNER_NUM", "1"))


def usage(disks: Sequence[Disk]) -> dict[str, tuple[int, int]]:
    """Topic → messages and bytes.

    A deleted topic cannot be pulled.  So the size of its messages is -1.
    """
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for disk in disks:
        for queue, messages in disk.queues:
            counts[queue.topic] += sum(map(inside, messages))
            sizes[queue.topic] += sum(message.size for message in messages)
        for sent in disk.store.truth.sent:
            if sent.topic in disk.store.truth.deleted_topics:
                assert first_place(sent) == (sent.topic, sent.queue_id)
                counts[sent.topic] += 1
                sizes[sent.topic] = -1
    return {topic: (count, sizes[topic]) for topic, count in counts.items() if count}


def repeats(disks: Sequence[Disk]) -> dict[tuple[str, str], int]:
    """Topic and unique key → how often a broker stored the message that a producer sent.

    A master and its slave have messages with the same id.  They were stored once.
    """
    ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for disk in disks:
        for sent in disk.store.truth.sent:
            if sent.unique_key and first_place(sent) == (sent.topic, sent.queue_id):
                ids[sent.topic, sent.unique_key].add(sent.offset_msg_id)
    return {key: len(places) for key, places in ids.items() if len(places) > 1}


def gaps(disks: Sequence[Disk]) -> dict[tuple[str, str, int], int]:
    result: dict[tuple[str, str, int], int] = {}
    for disk in disks:
        for queue, messages in disk.queues:
            offsets = [message.queue_offset for message in queue.messages]
            kept = [message.queue_offset for message in messages]
            lost = [offset for offset in offsets if kept and kept[0] < offset < kept[-1]]
            missing = len(set(lost) - set(kept))
            if missing:
                result[str(disk.store.root), queue.topic, queue.queue_id] = missing
    return result


def find_zeroed(root: Path, undamaged: Path) -> tuple[int, int]:
    places: list[int] = []
    for file in sorted((root / "commitlog").iterdir()):
        original = (undamaged / "commitlog" / file.name).read_bytes()
        data = file.read_bytes()
        if data != original:
            places += [
                int(file.name) + offset
                for offset, byte in enumerate(data)
                if byte != original[offset]
            ]
    return places[0], places[-1] + 1

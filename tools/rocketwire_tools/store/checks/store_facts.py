"""Facts for several steps: usual sizes of files, and topics."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from rocketwire.store.timers import SLOT_SIZE, SLOTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.opened import OpenedStore

BATCH_QUEUE_TYPE = "BatchCQ"


def most_common_size(files: Iterable[StoreFile], default: int) -> int:
    """The size that most files have, of equally many the larger one; empty files do not count."""
    counts: dict[int, int] = {}
    for file in files:
        if file.size:
            counts[file.size] = counts.get(file.size, 0) + 1
    return max(counts, key=lambda size: (counts[size], size), default=default)


def timers_of_other_size(folder: StoreFolder) -> list[tuple[StoreFile, int]]:
    """Files of timer log and wheel that have another size than they should, and that size."""
    log = folder.timer_log
    counts = Counter(after.offset - file.offset for file, after in pairwise(log))
    counts.update(file.size for file in log if file.size)
    usual = max(counts, key=lambda size: (counts[size], size), default=0)
    sizes = [(file, usual) for file in folder.timer_log]
    sizes += [(file, SLOTS * SLOT_SIZE) for file in folder.timer_wheels]
    return [(file, size) for file, size in sizes if file.size != size]


def read_topics(store: OpenedStore) -> dict[str, Any]:
    config = store.config("topics.json")
    return _object(config[0] if config else None, "topicConfigTable")


def batch_topics(store: OpenedStore) -> set[str]:
    """Topics whose queues are of type BatchCQ, by ``topics.json``."""
    return {
        topic
        for topic, settings in read_topics(store).items()
        if _object(settings, "attributes").get("queue.type") == BATCH_QUEUE_TYPE
    }


def _object(value: object, name: str) -> dict[str, Any]:
    inner = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}

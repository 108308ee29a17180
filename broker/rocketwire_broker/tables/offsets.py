"""Committed offsets of groups, and resets that their consumers have not seen yet.

Java: ``ConsumerOffsetManager``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rocketwire.messages.topic_config import DataVersion
from rocketwire_broker.tables.topics import MAX_QUEUES

GroupTopic = tuple[str, str]  # a group and a topic

Predicate = Callable[[GroupTopic], bool]


def _by_name(table: Mapping[GroupTopic, dict[int, int]]) -> dict[str, dict[int, int]]:
    return {f"{topic}@{group}": offsets for (group, topic), offsets in table.items()}


class Offsets:
    def __init__(self, now: int) -> None:
        self._changes = 0
        self._changed = now
        self._offsets: dict[GroupTopic, dict[int, int]] = {}
        self._resets: dict[GroupTopic, dict[int, int]] = {}
        self._pulled: dict[GroupTopic, dict[int, int]] = {}

    def __iter__(self) -> Iterator[GroupTopic]:
        return iter(self._offsets)

    @property
    def version(self) -> DataVersion:
        return DataVersion(counter=self._changes, state_version=0, timestamp=self._changed)

    def get(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the committed offset, or the target of a reset; None without either."""
        pending = self.pending_reset(group, topic, queue_id)
        if pending is not None:
            return pending
        return self._offsets.get((group, topic), {}).get(queue_id)

    def commit(self, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        """Set the committed offset; that of a queue beyond all limits is ignored."""
        if not 0 <= queue_id < MAX_QUEUES:
            return
        self._offsets.setdefault((group, topic), {})[queue_id] = offset
        self._changes += 1
        self._changed = now

    def restore(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        self._offsets[group, topic] = {
            queue_id: offset for queue_id, offset in offsets.items() if 0 <= queue_id < MAX_QUEUES
        }

    def reset(self, group: str, topic: str, queue_id: int, offset: int, now: int) -> None:
        """Set the offset at which consumers must continue; commits are ignored until they do."""
        self.commit(group, topic, queue_id, offset, now)
        self._resets.setdefault((group, topic), {})[queue_id] = offset

    def pending_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        resets = self._resets.get((group, topic))
        return None if resets is None else resets.get(queue_id)

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the target of a reset and forget it, because its consumer learns it now."""
        resets = self._resets.get((group, topic))
        return None if resets is None else resets.pop(queue_id, None)

    def note_pulled(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Remember where a group's next pull begins (``pullOffset`` of code 208)."""
        self._pulled.setdefault((group, topic), {})[queue_id] = offset

    def next_pull(self, group: str, topic: str, queue_id: int) -> int | None:
        return self._pulled.get((group, topic), {}).get(queue_id)

    def topics_of(self, group: str) -> list[str]:
        return [topic for name, topic in self._offsets if name == group]

    def groups_of(self, topic: str) -> list[str]:
        return [group for group, name in self._offsets if name == topic]

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        return self._offsets.get((group, topic), {})

    def table(self) -> dict[str, dict[int, int]]:
        return _by_name(self._offsets)

    def document(self) -> dict[str, object]:
        """Return the members of ``consumerOffset.json``, which code 43 shows, too."""
        version = self.version
        topics: dict[str, list[str]] = {}
        for group, topic in self._offsets:
            topics.setdefault(group, []).append(topic)
        return {
            "dataVersion": {
                "counter": version.counter,
                "stateVersion": version.state_version,
                "timestamp": version.timestamp,
            },
            "groupTopicMap": topics,
            "offsetTable": self.table(),
            "pullOffsetTable": _by_name(self._pulled),
        }

    def delete_group(self, group: str) -> None:
        self._delete(lambda key: key[0] == group)

    def delete_topic(self, topic: str) -> None:
        self._delete(lambda key: key[1] == topic)

    def clone(self, source: str, target: str, topic: str) -> None:
        offsets = self._offsets.get((source, topic))
        if offsets is not None:
            self._offsets[target, topic] = dict(offsets)

    def _delete(self, is_gone: Predicate) -> None:
        for table in (self._offsets, self._resets, self._pulled):
            for key in [key for key in table if is_gone(key)]:
                del table[key]

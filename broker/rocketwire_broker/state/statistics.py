"""Counters of messages, and rates over the last seconds.

Counters of deleted topics and groups are dropped, as in Java (``autoDeleteUnusedStats``).

Java: ``BrokerStatsManager``, ``StoreStatsService``.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

SAMPLE_MS: Final = 1_000
"""Time between two samples of a counter."""
_SAMPLES: Final = 601
"""Samples that are kept: those of ten minutes."""


@dataclass(slots=True)
class Count:
    """A counter with samples.

    Attributes:
        total: messages since the start.
        samples: times and totals.
    """

    total: int = 0
    samples: deque[tuple[int, int]] = field(
        default_factory=lambda: deque[tuple[int, int]](maxlen=_SAMPLES)
    )

    def rate(self, now: int, over_ms: int) -> float:
        """Return the messages per second over the last milliseconds."""
        base_time, base = now, self.total
        for time, total in reversed(self.samples):
            base_time, base = time, total
            if time <= now - over_ms:
                break
        elapsed = now - base_time
        return (self.total - base) * 1000 / elapsed if elapsed > 0 else 0.0


class Statistics:
    """Counters of a broker.

    Attributes:
        put: messages stored.
        got: messages pulled or popped.
        put_bytes: bytes stored.
        slow: times when requests, or what was due, took so long that it was logged.
        limit_hits: exceeded limits of connections, by the name of their setting.
        topic_puts: messages stored by topic.
        group_gets: messages pulled or popped, by topic and group as ``topic@group``.
    """

    def __init__(self) -> None:
        self.put = Count()
        self.got = Count()
        self.put_bytes = 0
        self.slow = 0
        self.limit_hits: Counter[str] = Counter()
        self.topic_puts: dict[str, Count] = {}
        self.group_gets: dict[str, Count] = {}

    def note_put(self, topic: str, size: int) -> None:
        """Count a stored message."""
        self.put.total += 1
        self.put_bytes += size
        count = self.topic_puts.get(topic)
        if count is None:
            count = self.topic_puts[topic] = Count()
        count.total += 1

    def note_got(self, topic: str, group: str, messages: int) -> None:
        """Count pulled or popped messages."""
        self.got.total += messages
        key = f"{topic}@{group}"
        count = self.group_gets.get(key)
        if count is None:
            count = self.group_gets[key] = Count()
        count.total += messages

    def delete_topic(self, topic: str) -> None:
        """Drop the counters of a deleted topic."""
        self.topic_puts.pop(topic, None)
        self._drop_gets(f"{topic}@", "")

    def delete_group(self, group: str) -> None:
        """Drop the counters of a deleted group."""
        self._drop_gets("", f"@{group}")

    def _drop_gets(self, start: str, end: str) -> None:
        keys = [key for key in self.group_gets if key.startswith(start) and key.endswith(end)]
        for key in keys:
            del self.group_gets[key]

    def sample(self, now: int) -> None:
        """Remember the totals of now."""
        for count in (self.put, self.got, *self.topic_puts.values(), *self.group_gets.values()):
            count.samples.append((now, count.total))

"""Counters of messages, and rates over the last seconds.

Counters of deleted topics and groups are dropped, as in Java (``autoDeleteUnusedStats``).

Java: ``BrokerStatsManager``, ``StoreStatsService``.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Final

SAMPLE_MS: Final = 1_000  # time between two samples of a counter
_SAMPLES: Final = 601  # samples that are kept: those of ten minutes


@dataclass(slots=True)
class Count:
    total: int = 0  # messages since the start
    # times and totals
    samples: deque[tuple[int, int]] = field(
        default_factory=lambda: deque[tuple[int, int]](maxlen=_SAMPLES)
    )

    def rate(self, now: int, over_ms: int) -> float:
        base_time, base = now, self.total
        for time, total in reversed(self.samples):
            base_time, base = time, total
            if time <= now - over_ms:
                break
        elapsed = now - base_time
        return (self.total - base) * 1000 / elapsed if elapsed > 0 else 0.0


class Statistics:
    def __init__(self) -> None:
        self.put = Count()
        self.got = Count()  # messages pulled or popped
        self.put_bytes = 0
        self.slow = 0  # times when requests, or what was due, took so long that it was logged
        # exceeded limits of connections, by the name of their setting
        self.limit_hits: Counter[str] = Counter()
        self.topic_puts: defaultdict[str, Count] = defaultdict(Count)
        # messages pulled or popped, by topic and group as ``topic@group``
        self.group_gets: defaultdict[str, Count] = defaultdict(Count)

    def note_put(self, topic: str, size: int) -> None:
        self.put.total += 1
        self.put_bytes += size
        self.topic_puts[topic].total += 1

    def note_got(self, topic: str, group: str, messages: int) -> None:
        self.got.total += messages
        self.group_gets[f"{topic}@{group}"].total += messages

    def delete_topic(self, topic: str) -> None:
        self.topic_puts.pop(topic, None)
        self._drop_gets(f"{topic}@", "")

    def delete_group(self, group: str) -> None:
        self._drop_gets("", f"@{group}")

    def _drop_gets(self, start: str, end: str) -> None:
        keys = [key for key in self.group_gets if key.startswith(start) and key.endswith(end)]
        for key in keys:
            del self.group_gets[key]

    def sample(self, now: int) -> None:
        for count in (self.put, self.got, *self.topic_puts.values(), *self.group_gets.values()):
            count.samples.append((now, count.total))

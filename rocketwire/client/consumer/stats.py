"""Statistics of a consumer by topic, for operators (code 307); pure, ``now`` in seconds.

Java: ``ConsumerStatsManager``, which reports rates of the last minute and failures of the last
hour.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Final

from rocketwire.messages.callbacks import ConsumeStatus

_SLOT: Final = 10.0
_SLOTS_OF_A_MINUTE: Final = 6
_SLOTS_OF_AN_HOUR: Final = 360


class _Counter:
    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots: deque[list[float]] = deque(maxlen=_SLOTS_OF_AN_HOUR)  # [number, times, value]

    def add(self, now: float, times: int, value: float) -> None:
        number = now // _SLOT
        if not self._slots or self._slots[-1][0] != number:
            self._slots.append([number, 0.0, 0.0])
        last = self._slots[-1]
        last[1] += times
        last[2] += value

    def sums(self, now: float, slots: int) -> tuple[float, float]:
        since = now // _SLOT - slots
        recent = [slot for slot in self._slots if slot[0] > since]
        return sum(slot[1] for slot in recent), sum(slot[2] for slot in recent)


class ConsumerStats:
    def __init__(self) -> None:
        self._pulls: dict[str, _Counter] = defaultdict(_Counter)
        self._consumed: dict[str, _Counter] = defaultdict(_Counter)
        self._failed: dict[str, _Counter] = defaultdict(_Counter)

    def add_pulled(self, topic: str, messages: int, seconds: float, now: float) -> None:
        self._pulls[topic].add(now, messages, seconds)

    def add_consumed(self, topic: str, messages: int, seconds: float, now: float) -> None:
        self._consumed[topic].add(now, messages, seconds)

    def add_failed(self, topic: str, messages: int, now: float) -> None:
        self._failed[topic].add(now, messages, 0.0)

    def status(self, topic: str, now: float) -> ConsumeStatus:
        """Return rates of the last minute, times in ms, and the failures of the last hour."""
        minute = _SLOT * _SLOTS_OF_A_MINUTE
        pulled, pull_seconds = self._pulls[topic].sums(now, _SLOTS_OF_A_MINUTE)
        consumed, seconds = self._consumed[topic].sums(now, _SLOTS_OF_A_MINUTE)
        failed, _ = self._failed[topic].sums(now, _SLOTS_OF_A_MINUTE)
        hour, _ = self._failed[topic].sums(now, _SLOTS_OF_AN_HOUR)
        return ConsumeStatus(
            pull_rt=1000 * pull_seconds / pulled if pulled else 0.0,
            pull_tps=pulled / minute,
            consume_rt=1000 * seconds / consumed if consumed else 0.0,
            consume_oktps=consumed / minute,
            consume_failed_tps=failed / minute,
            consume_failed_msgs=round(hour),
        )

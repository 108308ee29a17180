"""Queue selection for messages without a key: round-robin that avoids failing brokers.

Times are seconds of any monotonic clock.  The caller supplies the random start of a rotation.

Java: ``TopicPublishInfo.selectOneMessageQueue``, ``MQFaultStrategy``,
``LatencyFaultToleranceImpl``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

# Thresholds of a send's latency in seconds
LATENCY_MAX: Final = (0.05, 0.1, 0.55, 1.8, 3.0, 5.0, 15.0)
# Seconds for which a broker is avoided, for each threshold of ``LATENCY_MAX``
NOT_AVAILABLE_DURATION: Final = (0.0, 0.0, 2.0, 5.0, 6.0, 10.0, 30.0)
ISOLATION_LATENCY: Final = 10.0  # latency in seconds that a failed send counts as
DETECT_INTERVAL: Final = 2.0  # seconds between two probes of a broker (``detectInterval``)
POSITIVE: Final = 0x7FFFFFFF  # largest turn; 0 follows


class QueueRotation:
    """Round-robin over a topic's queues (Java: ``TopicPublishInfo`` with ``ThreadLocalIndex``)."""

    __slots__ = ("queues", "turn")

    def __init__(self, queues: Sequence[MessageQueue], *, start: int) -> None:
        self.queues: Sequence[MessageQueue] = queues
        #: counter of 31 bits; modulo the number of queues, the index of the last queue
        self.turn: int = start

    def restart(self, start: int) -> None:
        # so that clients that failed at the same broker diverge
        self.turn = start

    def next_queue(self) -> MessageQueue:
        self.turn = (self.turn + 1) & POSITIVE
        return self.queues[self.turn % len(self.queues)]

    def next_queue_where(self, accepts: Callable[[MessageQueue], bool]) -> MessageQueue | None:
        for _ in range(len(self.queues)):
            queue = self.next_queue()
            if accepts(queue):
                return queue
        return None


class _FaultItem:
    __slots__ = ("available_from", "check_from", "reachable")

    def __init__(self) -> None:
        self.available_from = float("-inf")
        self.check_from = float("-inf")
        self.reachable = True


class FaultStrategy:
    """Avoids the broker that failed last and, if enabled, those that were slow or failed before."""

    def __init__(
        self,
        *,
        enabled: bool = False,
        detecting: bool = False,
        detect_interval: float = DETECT_INTERVAL,
        latency_max: Sequence[float] = LATENCY_MAX,
        not_available: Sequence[float] = NOT_AVAILABLE_DURATION,
    ) -> None:
        #: whether latencies count (``sendLatencyEnable``), else only the last broker does
        self.enabled = enabled
        #: whether unreachable brokers are probed (``startDetectorEnable``)
        self.detecting = detecting
        self._detect_interval = detect_interval
        self._latency_max = latency_max
        self._not_available = not_available
        self._brokers: dict[str, _FaultItem] = {}

    def select(
        self, rotation: QueueRotation, last_broker: str | None = None, *, now: float
    ) -> MessageQueue:
        """Return the queue for the next attempt.

        Args:
            rotation: the topic's queues; if ``enabled``, Java restarts it before each retry.
            last_broker: broker of the failed attempt, or None.
        """

        def elsewhere(queue: MessageQueue) -> bool:
            return queue.broker_name != last_broker or last_broker is None

        def available(queue: MessageQueue) -> bool:
            return self.is_available(queue.broker_name or "", now) and elsewhere(queue)

        def reachable(queue: MessageQueue) -> bool:
            return self.is_reachable(queue.broker_name or "") and elsewhere(queue)

        if not self.enabled:
            return rotation.next_queue_where(elsewhere) or rotation.next_queue()
        return (
            rotation.next_queue_where(available)
            or rotation.next_queue_where(reachable)
            or rotation.next_queue()
        )

    def update(
        self, broker: str, latency: float, *, isolate: bool, reachable: bool, now: float
    ) -> None:
        """Record the outcome of an attempt.

        Args:
            broker: name of the broker.
            latency: duration in seconds.
            isolate: whether it failed; the broker is avoided as after a very slow send.
            reachable: whether the broker counts as reachable.
        """
        if not self.enabled:
            return
        item = self._brokers.setdefault(broker, _FaultItem())
        item.reachable = reachable
        duration = self.not_available_duration(ISOLATION_LATENCY if isolate else latency)
        if duration > 0:
            item.available_from = max(item.available_from, now + duration)

    def not_available_duration(self, latency: float) -> float:
        for threshold, duration in zip(
            reversed(self._latency_max), reversed(self._not_available), strict=True
        ):
            if latency >= threshold:
                return duration
        return 0.0

    def is_available(self, broker: str, now: float) -> bool:
        item = self._brokers.get(broker)
        return item is None or now >= item.available_from

    def is_reachable(self, broker: str) -> bool:
        item = self._brokers.get(broker)
        return item is None or item.reachable

    def due(self, now: float) -> list[str]:
        names: list[str] = []
        for name, item in self._brokers.items():
            if now >= item.check_from:
                item.check_from = now + self._detect_interval
                names.append(name)
        return names

    def detected(self, broker: str) -> None:
        item = self._brokers.get(broker)
        if item is not None:
            item.reachable = True

    def forget(self, broker: str) -> None:
        self._brokers.pop(broker, None)

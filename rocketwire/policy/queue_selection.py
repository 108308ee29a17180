"""Which queue a message goes to when nobody says so: one after the other, around brokers that are in trouble.

Rules of this file: time in seconds of any clock that never goes back; the numbers at which a lap starts are chance and come in.

Java: ``TopicPublishInfo.selectOneMessageQueue``, ``MQFaultStrategy``, ``LatencyFaultToleranceImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire.messages.message_queue import MessageQueue

LATENCY_MAX: Final = (0.05, 0.1, 0.55, 1.8, 3.0, 5.0, 15.0)
"""Seconds that a send took, at least, ..."""

NOT_AVAILABLE_DURATION: Final = (0.0, 0.0, 2.0, 5.0, 6.0, 10.0, 30.0)
"""... and for how many its broker is avoided then."""

ISOLATION_LATENCY: Final = 10.0
"""Seconds that a send counts as which failed."""

DETECT_INTERVAL: Final = 2.0
"""Seconds between two looks at one broker (``detectInterval``)."""

POSITIVE: Final = 0x7FFFFFFF
"""What turns are counted to, before 0 follows."""


class QueueRotation:
    """The queues of a topic in turn (Java: ``TopicPublishInfo`` with its ``ThreadLocalIndex``).

    Attributes:
        queues: what takes turns.
        turn: a number of 31 bits, one more with each turn; where the last queue stands, but for whole laps.
    """

    __slots__ = ("queues", "turn")

    def __init__(self, queues: Sequence[MessageQueue], *, start: int) -> None:
        """A rotation.

        Args:
            queues: at least one.
            start: any number; the first queue is the one behind it.
        """
        self.queues = queues
        self.turn = start

    def restart(self, start: int) -> None:
        """Goes on somewhere else, so that clients that failed together part."""
        self.turn = start

    def next_queue(self) -> MessageQueue:
        """The next one."""
        self.turn = (self.turn + 1) & POSITIVE
        return self.queues[self.turn % len(self.queues)]

    def next_queue_where(self, good: Callable[[MessageQueue], bool]) -> MessageQueue | None:
        """The next one that is good; None when a whole lap has none."""
        for _ in range(len(self.queues)):
            queue = self.next_queue()
            if good(queue):
                return queue
        return None


class _FaultItem:
    """What is known of one broker."""

    __slots__ = ("available_from", "check_from", "reachable")

    def __init__(self) -> None:
        self.available_from = float("-inf")
        self.check_from = float("-inf")
        self.reachable = True


class FaultStrategy:
    """Avoids the broker that failed last and, if asked to, brokers that were slow or failed before.

    Attributes:
        enabled: whether latencies count (``sendLatencyEnable``); else only the last broker is avoided.
        detecting: whether somebody looks after unreachable brokers (``startDetectorEnable``).
    """

    __slots__ = (
        "_brokers",
        "_detect_interval",
        "_latency_max",
        "_not_available",
        "detecting",
        "enabled",
    )

    def __init__(
        self,
        *,
        enabled: bool = False,
        detecting: bool = False,
        detect_interval: float = DETECT_INTERVAL,
        latency_max: Sequence[float] = LATENCY_MAX,
        not_available: Sequence[float] = NOT_AVAILABLE_DURATION,
    ) -> None:
        """A strategy that knows of no trouble.

        Args:
            enabled: whether latencies count.
            detecting: whether somebody calls ``due`` and ``detected``.
            detect_interval: seconds between two looks at one broker.
            latency_max: thresholds in seconds, ascending.
            not_available: seconds of avoidance, one for each threshold.
        """
        self.enabled = enabled
        self.detecting = detecting
        self._detect_interval = detect_interval
        self._latency_max = latency_max
        self._not_available = not_available
        self._brokers: dict[str, _FaultItem] = {}

    def select(
        self, rotation: QueueRotation, last_broker: str | None = None, *, now: float
    ) -> MessageQueue:
        """The queue for the next try.

        Args:
            rotation: the topic's queues; before a second try with ``enabled`` Java restarts it anywhere.
            last_broker: where the last try failed.
            now: the time now.
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
        """A try ended.

        Args:
            broker: where it was made.
            latency: seconds that it took.
            isolate: it failed; the broker is avoided as after a very slow one.
            reachable: whether the broker counts as reachable now.
            now: the time now.
        """
        if not self.enabled:
            return
        item = self._brokers.setdefault(broker, _FaultItem())
        item.reachable = reachable
        duration = self.not_available_duration(ISOLATION_LATENCY if isolate else latency)
        if duration > 0:
            item.available_from = max(item.available_from, now + duration)

    def not_available_duration(self, latency: float) -> float:
        """For how many seconds a broker is avoided that took ``latency`` seconds."""
        for threshold, duration in zip(
            reversed(self._latency_max), reversed(self._not_available), strict=True
        ):
            if latency >= threshold:
                return duration
        return 0.0

    def is_available(self, broker: str, now: float) -> bool:
        """Whether the time for which it is avoided has passed; unknown brokers are available."""
        item = self._brokers.get(broker)
        return item is None or now >= item.available_from

    def is_reachable(self, broker: str) -> bool:
        """Whether it answered last time; unknown brokers are reachable."""
        item = self._brokers.get(broker)
        return item is None or item.reachable

    def due(self, now: float) -> list[str]:
        """Brokers to look at now; each is due again after the interval."""
        found: list[str] = []
        for name, item in self._brokers.items():
            if now >= item.check_from:
                item.check_from = now + self._detect_interval
                found.append(name)
        return found

    def detected(self, broker: str) -> None:
        """A look at a broker was answered: it is reachable."""
        item = self._brokers.get(broker)
        if item is not None:
            item.reachable = True

    def forget(self, broker: str) -> None:
        """A broker is no more."""
        self._brokers.pop(broker, None)

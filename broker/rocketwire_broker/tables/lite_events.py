"""Events of a client: light queues that it should read at its next pop.

Java: ``LiteEventDispatcher.ClientEventSet``.
"""

from __future__ import annotations

from typing import Final

_SILENT_MS: Final = 35_000
"""Time without a pop after which a client may have ended: more than a long poll."""

_BUSY_MS: Final = 10_000
"""The same for a client that has events."""

_LOW: Final = 0.2


class LiteEvents:
    """The events of one client, the oldest first.

    Args:
        group: its group.
        limit: most events.
        now: the time.

    Attributes:
        group: see above.
        accessed: when the client has read its events, in milliseconds; at first its creation.
    """

    __slots__ = ("_limit", "_queues", "accessed", "group")

    def __init__(self, group: str, limit: int, now: int) -> None:
        self.group = group
        self.accessed = now
        self._limit = limit
        self._queues: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def offer(self, queue: str) -> bool:
        """Add a queue, once; return False if there are too many."""
        if len(self._queues) >= self._limit:
            return False
        self._queues[queue] = None
        return True

    def take(self, now: int) -> str | None:
        """Take the oldest event; None if there is none."""
        if not self._queues:
            return None
        self.accessed = now
        queue = next(iter(self._queues))
        del self._queues[queue]
        return queue

    def is_silent(self, now: int) -> bool:
        """Return whether the client may have ended, so that others must get its events."""
        silence = now - self.accessed
        return silence > _SILENT_MS or (bool(self._queues) and silence > _BUSY_MS)

    @property
    def is_low(self) -> bool:
        """Whether there is room for many events."""
        return len(self._queues) < _LOW * self._limit

"""Popped messages that are not acknowledged, by group.

A pop hides its messages for a time. Each hidden message has an entry here until it is acknowledged
or its time is over; then it is due for redelivery.

Java: ``PopCheckPoint``, ``PopBufferMergeService``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class HiddenMessage(NamedTuple):
    """A popped message.

    Attributes:
        group: the consumer group.
        topic: topic that stores it; a retry topic for redeliveries.
        queue_id: its queue.
        queue_offset: its offset.
        pop_time: time of the pop in milliseconds, which its handle contains.
    """

    group: str
    topic: str
    queue_id: int
    queue_offset: int
    pop_time: int


class Pops(Generic[T]):
    """Hidden messages, each with what ends its time.

    The same message may be hidden more than once: by several groups, and by one group after its
    offset was reset.
    """

    def __init__(self) -> None:
        self._timers: dict[HiddenMessage, T] = {}

    def __len__(self) -> int:
        return len(self._timers)

    def __iter__(self) -> Iterator[HiddenMessage]:
        return iter(self._timers)

    def hide(self, message: HiddenMessage, timer: T) -> None:
        """Note a message that was popped, and what ends its time."""
        self._timers[message] = timer

    def take(self, message: HiddenMessage) -> T | None:
        """Forget a message and return what would end its time; None if it is not hidden."""
        return self._timers.pop(message, None)

    def discard(self, is_gone: Callable[[HiddenMessage], bool]) -> Iterator[T]:
        """Forget the messages for which a condition holds; yield what would end their time."""
        for message in [message for message in self._timers if is_gone(message)]:
            yield self._timers.pop(message)

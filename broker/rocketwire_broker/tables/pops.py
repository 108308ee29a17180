"""Popped messages that are not acknowledged, by group.

A pop hides its messages for a time. Each hidden message has an entry here until it is acknowledged
or its time is over; then it is due for redelivery.

Java: ``PopCheckPoint``, ``PopBufferMergeService``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


class HiddenMessage(NamedTuple):
    group: str
    topic: str  # topic that stores it; a retry topic for redeliveries
    queue_id: int
    queue_offset: int
    pop_time: int  # time of the pop in milliseconds, which its handle contains


class Origin(NamedTuple):
    start_offset: int  # first offset of the pop in its queue
    revive_queue_id: int  # queue of the log of pops that its handles name
    due: int  # when the message is delivered again, in milliseconds


class Pops(Generic[T]):
    """Hidden messages, each with what ends its time.

    The same message may be hidden more than once: by several groups, and by one group after its
    offset was reset.
    """

    def __init__(self, *, is_logged: bool = False) -> None:
        # hidden messages that are not in the log of pops yet
        self.unlogged: dict[HiddenMessage, Origin] = {}
        # messages that are in the log of pops as hidden, and are hidden no more
        self.ended: dict[HiddenMessage, Origin] = {}
        self._is_logged = is_logged
        self._logged: dict[HiddenMessage, Origin] = {}
        self._timers: dict[HiddenMessage, T] = {}

    def __len__(self) -> int:
        return len(self._timers)

    def __iter__(self) -> Iterator[HiddenMessage]:
        return iter(self._timers)

    def __contains__(self, message: object) -> bool:
        return message in self._timers

    def hide(self, message: HiddenMessage, timer: T, origin: Origin) -> None:
        self._timers[message] = timer
        if self._is_logged:
            self.unlogged[message] = origin

    def take(self, message: HiddenMessage) -> T | None:
        """Forget a message; return what would end its time, or None if it is not hidden."""
        timer = self._timers.pop(message, None)
        if timer is not None and self._is_logged:
            self.unlogged.pop(message, None)
            origin = self._logged.pop(message, None)
            if origin is not None:
                self.ended[message] = origin
        return timer

    def note_logged(self, messages: Iterable[HiddenMessage]) -> None:
        for message in messages:
            self._logged[message] = self.unlogged.pop(message)

    def discard(self, is_gone: Callable[[HiddenMessage], bool]) -> Iterator[T]:
        for message in [message for message in self._timers if is_gone(message)]:
            timer = self.take(message)
            if timer is not None:
                yield timer

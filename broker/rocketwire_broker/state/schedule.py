"""Everything that happens later, in one heap."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Final

from rocketwire_broker.storage.store import UnwritableError

Action = Callable[[int], None]  # called with the time, in milliseconds, when it is due

RETRY_MS: Final = 1_000  # time after which an action runs again if the disk was full

MAX_ACTIONS: Final = 256  # actions of a run; requests are served before the next ones

_FEW: Final = 512


_FEW_ENTRIES: Final = 1_000


class Entry:
    __slots__ = ("_number", "action", "due", "is_periodic")

    def __init__(self, due: int, number: int, action: Action) -> None:
        self.due = due  # when, in milliseconds since 1970
        self._number = number
        self.action: Action | None = action  # what; None after it was cancelled or done
        self.is_periodic = False  # whether it happens every few seconds

    def __lt__(self, other: Entry) -> bool:
        return (self.due, self._number) < (other.due, other._number)


class Schedule:
    """Actions by the time when they are due; those of one time run in the order of ``at``."""

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._named: dict[str, Entry] = {}
        self._count = 0
        self._cancelled = 0

    def __len__(self) -> int:
        return len(self._heap) - self._cancelled

    def at(self, due: int, action: Action) -> Entry:
        self._count += 1
        entry = Entry(due, self._count, action)
        heapq.heappush(self._heap, entry)
        return entry

    def run_by(self, name: str, due: int, action: Action) -> None:
        """Run an action once at a time, or earlier if the same name was scheduled earlier."""
        known = self._named.get(name)
        if known is not None and known.action is not None:
            if known.due <= due:
                return
            self.cancel(known)
        self._named[name] = self.at(due, action)

    def repeat_every(self, period: int, action: Action, now: int) -> None:
        @wraps(action)
        def repeat(due: int) -> None:
            self.at(due + period, repeat).is_periodic = True
            action(due)

        self.at(now + period, repeat).is_periodic = True

    def cancel(self, entry: Entry) -> None:
        if entry.action is None:
            return
        entry.action = None
        self._cancelled += 1
        if self._cancelled > _FEW and 2 * self._cancelled > len(self._heap):
            self._heap = [entry for entry in self._heap if entry.action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    @property
    def next_due(self) -> int | None:
        heap = self._heap
        while heap and heap[0].action is None:
            heapq.heappop(heap)
            self._cancelled -= 1
        return heap[0].due if heap else None

    def next_due_for_once(self) -> int | None:
        """Return when the first action is due that is not periodic; None without any.

        With many entries it is that of ``next_due``, which takes no search.
        """
        if len(self._heap) > _FEW_ENTRIES:
            return self.next_due
        once = [entry.due for entry in self._heap if entry.action and not entry.is_periodic]
        return min(once, default=None)

    def run(self, now: int) -> list[Action]:
        """Run the actions that are due, new ones included, up to ``MAX_ACTIONS``; return them.

        An action that cannot store a message runs again later; what it had done must hold.
        """
        actions: list[Action] = []
        while len(actions) < MAX_ACTIONS and (due := self.next_due) is not None and due <= now:
            entry = heapq.heappop(self._heap)
            action, entry.action = entry.action, None
            if action is not None:
                actions.append(action)
                try:
                    action(now)
                except UnwritableError:
                    self.at(now + RETRY_MS, action)
        return actions


def describe_actions(actions: Iterable[Action]) -> str:
    """Return the number of actions of each function that made or is one, the most frequent first.

    It reads ``3 Broker.hold, 1 Statistics.sample``.
    """
    names = Counter(action.__qualname__.partition(".<locals>")[0] for action in actions)
    return ", ".join(f"{count} {name}" for name, count in names.most_common())

"""What clients of a broker did, and whether a broker that keeps its promises explains it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

PERSIST_SECONDS: Final = 7.0
"""Time after which offsets are on the disk: 5 s until the next write, and some for a busy machine."""

Position = tuple[str, int]
"""Name of a queue and offset in it."""


@dataclass(slots=True)
class History:
    """What clients sent, what the broker kept, and what a group popped.

    Attributes:
        attempts: times that each key was sent, whatever came back.
        acknowledged: keys whose send was answered with success.
        stored: key of each message that a reader found in the end.
        popped: keys that the group has popped.
        settled: positions whose acknowledgement was answered with success, and when (seconds).
        repeated: positions that were popped again after that.
    """

    attempts: Counter[str] = field(default_factory=Counter[str])
    acknowledged: set[str] = field(default_factory=set[str])
    stored: dict[Position, str] = field(default_factory=dict[Position, str])
    popped: set[str] = field(default_factory=set[str])
    settled: dict[Position, float] = field(default_factory=dict[Position, float])
    repeated: list[Position] = field(default_factory=list[Position])

    def record_pop(self, position: Position, key: str) -> None:
        """Record a message that the group got."""
        self.popped.add(key)
        if position in self.settled:
            self.repeated.append(position)

    def record_kill(self, now: float) -> None:
        """Excuse repeats: a killed broker has lost the offsets that it had not persisted yet, as Java's."""
        begin = now - PERSIST_SECONDS
        self.settled = {at: time for at, time in self.settled.items() if time < begin}

    def find_contradictions(self) -> list[str]:
        """Return what no correct broker does, a sentence each."""
        counts = Counter(self.stored.values())
        found = [f"{key} was acknowledged and is lost" for key in self.acknowledged - counts.keys()]
        found += [
            f"{key} was acknowledged and never popped" for key in self.acknowledged - self.popped
        ]
        found += [f"{key} was never sent" for key in counts.keys() - self.attempts.keys()]
        found += [
            f"{key} is stored {count} times after {self.attempts[key]} sends"
            for key, count in counts.items()
            if count > self.attempts[key]
        ]
        found += [f"{position} was popped after its acknowledgement" for position in self.repeated]
        return sorted(found)

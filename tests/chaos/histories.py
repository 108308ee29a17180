"""Faults of a server, the history of its clients, and contradictions to a correct server."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, Protocol

import trio

from rocketwire_tools.pytest_plugin.faults import FaultProxy

PERSIST_SECONDS: Final = 7.0
"""Time after which offsets are on the disk: 5 s until the next write, and some for a busy machine."""


class Server(Protocol):
    def start(self) -> None: ...
    def kill(self) -> None: ...
    def freeze(self) -> None: ...
    def thaw(self) -> None: ...
    def break_disk(self, fault: str) -> None:
        """Begin or end a fault of its disk."""


class Recorder(Protocol):
    def record_kill(self, now: float) -> None:
        """Take note that the process has ended and is not started again yet."""


async def cause(fault: str, server: Server, proxy: FaultProxy, history: Recorder) -> None:
    if fault == "cut":
        proxy.reset()
    elif fault == "pause":
        server.freeze()
        await trio.sleep(0.2)
        server.thaw()
    else:
        if fault != "kill":
            server.break_disk(fault)
            await trio.sleep(0.2)
        if fault == "fill":
            server.break_disk(fault)
        else:
            await trio.to_thread.run_sync(server.kill)
            history.record_kill(time.monotonic())
            await trio.to_thread.run_sync(server.start)


Position = tuple[str, int]
"""Name of a queue and offset in it."""


@dataclass(slots=True)
class History:
    attempts: Counter[str] = field(default_factory=Counter[str])  #: times that each key was sent
    #: keys whose send was answered with success
    acknowledged: set[str] = field(default_factory=set[str])
    #: key of each message that a reader found in the end
    stored: dict[Position, str] = field(default_factory=dict[Position, str])
    popped: set[str] = field(default_factory=set[str])  #: keys that the group has popped
    #: positions whose acknowledgement was answered with success, and when (seconds)
    settled: dict[Position, float] = field(default_factory=dict[Position, float])
    #: positions that were popped again after that
    repeated: list[Position] = field(default_factory=list[Position])

    def record_pop(self, position: Position, key: str) -> None:
        self.popped.add(key)
        if position in self.settled:
            self.repeated.append(position)

    def record_kill(self, now: float) -> None:
        # Excuse repeats: a killed broker has lost the offsets that it had not persisted yet, as Java's.
        begin = now - PERSIST_SECONDS
        self.settled = {position: time for position, time in self.settled.items() if time < begin}

    def find_contradictions(self) -> list[str]:
        counts = Counter(self.stored.values())
        contradictions = [
            f"{key} was acknowledged and is lost" for key in self.acknowledged - counts.keys()
        ]
        contradictions += [
            f"{key} was acknowledged and never popped" for key in self.acknowledged - self.popped
        ]
        contradictions += [f"{key} was never sent" for key in counts.keys() - self.attempts.keys()]
        contradictions += [
            f"{key} is stored {count} times after {self.attempts[key]} sends"
            for key, count in counts.items()
            if count > self.attempts[key]
        ]
        contradictions += [
            f"{position} was popped after its acknowledgement" for position in self.repeated
        ]
        return sorted(contradictions)


@dataclass(frozen=True, slots=True)
class Change:
    value: object  #: what it makes of it
    start: float  #: no reader sees the value earlier, in seconds of ``time.monotonic``
    end: float  #: no reader sees an earlier value later
    is_certain: bool = True  #: whether it took place


@dataclass(slots=True)
class Register:
    changes: list[Change]  #: in the order in which they can take place, if they have the same start
    #: values with the start and the end of the request
    reads: list[tuple[object, float, float]] = field(
        default_factory=list[tuple[object, float, float]]
    )
    #: when the server was killed; values that were not acknowledged may be lost then
    kills: list[float] = field(default_factory=list[float])

    def find_contradictions(self) -> Iterator[str]:
        changes = [Change(None, 0, 0), *sorted(self.changes, key=lambda change: change.start)]
        earlier: list[tuple[float, int]] = []
        newest, kills = 0, list(self.kills)
        for value, start, end in sorted(self.reads, key=lambda read: read[1]):
            while kills and kills[0] < start:
                del kills[0], earlier[:]
                newest = 0
            while earlier and earlier[0][0] < start:
                newest = max(newest, heappop(earlier)[1])
            finished = [
                n for n, change in enumerate(changes) if change.is_certain and change.end < start
            ]
            first = max(newest, *finished)
            possible = [
                n
                for n, change in enumerate(changes)
                if n >= first and change.value == value and change.start <= end
            ]
            if possible:
                heappush(earlier, (end, possible[0]))
            else:
                near = [change for change in changes if change.start <= end][-3:]
                yield f"{value} was read from {start:.3f} to {end:.3f}, after {near}"

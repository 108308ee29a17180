"""``Slots``: the streams that are remembered, each with a number, and what the short way knows of them as arrays.

Rules of this file: a stream of which the arrays know everything needs no object; where there are many, most have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.streams.resync import Protocol
from rocketwire_tools.pcap.streams.stream import FOREIGN, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.records import Integers

    Array = np.ndarray[Any, Any]

CAREFUL: Final = 0
PLAIN: Final = 1
STRANGE: Final = 2
"""Ways of a stream: bytes are looked at one segment after the other, many streams at once, or not at all."""
MOST_AWAKE: Final = 4096
"""Streams that have an object, unless more need one."""
_KEEPING: Final = 1024
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_NOBODY: Final = -1
_NEVER: Final = -1
_SHARE: Final = 32
"""The index is made anew when so small a part of the streams was not in it."""


class Slots:
    """Streams by sender and receiver.

    Args:
        kind: makes a stream of sender, receiver and number.

    Attributes:
        way: of the stream in each slot.
        sequence: number of the next byte, of plain streams and of those without an object; -1 before the first one.
        need: bytes until the next frame begins, of plain streams.
        open: whether the body of a frame goes on, of plain streams.
        seen: when the last segment came, in nanoseconds.
        number: of each stream, the same for all connections that its two ends have.
        ended: whether its sender said that no more comes.
        source: its sender, -1 in a free slot.
        target: its receiver.
    """

    def __init__(self, kind: type[Stream]) -> None:
        self._kind = kind
        self._last_number = 0
        self._slots: dict[tuple[int, int], int] = {}
        self._awake: dict[int, Stream] = {}
        self._enough = MOST_AWAKE
        self._used = 0
        self._free: list[int] = []
        self.way = np.zeros(_KEEPING, np.int8)
        self.sequence = np.zeros(_KEEPING, np.int64)
        self.need = np.zeros(_KEEPING, np.int64)
        self.open = np.zeros(_KEEPING, np.bool_)
        self.seen = np.zeros(_KEEPING, np.int64)
        self.number = np.zeros(_KEEPING, np.int64)
        self.ended = np.zeros(_KEEPING, np.bool_)
        self._origin = np.zeros(_KEEPING, np.int64)
        self._synced = np.zeros(_KEEPING, np.bool_)
        self._protocol = np.zeros(_KEEPING, np.int8)
        self._asleep = np.zeros(_KEEPING, np.bool_)
        self.source = np.full(_KEEPING, _NOBODY, np.int64)
        self.target = np.full(_KEEPING, _NOBODY, np.int64)
        self._mixed: Array = np.zeros(1, np.uint64)
        self._indexed: Array = np.zeros(1, np.int64)
        self._missed = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def awake(self) -> Iterator[Stream]:
        """The streams that have an object; of all others nothing is open, and nothing waits."""
        return (self.stream(slot) for slot in list(self._awake))

    def hosts(self) -> set[int]:
        """The addresses of all streams, as ``packets.Addresses`` numbers them."""
        used = self.source != _NOBODY
        return set(np.unique(np.append(self.source[used], self.target[used]) >> 16).tolist())

    def of(self, source: Integers, target: Integers) -> Array:
        """The slots of streams, no two of which are the same; those that are not known begin."""
        at: Any = np.searchsorted(self._mixed, mixed(source, target))
        slots: Array = self._indexed[np.minimum(at, len(self._indexed) - 1)]
        missed = np.flatnonzero((self.source[slots] != source) | (self.target[slots] != target))
        if not len(missed):
            return slots
        keys = list(zip(source[missed].tolist(), target[missed].tolist(), strict=True))
        known = self._slots.get
        slots[missed] = [_NOBODY if (slot := known(key)) is None else slot for key in keys]
        new = np.flatnonzero(slots[missed] == _NOBODY)
        if len(new):
            slots[missed[new]] = self._begin([keys[i] for i in new.tolist()])
        self._missed += len(missed)
        if self._missed > len(self._slots) // _SHARE:
            self._index()
        return slots

    def _index(self) -> None:
        """Let ``of`` find all streams at once; those that are not in the index are found one by one."""
        used = np.flatnonzero(self.source != _NOBODY)
        every = mixed(self.source[used], self.target[used])
        order = np.argsort(every)
        self._mixed, self._indexed = every[order], used[order]
        self._missed = 0

    def _begin(self, keys: list[tuple[int, int]]) -> Array:
        slots = self._room(len(keys))
        known, number = self._slots.get, self.number
        for key, slot in zip(keys, slots.tolist(), strict=True):
            other = known((key[1], key[0]))
            number[slot] = self.next_number() if other is None else number[other] ^ 1
            self._slots[key] = slot
        self.source[slots], self.target[slots] = np.array(keys, np.int64).T
        self.way[slots], self._protocol[slots] = CAREFUL, Protocol.UNKNOWN.value
        self.sequence[slots] = self._origin[slots] = _NEVER
        self.need[slots] = 0
        self.open[slots] = self.ended[slots] = self._synced[slots] = False
        self._asleep[slots] = True
        return slots

    def _room(self, count: int) -> Array:
        """So many slots that nobody has."""
        again = self._free[-count:]
        del self._free[-count:]
        fresh = count - len(again)
        slots = np.array([*again, *range(self._used, self._used + fresh)], np.int64)
        self._used += fresh
        while self._used > len(self.way):
            self._grow()
        return slots

    def next_number(self) -> int:
        """A number for a pair of streams, the first of the two; no others have it."""
        self._last_number += 2
        return self._last_number

    def renew(self, stream: Stream) -> Stream:
        """Another connection between the same two ends begins in the place of one."""
        slot = self._slots[stream.source, stream.target]
        new = self._kind(stream.source, stream.target, stream.number)
        self._awake[slot] = new
        self.way[slot] = CAREFUL
        self.open[slot] = self.ended[slot] = self._asleep[slot] = False
        return new

    def _grow(self) -> None:
        for name, blank in _COLUMNS.items():
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full_like(old, blank)]))

    # ---- with an object, and without

    def stream(self, slot: int) -> Stream:
        """The stream, which knows what the arrays know."""
        stream = self._awake.get(slot)
        if stream is None:
            return self._woken(slot)
        if self.way[slot] == PLAIN:
            stream.next_sequence = int(self.sequence[slot])
            stream.need = int(self.need[slot])
        return stream

    def _woken(self, slot: int) -> Stream:
        ends = int(self.source[slot]), int(self.target[slot])
        stream = self._kind(*ends, int(self.number[slot]))
        stream.protocol = Protocol(int(self._protocol[slot]))
        stream.synced = bool(self._synced[slot])
        stream.goes_on(int(self.sequence[slot]), int(self._origin[slot]))
        self._awake[slot] = stream
        self._asleep[slot] = False
        return stream

    def let_sleep(self) -> None:
        """Do without the objects of streams of which the arrays know everything, if there are many."""
        if len(self._awake) <= self._enough:
            return
        for slot in list(self._awake):
            stream = self.stream(slot)
            if stream.has_nothing_open:
                self.sequence[slot], self._origin[slot] = stream.next_sequence, stream.origin
                self._synced[slot], self._protocol[slot] = stream.synced, stream.protocol.value
                del self._awake[slot]
                self._asleep[slot] = True
        self._enough = max(MOST_AWAKE, 2 * len(self._awake))

    def announce(self, slots: Array, sequence: Array) -> Array:
        """Take note of streams that begin.

        Args:
            slots: their slots, no two of which are the same.
            sequence: of the first byte of each.

        Returns:
            Which of them were not known to have begun; nothing was noted of the others.
        """
        new: Array = self._asleep[slots] & (self.sequence[slots] == _NEVER)
        of = slots[new]
        self.sequence[of] = self._origin[of] = sequence[new]
        self._synced[of] = True
        return new

    def start(self, slots: Array, sequence: Array, begin: Array) -> Array:
        """Take note of streams that begin with a frame.

        Args:
            slots: their slots, no two of which are the same.
            sequence: of the first byte of each frame.
            begin: whether they were announced just now.

        Returns:
            Which of them are plain now; the others have an object that has to be asked, or began elsewhere.
        """
        unknown = self._asleep[slots] & (self._protocol[slots] == Protocol.UNKNOWN.value)
        begun: Array = unknown & self._synced[slots] & (self.sequence[slots] == sequence) & ~begin
        begun[np.flatnonzero(begin)] = self.announce(slots[begin], sequence[begin])
        of = slots[begun]
        self._protocol[of], self.way[of] = Protocol.REMOTING.value, PLAIN
        return begun

    def note(self, slot: int, stream: Stream) -> None:
        """Let the arrays know what the stream knows."""
        self.ended[slot] |= stream.ended
        if stream.is_plain:
            self.way[slot] = PLAIN
            self.sequence[slot] = stream.next_sequence
            self.need[slot] = stream.need
            self.open[slot] = stream.header is not None
        else:
            self.way[slot] = STRANGE if stream.protocol in FOREIGN else CAREFUL

    # ---- so that they do not become too many

    def oldest(self, count: int) -> Array:
        """Slots of streams that have ended, then of those that nothing came from for longest."""
        used = np.flatnonzero(self.source != _NOBODY)
        order: Array = np.lexsort((self.seen[used], ~self.ended[used]))[:count]
        return used[order]

    def has_other(self, slot: int) -> bool:
        """Whether the other direction of a stream is remembered."""
        return (int(self.target[slot]), int(self.source[slot])) in self._slots

    def forget(self, slot: int) -> Stream | None:
        """Forget a stream; gives its object, if it has one."""
        del self._slots[int(self.source[slot]), int(self.target[slot])]
        stream = self.stream(slot) if slot in self._awake else None
        self._awake.pop(slot, None)
        self.source[slot] = self.target[slot] = _NOBODY
        self._free.append(slot)
        return stream

    def slot(self, stream: Stream) -> int:
        """The slot of a stream."""
        return self._slots[stream.source, stream.target]


_COLUMNS: Final = {
    "way": 0, "sequence": 0, "need": 0, "open": False, "seen": 0, "number": 0, "ended": False,
    "_origin": 0, "_synced": False, "_protocol": 0, "_asleep": False, "source": _NOBODY, "target": _NOBODY,
}  # fmt: skip
"""The arrays, and what they hold where there is no stream."""


def mixed(source: Integers, target: Integers) -> Array:
    """A number of 64 bits for each pair of ends; few pairs have the same."""
    one: Array = source.view(np.uint64)
    other: Array = target.view(np.uint64)
    result: Array = one * _MIX ^ other
    return result

"""``Slots``: the streams that are remembered, each with a number, and what the short way knows of them as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.stream import FOREIGN, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocketwire_tools.pcap.capture import Integers

    Array = np.ndarray[Any, Any]

CAREFUL: Final = 0
PLAIN: Final = 1
STRANGE: Final = 2
"""Ways of a stream: bytes are looked at one segment after the other, many streams at once, or not at all."""
_KEEPING: Final = 1024
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_NOBODY: Final = -1
_SHARE: Final = 32
"""The index is made anew when so small a part of the streams was not in it."""


class Slots:
    """Streams by sender and receiver.

    Args:
        kind: makes a stream of sender, receiver and number.

    Attributes:
        way: of the stream in each slot.
        sequence: number of the next byte, of plain streams.
        need: bytes until the next frame begins, of plain streams.
        open: whether the body of a frame goes on, of plain streams.
        seen: when the last segment came, in nanoseconds.
        number: of each stream.
        source: its sender, -1 in a free slot.
        target: its receiver.
    """

    def __init__(self, kind: type[Stream]) -> None:
        self._kind = kind
        self._last_number = 0
        self._slots: dict[tuple[int, int], int] = {}
        self._streams: list[Stream | None] = []
        self._free: list[int] = []
        self.way = np.zeros(_KEEPING, np.int8)
        self.sequence = np.zeros(_KEEPING, np.int64)
        self.need = np.zeros(_KEEPING, np.int64)
        self.open = np.zeros(_KEEPING, np.bool_)
        self.seen = np.zeros(_KEEPING, np.int64)
        self.number = np.zeros(_KEEPING, np.int64)
        self.source = np.full(_KEEPING, _NOBODY, np.int64)
        self.target = np.full(_KEEPING, _NOBODY, np.int64)
        self._mixed: Array = np.zeros(1, np.uint64)
        self._indexed: Array = np.zeros(1, np.int64)
        self._missed = 0

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[Stream]:
        return (self.stream(slot) for slot in list(self._slots.values()))

    def of(self, source: Integers, target: Integers) -> Array:
        """The slots of streams; those that are not known begin."""
        at: Any = np.searchsorted(self._mixed, mixed(source, target))
        slots: Array = self._indexed[np.minimum(at, len(self._indexed) - 1)]
        missed = np.flatnonzero((self.source[slots] != source) | (self.target[slots] != target))
        if not len(missed):
            return slots
        keys = zip(source[missed].tolist(), target[missed].tolist(), strict=True)
        known = self._slots.get
        slots[missed] = [self._begin(key) if (slot := known(key)) is None else slot for key in keys]
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

    def _begin(self, key: tuple[int, int]) -> int:
        other = self._slots.get((key[1], key[0]))
        generation = 0
        if other is None:
            self._last_number += 2
            number = self._last_number
        else:
            number = int(self.number[other]) ^ 1
            generation = self.stream(other).generation
        slot = self._free.pop() if self._free else len(self._streams)
        if slot == len(self._streams):
            self._streams.append(None)
            if slot == len(self.way):
                self._grow()
        self._streams[slot] = self._kind(*key, number, generation)
        self._slots[key] = slot
        self.source[slot], self.target[slot] = key
        self.way[slot] = CAREFUL
        self.open[slot] = False
        self.number[slot] = number
        return slot

    def renew(self, stream: Stream) -> Stream:
        """Another connection between the same two ends begins in the place of one."""
        slot = self._slots[stream.source, stream.target]
        generation = stream.generation + 1
        opposite = self._slots.get((stream.target, stream.source))
        other = None if opposite is None else self._streams[opposite]
        if other is not None and other.generation == generation:
            number = other.number ^ 1
        else:
            self._last_number += 2
            number = self._last_number
        new = self._kind(stream.source, stream.target, number, generation)
        self._streams[slot] = new
        self.number[slot] = number
        self.way[slot] = CAREFUL
        self.open[slot] = False
        return new

    def _grow(self) -> None:
        for name in ("way", "sequence", "need", "open", "seen", "number"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        for name in ("source", "target"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full_like(old, _NOBODY)]))

    def stream(self, slot: int) -> Stream:
        """The stream, which knows what the arrays know."""
        stream = self._streams[slot]
        assert stream is not None  # noqa: S101 - a slot in use has one
        if self.way[slot] == PLAIN:
            stream.next_sequence = int(self.sequence[slot])
            stream.need = int(self.need[slot])
        return stream

    def slot(self, stream: Stream) -> int:
        """The slot of a stream."""
        return self._slots[stream.source, stream.target]

    def note(self, slot: int, stream: Stream) -> None:
        """Let the arrays know what the stream knows."""
        if stream.is_plain:
            self.way[slot] = PLAIN
            self.sequence[slot] = stream.next_sequence
            self.need[slot] = stream.need
            self.open[slot] = stream.header is not None
        else:
            self.way[slot] = STRANGE if stream.protocol in FOREIGN else CAREFUL

    def oldest(self, count: int) -> Iterable[Stream]:
        """Streams that have ended, then those that nothing came from for longest."""
        by_age = sorted(self._slots.values(), key=self._age)
        return [self.stream(slot) for slot in by_age[:count]]

    def _age(self, slot: int) -> tuple[bool, int]:
        stream = self._streams[slot]
        return stream is not None and not stream.ended, int(self.seen[slot])

    def forget(self, stream: Stream) -> None:
        """Forget a stream."""
        slot = self._slots.pop((stream.source, stream.target))
        self._streams[slot] = None
        self.source[slot] = self.target[slot] = _NOBODY
        self._free.append(slot)


def mixed(source: Integers, target: Integers) -> Array:
    """A number of 64 bits for each pair of ends; few pairs have the same."""
    one: Array = source.view(np.uint64)
    other: Array = target.view(np.uint64)
    result: Array = one * _MIX ^ other
    return result

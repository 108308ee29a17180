"""``StreamTable``: the remembered streams, and the state that the vectorised path needs, as arrays.

A stream whose whole state is in the arrays needs no object. If there are many streams, most have no
object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.streams.resync import Protocol
from rocketwire_tools.pcap.streams.stream import FOREIGN, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.records import Array

SEQUENTIAL: Final = 0
VECTORISED: Final = 1
IGNORED: Final = 2  # Modes of a stream: segment by segment, vectorised, or ignored
MAX_OBJECTS: Final = 4096  # Streams with an object, unless more need one
_KEEPING: Final = 1024
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_FREE: Final = -1
_NEVER: Final = -1
_SHARE: Final = 32  # The index is rebuilt when this share of the streams was not in it


class StreamTable:
    def __init__(self, stream_class: type[Stream]) -> None:
        self._kind = stream_class
        self._last_number = 0
        self._slots: dict[tuple[int, int], int] = {}
        self._objects: dict[int, Stream] = {}
        self._enough = MAX_OBJECTS
        self._used = 0
        self._free: list[int] = []
        self.mode = np.zeros(_KEEPING, np.int8)  # of the stream in each slot
        # number of the next byte, of vectorised streams and of those without object; -1 before the
        # first byte
        self.sequence = np.zeros(_KEEPING, np.int64)
        # bytes until the next frame begins, of vectorised streams
        self.need = np.zeros(_KEEPING, np.int64)
        # whether a frame's body is open, of vectorised streams
        self.open = np.zeros(_KEEPING, np.bool_)
        self.seen = np.zeros(_KEEPING, np.int64)  # time of the last segment in nanoseconds
        # of each stream, the same for all connections of its ends
        self.number = np.zeros(_KEEPING, np.int64)
        self.ended = np.zeros(_KEEPING, np.bool_)  # whether its sender has sent FIN or RST
        self._origin = np.zeros(_KEEPING, np.int64)
        self._synced = np.zeros(_KEEPING, np.bool_)
        self._protocol = np.zeros(_KEEPING, np.int8)
        self._is_bare = np.zeros(_KEEPING, np.bool_)
        self.source = np.full(_KEEPING, _FREE, np.int64)  # its sender, -1 in a free slot
        self.target = np.full(_KEEPING, _FREE, np.int64)  # its receiver
        self._mixed: Array = np.zeros(1, np.uint64)
        self._indexed: Array = np.zeros(1, np.int64)
        self._missed = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def objects(self) -> Iterator[Stream]:
        """The streams with an object; all others have nothing open or waiting."""
        return (self.stream(slot) for slot in list(self._objects))

    def hosts(self) -> set[int]:
        used = self.source != _FREE
        return set(np.unique(np.append(self.source[used], self.target[used]) >> 16).tolist())

    def of(self, source: Array, target: Array) -> Array:
        """Slots of distinct streams; adds unknown streams."""
        indexes: Any = np.searchsorted(self._mixed, mix(source, target))
        slots: Array = self._indexed[np.minimum(indexes, len(self._indexed) - 1)]
        missed = np.flatnonzero((self.source[slots] != source) | (self.target[slots] != target))
        if not len(missed):
            return slots
        keys = list(zip(source[missed].tolist(), target[missed].tolist(), strict=True))
        get_slot = self._slots.get
        slots[missed] = [_FREE if (slot := get_slot(key)) is None else slot for key in keys]
        new = np.flatnonzero(slots[missed] == _FREE)
        if len(new):
            slots[missed[new]] = self._begin([keys[i] for i in new.tolist()])
        self._missed += len(missed)
        if self._missed > len(self._slots) // _SHARE:
            self._index()
        return slots

    def _index(self) -> None:
        # Rebuild the index for ``of``; streams outside of it are looked up one by one
        used = np.flatnonzero(self.source != _FREE)
        every = mix(self.source[used], self.target[used])
        order = np.argsort(every)
        self._mixed, self._indexed = every[order], used[order]
        self._missed = 0

    def _begin(self, keys: list[tuple[int, int]]) -> Array:
        slots = self._room(len(keys))
        get_slot, number = self._slots.get, self.number
        for key, slot in zip(keys, slots.tolist(), strict=True):
            opposite = get_slot((key[1], key[0]))
            number[slot] = self.next_number() if opposite is None else number[opposite] ^ 1
            self._slots[key] = slot
        self.source[slots], self.target[slots] = np.array(keys, np.int64).T
        self.mode[slots], self._protocol[slots] = SEQUENTIAL, Protocol.UNKNOWN.value
        self.sequence[slots] = self._origin[slots] = _NEVER
        self.need[slots] = 0
        self.open[slots] = self.ended[slots] = self._synced[slots] = False
        self._is_bare[slots] = True
        return slots

    def _room(self, count: int) -> Array:
        reused = self._free[-count:]
        del self._free[-count:]
        fresh = count - len(reused)
        slots = np.array([*reused, *range(self._used, self._used + fresh)], np.int64)
        self._used += fresh
        while self._used > len(self.mode):
            self._grow()
        return slots

    def next_number(self) -> int:
        self._last_number += 2
        return self._last_number

    def renew(self, stream: Stream) -> Stream:
        """Replace a stream by that of the next connection between the same ends."""
        slot = self._slots[stream.source, stream.target]
        new = self._kind(stream.source, stream.target, stream.number)
        self._objects[slot] = new
        self.mode[slot] = SEQUENTIAL
        self.open[slot] = self.ended[slot] = self._is_bare[slot] = False
        return new

    def _grow(self) -> None:
        for name, blank in _COLUMNS.items():
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full_like(old, blank)]))

    # ---- objects

    def stream(self, slot: int) -> Stream:
        """The object of a stream, updated from the arrays."""
        stream = self._objects.get(slot)
        if stream is None:
            return self._create_object(slot)
        if self.mode[slot] == VECTORISED:
            stream.next_sequence = int(self.sequence[slot])
            stream.need = int(self.need[slot])
        return stream

    def _create_object(self, slot: int) -> Stream:
        ends = int(self.source[slot]), int(self.target[slot])
        stream = self._kind(*ends, int(self.number[slot]))
        stream.protocol = Protocol(int(self._protocol[slot]))
        stream.synced = bool(self._synced[slot])
        stream.resume(int(self.sequence[slot]), int(self._origin[slot]))
        self._objects[slot] = stream
        self._is_bare[slot] = False
        return stream

    def drop_objects(self) -> None:
        """If there are many objects, drop those whose state is completely in the arrays."""
        if len(self._objects) <= self._enough:
            return
        for slot in list(self._objects):
            stream = self.stream(slot)
            if stream.has_nothing_open:
                self.sequence[slot], self._origin[slot] = stream.next_sequence, stream.origin
                self._synced[slot], self._protocol[slot] = stream.synced, stream.protocol.value
                del self._objects[slot]
                self._is_bare[slot] = True
        self._enough = max(MAX_OBJECTS, 2 * len(self._objects))

    def announce(self, slots: Array, sequence: Array) -> Array:
        """Set the beginning of streams; returns which of them had none before. The others are
        unchanged."""
        new: Array = self._is_bare[slots] & (self.sequence[slots] == _NEVER)
        new_slots = slots[new]
        self.sequence[new_slots] = self._origin[new_slots] = sequence[new]
        self._synced[new_slots] = True
        return new

    def start(self, slots: Array, sequence: Array, begin: Array) -> Array:
        """Start streams that begin with a frame; returns which of them are vectorised now. The
        others have an object that decides, or began elsewhere."""
        unknown = self._is_bare[slots] & (self._protocol[slots] == Protocol.UNKNOWN.value)
        started: Array = unknown & self._synced[slots] & (self.sequence[slots] == sequence) & ~begin
        started[np.flatnonzero(begin)] = self.announce(slots[begin], sequence[begin])
        started_slots = slots[started]
        self._protocol[started_slots], self.mode[started_slots] = (
            Protocol.REMOTING.value,
            VECTORISED,
        )
        return started

    def note(self, slot: int, stream: Stream) -> None:
        """Update the arrays from a stream's object."""
        self.ended[slot] |= stream.ended
        if stream.is_vectorisable:
            self.mode[slot] = VECTORISED
            self.sequence[slot] = stream.next_sequence
            self.need[slot] = stream.need
            self.open[slot] = stream.header is not None
        else:
            self.mode[slot] = IGNORED if stream.protocol in FOREIGN else SEQUENTIAL

    # ---- limits

    def oldest(self, count: int) -> Array:
        """Slots of ended streams, then of those that have been silent longest."""
        used = np.flatnonzero(self.source != _FREE)
        order: Array = np.lexsort((self.seen[used], ~self.ended[used]))[:count]
        return used[order]

    def has_other(self, slot: int) -> bool:
        return (int(self.target[slot]), int(self.source[slot])) in self._slots

    def forget(self, slot: int) -> Stream | None:
        """Forget a stream; returns its object, if it has one."""
        del self._slots[int(self.source[slot]), int(self.target[slot])]
        stream = self.stream(slot) if slot in self._objects else None
        self._objects.pop(slot, None)
        self.source[slot] = self.target[slot] = _FREE
        self._free.append(slot)
        return stream

    def slot(self, stream: Stream) -> int:
        return self._slots[stream.source, stream.target]


_COLUMNS: Final = {
    "mode": 0, "sequence": 0, "need": 0, "open": False, "seen": 0, "number": 0, "ended": False,
    "_origin": 0, "_synced": False, "_protocol": 0, "_is_bare": False,
    "source": _FREE, "target": _FREE,
}  # fmt: skip
"""The arrays, and their values in a free slot."""


def mix(source: Array, target: Array) -> Array:
    """A number of 64 bits for each pair of ends; collisions are rare."""
    sources: Array = source.view(np.uint64)
    targets: Array = target.view(np.uint64)
    return sources * _MIX ^ targets

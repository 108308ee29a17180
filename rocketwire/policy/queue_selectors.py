"""Queue selection by a key of the application.

Java's third selector, by machine room, always returns null, so it is not implemented here.

Java: ``client.producer.selector``, ``java.util.Random``, ``hashCode`` of the boxed types.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.policy.java_strings import string_hash, to_int32

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue

Key: TypeAlias = str | int | float | bool

_MULTIPLIER: Final = 0x5DEECE66D
_MASK: Final = (1 << 48) - 1
_LONG: Final = (1 << 64) - 1


def hash_code(key: Key) -> int:
    """Return Java's ``hashCode`` of a key, int32.

    An int counts as an ``Integer`` if it fits, else as a ``Long``.  For negative numbers the two
    types have different hash codes.

    Raises:
        struct.error: an int beyond 64 bits.
    """
    if isinstance(key, str):
        return string_hash(key)
    if isinstance(key, bool):
        return 1231 if key else 1237
    if isinstance(key, float):
        (bits,) = struct.unpack(">q", struct.pack(">d", key))
        return to_int32(bits ^ (bits & _LONG) >> 32)
    if -(1 << 31) <= key < 1 << 31:
        return key
    (bits,) = struct.unpack(">Q", struct.pack(">q", key))
    return to_int32(bits ^ bits >> 32)


def queue_by_hash(queues: Sequence[MessageQueue], key: Key) -> MessageQueue:
    """Return the queue of a key (Java: ``SelectMessageQueueByHash``).

    Raises:
        ZeroDivisionError: no queues.
    """
    return queues[abs(hash_code(key)) % len(queues)]


class RandomSelector:
    """Random selection with Java's sequence of a seed (Java: ``SelectMessageQueueByRandom``)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        """Create a sequence (Java: ``java.util.Random``).

        Args:
            seed: its lowest 48 bits count; Java uses the clock.
        """
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def select(self, queues: Sequence[MessageQueue]) -> MessageQueue:
        """Return the next random queue.

        Raises:
            ValueError: no queues.
        """
        return queues[self.next_int(len(queues))]

    def next_int(self, bound: int) -> int:
        """Return a random number from 0 to ``bound`` - 1.

        Raises:
            ValueError: ``bound`` is not positive.
        """
        if bound <= 0:
            raise ValueError(f"bound must be positive, not {bound}")
        bits = self._next_31_bits()
        if bound & (bound - 1) == 0:
            return bound * bits >> 31
        while bits - bits % bound + bound - 1 > 0x7FFFFFFF:
            bits = self._next_31_bits()
        return bits % bound

    def _next_31_bits(self) -> int:
        self._state = (self._state * _MULTIPLIER + 0xB) & _MASK
        return self._state >> 17

"""The order in which Java's hash tables hand out their entries, so that lists leave in the order
Java sends them.

No peer depends on that order; byte equality with the reference does.  Python's ``dict`` keeps the
order of insertion, in which Java chains the entries of one bucket, so the number of buckets that
Java would have by now is all that is stored besides the entries.

Rules of this file: a map here is a ``dict`` that is only ever changed through ``d[key] = value``,
``pop`` and ``del``; ``update``, ``setdefault`` and ``|=`` would miss the growth.  Not followed:
Java turns a bucket with more than eight entries into a tree; and a shrunken concurrent table may
differ inside one bucket, because the time of its growth is not stored.

Evidence: ``java.util.HashMap``, ``java.util.concurrent.ConcurrentHashMap`` (the same in JDK 8 to
17).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from operator import mul
from typing import TypeVar

from rocketwire_namesrv.routes.steps import run_steps

K = TypeVar("K", bound="str | int")
V = TypeVar("V")

DEFAULT_CAPACITY = 16
"""Buckets of a new ``HashMap``, ``HashSet`` and ``ConcurrentHashMap``."""

ORDERED_ENTRIES = 4096
"""A concurrent table with more entries is handed out in the order of insertion, to save time."""

ORDERED_PER_STEP = 128
"""Keys, or buckets, that one step puts in order."""

_POWERS = tuple(pow(31, exponent, 1 << 32) for exponent in range(255, -1, -1))


def string_hash(text: str) -> int:
    """``String.hashCode`` as an unsigned 32-bit number, over UTF-16 code units."""
    units: bytes | memoryview = (
        text.encode()
        if text.isascii()
        else memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    )
    length = len(units)
    value = 0
    if length <= len(_POWERS):
        value = sum(map(mul, units, _POWERS[len(_POWERS) - length :]))
        return value & 0xFFFF_FFFF
    for unit in units:
        value = (value * 31 + unit) & 0xFFFF_FFFF
    return value


def long_hash(value: int) -> int:
    """``Long.hashCode`` as an unsigned 32-bit number."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    return (value ^ (value >> 32)) & 0xFFFF_FFFF


def spread(key: str | int) -> int:
    """Return the hash that a table uses; its low bits select the bucket (a concurrent table clears
    the top bit, which no table reaches)."""
    value = string_hash(key) if isinstance(key, str) else long_hash(key)
    return value ^ (value >> 16)


def copy_capacity(entries: int) -> int:
    """Return the buckets of ``new HashMap<>(other)`` for the number of entries of ``other``."""
    return _power_of_two(entries * 4 // 3 + 1)


def set_copy_capacity(entries: int) -> int:
    """Return the buckets of ``new HashSet<>(other)``."""
    return _power_of_two(max(entries * 4 // 3 + 1, DEFAULT_CAPACITY))


def hash_order(keys: Iterable[K], capacity: int) -> list[K]:
    """Order keys given in the order of insertion as a ``HashMap`` of that many buckets does."""
    mask = capacity - 1
    return sorted(keys, key=lambda key: spread(key) & mask)


def concurrent_order(
    keys: Iterable[str], initial: int = DEFAULT_CAPACITY, capacity: int = 0
) -> list[str]:
    """Order keys given in the order of insertion as a ``ConcurrentHashMap`` does.

    Args:
        keys: in the order of insertion.
        initial: buckets at the beginning.
        capacity: buckets it has now, if removed entries made it grow further than these keys do.
    """
    return run_steps(concurrent_order_in_steps(keys, initial, capacity))


def concurrent_order_in_steps(
    keys: Iterable[str], initial: int = DEFAULT_CAPACITY, capacity: int = 0
) -> Generator[None, None, list[str]]:
    buckets: dict[int, list[tuple[int, str]]] = {}
    size = initial
    for count, key in enumerate(keys, 1):
        value = spread(key)
        buckets.setdefault(value & (size - 1), []).append((value, key))
        if count >= size - (size >> 2):
            buckets = yield from _split(buckets, size)
            size *= 2
        if count % ORDERED_PER_STEP == 0:
            yield
    while size < capacity:
        buckets = yield from _split(buckets, size)
        size *= 2
    return [key for index in sorted(buckets) for _, key in buckets[index]]


def _split(
    buckets: dict[int, list[tuple[int, str]]], size: int
) -> Generator[None, None, dict[int, list[tuple[int, str]]]]:
    # As ConcurrentHashMap does: the last run that stays together keeps its order, the entries
    # before it are reversed.
    result: dict[int, list[tuple[int, str]]] = {}
    for number, (index, chain) in enumerate(buckets.items(), 1):
        if number % ORDERED_PER_STEP == 0:
            yield
        run = len(chain) - 1
        while run and not (chain[run - 1][0] ^ chain[-1][0]) & size:
            run -= 1
        result[index + (chain[run][0] & size)] = chain[run:]
        for entry in chain[:run]:
            result.setdefault(index + (entry[0] & size), []).insert(0, entry)
    return result


def _power_of_two(minimum: int) -> int:
    return 1 << (minimum - 1).bit_length()


class HashMap(dict[K, V]):
    """A ``dict`` that knows the order of Java's ``HashMap`` (and, with None as values, of
    ``HashSet``)."""

    __slots__ = ("capacity",)

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        super().__init__()
        self.capacity = capacity

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self.capacity * 3 // 4:
            self.capacity *= 2

    def in_java_order(self) -> list[K]:
        return hash_order(self, self.capacity)

    def copy_as_java(self) -> HashMap[K, V]:
        """Return what ``new HashMap<>(this)`` gives: the same entries, possibly in another
        order."""
        result: HashMap[K, V] = HashMap(copy_capacity(len(self)))
        for key in self.in_java_order():
            result[key] = self[key]
        return result


class ConcurrentHashMap(dict[str, V]):
    """A ``dict`` that knows the order of Java's ``ConcurrentHashMap``."""

    __slots__ = ("capacity", "initial")

    def __init__(self, initial: int = DEFAULT_CAPACITY) -> None:
        super().__init__()
        self.initial = initial
        self.capacity = initial

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) >= self.capacity - (self.capacity >> 2):
            self.capacity *= 2

    def insert_all(self, entries: Iterable[tuple[str, V]]) -> None:
        """Set many entries; the capacity is updated at the end."""
        super().update(entries)
        while len(self) >= self.capacity - (self.capacity >> 2):
            self.capacity *= 2

    def in_java_order(self) -> list[str]:
        """Return the keys in Java's order; in the order of insertion beyond
        ``ORDERED_ENTRIES``."""
        if len(self) > ORDERED_ENTRIES:
            return list(self)
        return concurrent_order(self, self.initial, self.capacity)

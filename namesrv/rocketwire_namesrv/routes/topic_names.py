"""The names of topics in the order of a registration body, kept for the next body of that broker.

If all topics of a broker change, the body still has the same topics in the same order.  With their
names at hand, a chunk of the body need not be searched for them.

Rules of this file: the kept texts are the very keys of the route table, so that a name costs one
pointer, and brokers with the same topics in the same order share one list.  If the table has equal
keys, ``use_keys`` puts them in the place of the texts of the body; names that are not in the table
are not kept (``TopicNames.drop_foreign``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import chain, islice
from typing import Final
from weakref import WeakValueDictionary

KEYS_PER_STEP: Final = 4096
"""Keys of the table that one step looks at."""
BATCHES_PER_STEP: Final = 8
"""Batches of names that one step replaces."""

_PLAIN: Final = bytes(byte for byte in range(ord("!"), 127) if byte not in b'"\\,{[')


def is_plain(names: str) -> bool:
    """Returns whether JSON and the packed form write names as they are, and ``JsonLimits`` counts
    nothing in them.  All names that Java's ``TopicValidator`` accepts are plain."""
    return names.isascii() and not names.encode().translate(None, _PLAIN)


class TopicNames:
    """The names of a batch of topics, all of them plain.

    Attributes:
        names: in the order of the body; not to be changed.  Empty if they are not kept.
        are_keys: whether they are the keys of the route table.
    """

    __slots__ = ("__weakref__", "are_keys", "names")

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.are_keys = False

    def drop_foreign(self) -> None:
        """Drops the names unless they are the keys of the route table."""
        if not self.are_keys:
            self.names = []


def use_keys(batches: Sequence[TopicNames], table: Iterable[str]) -> Generator[None, None, None]:
    """Replaces names by the equal keys of the table, in steps.

    Args:
        batches: a batch is left as it is if one of its names is not in the table.
        table: nothing is replaced if its size changes between two steps.
    """
    missing = set(chain.from_iterable(batch.names for batch in batches))
    key_of: dict[str, str] = {}
    keys = iter(table)
    try:
        while missing and (step := list(islice(keys, KEYS_PER_STEP))):
            equal = missing.intersection(step)  # the elements of the list, not of the set
            key_of.update(zip(equal, equal, strict=True))
            yield
    except RuntimeError:
        return
    for number, batch in enumerate(batches, 1):
        if all(map(key_of.__contains__, batch.names)):
            batch.names = list(map(key_of.__getitem__, batch.names))
            batch.are_keys = True
        if number % BATCHES_PER_STEP == 0:
            yield


class SharedNames:
    """The names that are kept for at least one broker."""

    def __init__(self) -> None:
        self._by_hash: WeakValueDictionary[int, TopicNames] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._by_hash)

    def shared(self, names: list[str], joined: str) -> TopicNames:
        """Returns the same object for the same names, as long as a broker has it.

        Args:
            names: in the order of the body.
            joined: all names in one text.
        """
        number = hash(joined)
        shared = self._by_hash.get(number)
        if shared is None or shared.names != names:
            shared = self._by_hash[number] = TopicNames(names)
        return shared

"""Names of topics that stand one behind another in a body, kept for the next body of that broker.

A broker whose topics have all changed still has the same topics, in the same order.  With their
names at hand a piece of its body is not searched for them: it is what these names make of it, or
not.

Rules of this file: what is kept are the very texts that the route table has, at the price of a
pointer each, and once for all brokers that name the same topics in the same order.  Where the table
has other texts of the same names, these are looked for once (``adopt``); names that it has not are
not kept (``KnownNames.settle``).
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

__all__ = ["KnownNames", "NamesInUse", "adopt", "marks_in"]

KEYS_PER_STEP: Final = 4096
"""Names of the table that are looked at in one step."""
RUNS_PER_STEP: Final = 8
"""Runs of names that are replaced in one step."""

_FORBIDDEN, _MARK, _OTHER = range(3)
_KINDS: Final = bytes(
    _FORBIDDEN if byte < ord(" ") or byte in b'"\\' else _MARK if byte in b",{[" else _OTHER
    for byte in range(256)
)


def marks_in(names: str) -> int | None:
    """How much ``JsonLimits`` counts in names; None if one is not written in JSON as it is."""
    kinds = names.encode().translate(_KINDS)
    return None if _FORBIDDEN in kinds else kinds.count(_MARK)


class KnownNames:
    """The names of a piece, none of them twice in its body, all written in JSON as they are.

    Attributes:
        names: in their order; not to be changed.  Empty where they are not kept.
        marks: how much ``JsonLimits`` counts in them.
        are_plain: whether they are ASCII without blanks: packed as they are.
        are_keys: whether they are the table's own texts.
    """

    __slots__ = ("__weakref__", "are_keys", "are_plain", "marks", "names")

    def __init__(self, names: list[str], marks: int, *, are_plain: bool) -> None:
        self.names = names
        self.marks = marks
        self.are_plain = are_plain
        self.are_keys = False

    def settle(self) -> None:
        """Keeps the names only if the table has taken them over."""
        if not self.are_keys:
            self.names = []


def adopt(known: Sequence[KnownNames], table: Iterable[str]) -> Generator[None, None, None]:
    """Puts the table's own texts in the place of equal ones, so that they may be kept, in steps.

    Args:
        known: names that may be those of topics which the table had before.
        table: it; nothing is adopted if its size changes between two steps.
    """
    wanted = set(chain.from_iterable(each.names for each in known))
    own: dict[str, str] = {}
    keys = iter(table)
    try:
        while wanted and (some := list(islice(keys, KEYS_PER_STEP))):
            found = wanted.intersection(some)  # the elements of the list, not of the set
            own.update(zip(found, found, strict=True))
            yield
    except RuntimeError:
        return
    for number, each in enumerate(known, 1):
        if all(map(own.__contains__, each.names)):
            each.names = list(map(own.__getitem__, each.names))
            each.are_keys = True
        if number % RUNS_PER_STEP == 0:
            yield


class NamesInUse:
    """What is kept for some broker."""

    def __init__(self) -> None:
        self._by_hash: WeakValueDictionary[int, KnownNames] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._by_hash)

    def shared(self, names: list[str], together: str, marks: int) -> KnownNames:
        """What is kept of these names already, or may be kept from now on.

        Args:
            names: in their order.
            together: all in one.
            marks: see ``KnownNames``.
        """
        number = hash(together)
        known = self._by_hash.get(number)
        if known is None or known.names != names:
            are_plain = together.isascii() and " " not in together
            known = self._by_hash[number] = KnownNames(names, marks, are_plain=are_plain)
        return known

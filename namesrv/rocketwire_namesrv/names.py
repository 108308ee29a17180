"""Names of topics that stand one behind another in a body, kept for the next body of that broker.

A broker whose topics have all changed still has the same topics, in the same order.  With their
names at hand a piece of its body is not searched for them: it is what these names make of it, or
not.

Rules of this file: what is kept are the very texts that the route table has, at the price of a
pointer each, and once for all brokers that name the same topics in the same order.  Names of which
the table has other texts are not kept (``KnownNames.settle``): they would be kept twice.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakValueDictionary

__all__ = ["KnownNames", "NamesInUse", "marks_in"]

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

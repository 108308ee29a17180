"""Names of topics that stand one behind another in a body, kept for the next body of that broker.

A broker whose topics have all changed still has the same topics, in the same order.  With their
names at hand a piece of its body is not searched for them: it is what these names make of it, or
not.

Rules of this file: what is kept are the very texts that the route table has, at the price of a
pointer each, and once for all brokers that name the same topics in the same order.  Names of which
the table has other texts are not kept (``KnownNames.settle``): they would be kept twice.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

__all__ = ["KnownNames", "NamesInUse"]


class KnownNames:
    """The names of a piece, none of them twice in its body.

    Attributes:
        names: in their order; not to be changed.  Empty where they are not kept.
        marks: how much ``JsonLimits`` counts in them.
        are_keys: whether they are the table's own texts.
    """

    __slots__ = ("__weakref__", "are_keys", "marks", "names")

    def __init__(self, names: list[str], marks: int) -> None:
        self.names = names
        self.marks = marks
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
            known = self._by_hash[number] = KnownNames(names, marks)
        return known

"""``Samples``: the values of one collection.

Rules of this file: families with the same names of labels share one table of rows, so that the
labels of a group's progress are in memory once and not once for each family. A value takes eight
bytes of an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Final

from rocketwire_tools.exporter.families import FAMILIES

MOST_SERIES: Final = 500_000
"""Default limit of the series of a collection."""

Labels = tuple[str, ...]
Rows = dict[Labels, int]
"""Values of labels -> number of their row."""


class Values(Mapping[Labels, float]):
    """The values of one family by values of labels.

    Args:
        rows: the rows of all families with these names of labels; it gets new ones here.
    """

    def __init__(self, rows: Rows) -> None:
        """Begin without values."""
        self._rows = rows
        self._values = array("d")
        self._has_value = bytearray()
        self._count = 0

    def __len__(self) -> int:
        """The number of series."""
        return self._count

    def __contains__(self, labels: object) -> bool:
        """Return whether the labels have a value."""
        row = self._rows.get(labels, -1)  # type: ignore[call-overload]  # any key is looked up
        return 0 <= row < len(self._values) and bool(self._has_value[row])

    def __getitem__(self, labels: Labels) -> float:
        """Return the value of labels."""
        if labels not in self:
            raise KeyError(labels)
        return self._values[self._rows[labels]]

    def __iter__(self) -> Iterator[Labels]:
        """Yield the labels that have a value."""
        return (labels for labels, _ in self.pairs())

    def pairs(self) -> Iterator[tuple[Labels, float]]:
        """Yield labels and value of each series."""
        for (labels, _), value, has_value in zip(
            self._rows.items(), self._values, self._has_value, strict=False
        ):
            if has_value:
                yield labels, value

    def set(self, labels: Labels, value: float) -> None:
        """Set a value."""
        row = self._rows.setdefault(labels, len(self._rows))
        missing = row + 1 - len(self._values)
        if missing > 0:
            self._values.extend([0.0] * missing)
            self._has_value.extend(bytes(missing))
        self._values[row] = value
        self._count += not self._has_value[row]
        self._has_value[row] = True


class Samples:
    """Values by family and labels.

    Args:
        most: maximum number of series; further ones are counted and dropped.

    Attributes:
        values: family -> values of labels -> value.
        dropped: number of dropped series.
    """

    def __init__(self, most: int = MOST_SERIES) -> None:
        """Begin without values."""
        rows: dict[tuple[str, ...], Rows] = {}
        self.values = {
            name: Values(rows.setdefault(family.labels, {})) for name, family in FAMILIES.items()
        }
        self.dropped = 0
        self._most = most
        self._count = 0

    def __len__(self) -> int:
        """The number of series."""
        return self._count

    def set(self, family: str, labels: Labels, value: float) -> None:
        """Set a value."""
        if self._has_place(family, labels):
            self.values[family].set(labels, value)

    def add(self, family: str, labels: Labels, value: float) -> None:
        """Add to a value, which begins at 0."""
        if self._has_place(family, labels):
            values = self.values[family]
            values.set(labels, values.get(labels, 0) + value)

    def _has_place(self, family: str, labels: Labels) -> bool:
        if labels in self.values[family]:
            return True
        if self._count >= self._most and not family.startswith("rocketmq_exporter_"):
            self.dropped += 1
            return False
        self._count += 1
        return True

"""``Samples``: the values of one collection."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.exporter.families import FAMILIES

MAX_SERIES: Final = 500_000
"""Default limit of the series of a collection."""

Labels = tuple[str, ...]


class Samples:
    """Values by family and labels; series beyond a maximum are counted and dropped."""

    def __init__(self, max_series: int = MAX_SERIES) -> None:
        # family -> values of labels -> value
        self.values: dict[str, dict[Labels, float]] = {name: {} for name in FAMILIES}
        self.dropped = 0
        self._max_series = max_series
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def set(self, family: str, labels: Labels, value: float) -> None:
        values = self.values[family]
        if labels not in values:
            if self._count >= self._max_series and not family.startswith("rocketmq_exporter_"):
                self.dropped += 1
                return
            self._count += 1
        values[labels] = value

    def add(self, family: str, labels: Labels, value: float) -> None:
        """Add to a value, which begins at 0."""
        self.set(family, labels, self.values[family].get(labels, 0) + value)

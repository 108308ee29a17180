"""``Skipped``: counts of packets that are not decoded, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@dataclass(slots=True)
class Skipped:
    """Counts of packets that are not decoded, by reason."""

    reasons: Counter[str] = field(default_factory=Counter[str])

    def count(self, reason: str, number: int) -> None:
        if number:
            self.reasons[reason] += number

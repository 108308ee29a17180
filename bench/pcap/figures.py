"""The figures of a run, and what was aimed at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report.

    Attributes:
        text: what it is.
        value: as measured.
        unit: of it.
        bound: what was aimed at; None for nothing.
        higher: whether more is better.
    """

    text: str
    value: float
    unit: str
    bound: float | None = None
    higher: bool = True

    @property
    def is_held(self) -> bool:
        """Whether it is as good as was aimed at."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.higher else self.value <= self.bound


_WIDTH: Final = 72


def lines(figures: list[Figure]) -> list[str]:
    """The report: text, figure, target, verdict."""
    made: list[str] = []
    for one in figures:
        line = f"{one.text:{_WIDTH}} {one.value:9,.{0 if one.value >= 100 else 2}f} {one.unit:5}"
        if one.bound is not None:
            sign = ">=" if one.higher else "<="
            line += f" {sign} {one.bound:g}".ljust(9) + ("held" if one.is_held else "MISSED")
        made.append(line.rstrip())
    aimed = [one for one in figures if one.bound is not None]
    made.append(f"{sum(one.is_held for one in aimed)} of {len(aimed)} targets held")
    return made

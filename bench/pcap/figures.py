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
    text: list[str] = []
    for figure in figures:
        line = (
            f"{figure.text:{_WIDTH}} {figure.value:9,.{0 if figure.value >= 100 else 2}f}"
            f" {figure.unit:5}"
        )
        if figure.bound is not None:
            sign = ">=" if figure.higher else "<="
            line += f" {sign} {figure.bound:g}".ljust(9) + ("held" if figure.is_held else "MISSED")
        text.append(line.rstrip())
    aimed = [figure for figure in figures if figure.bound is not None]
    text.append(f"{sum(figure.is_held for figure in aimed)} of {len(aimed)} targets held")
    return text

"""Figures of all rounds, and those of the peer."""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict


class Table:
    """A row for each measurement, a column for each candidate; a ratio is the median of rounds."""

    def __init__(self, columns: tuple[str, ...], peer: str) -> None:
        self._columns = columns
        self._peer = peer
        self._rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, row: str, column: str, value: float) -> None:
        self._rows[row][column].append(value)
        print(f"  {row}, {column}: {_text(value)}", file=sys.stderr, flush=True)

    def print(self) -> None:
        width = max(map(len, self._rows), default=0)
        others = [column for column in self._columns if column != self._peer]
        heads = "".join(f"{column:>16}" for column in self._columns)
        print(f"{'':{width}}{heads}" + "".join(f"{f'{one}/{self._peer}':>22}" for one in others))
        for row, values in self._rows.items():
            cells = "".join(_cell(values[column]) for column in self._columns)
            ratios = "".join(f"{_ratio(values[one], values[self._peer]):>22}" for one in others)
            print(f"{row:{width}}{cells}{ratios}".rstrip())


def _cell(values: list[float]) -> str:
    return f"{_text(statistics.median(values)) if values else '-':>16}"


def _text(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def _ratio(values: list[float], peers: list[float]) -> str:
    ratios = [value / peer for value, peer in zip(values, peers, strict=False) if peer]
    return f"{statistics.median(ratios):.2f}" if ratios else "-"

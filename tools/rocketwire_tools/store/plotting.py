"""Draws counted bytes as bars.  Only ``--plot`` imports matplotlib."""

from __future__ import annotations

import heapq
import importlib
import importlib.util
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIXES: Final = (".png", ".svg")
_ORDERED: Final = ("hour", "size")
"""What is drawn in its own order; anything else by bytes, the largest first."""
_MOST: Final = 30
"""Bars; the smaller groups are one bar together."""
_MOST_ORDERED: Final = 1000
_NAME: Final = 40
"""Characters of a name that are shown."""


def require(path: Path) -> None:
    """See to it that a picture can be drawn, before a store is read.

    Raises:
        ValueError: the suffix is not that of a picture, or matplotlib is missing.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: the name of a picture must end in {' or '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("--plot needs matplotlib: pip install rocketwire[plot]")


def draw(path: Path, by: str, sizes: Iterable[tuple[str, int]]) -> None:
    """Draw the bytes of groups.

    Args:
        path: of the picture.
        by: what the groups are.
        sizes: name and bytes of each group; the largest first.
    """
    module: Any = importlib.import_module("matplotlib.figure")
    bars = bars_of(by, sizes)
    figure = module.Figure(figsize=(10, max(3, len(bars) * 0.28 + 1)), layout="constrained")
    axes = figure.subplots()
    values = [size / 1e6 for _, size in bars]
    if by in _ORDERED:
        axes.bar(range(len(bars)), values)
        step = max(1, len(bars) // 12)
        axes.set_xticks(range(0, len(bars), step), [name for name, _ in bars[::step]])
        axes.tick_params("x", rotation=45)
        figure.set_size_inches(10, 4)
        axes.set(title=f"bytes by {by}", ylabel="MB")
    else:
        axes.barh(range(len(bars)), values)
        axes.set_yticks(range(len(bars)), [name for name, _ in bars])
        axes.invert_yaxis()
        axes.set(title=f"bytes by {by}", xlabel="MB")
    figure.savefig(path)


def bars_of(by: str, sizes: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Names and bytes of the bars, in their order.

    Args:
        by: what the groups are.
        sizes: name and bytes of each group; the largest first.
    """
    if by == "size":
        return sorted(sizes, key=lambda item: int(item[0]))[:_MOST_ORDERED]
    if by == "hour":
        return sorted(heapq.nlargest(_MOST_ORDERED, sizes))
    rest = iter(sizes)
    bars = [(_short(name), size) for name, size in islice(rest, _MOST)]
    count = others = 0
    for _, size in rest:
        count, others = count + 1, others + size
    return [*bars, (f"{count} others", others)] if count else bars


def _short(name: str) -> str:
    """A name without what matplotlib takes for a formula, and not too long."""
    text = name.replace("$", r"\$")
    return text if len(name) <= _NAME else f"{text[: _NAME - 1]}…"

"""Suggestions for a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str | None], *, count: int = 3) -> str:
    """Return ``; did you mean a, b?`` with the known names nearest to a name; empty if none is.

    Args:
        name: the name that does not exist; upper and lower case do not matter.
        known: the names that exist.
        count: maximum number of suggestions.
    """
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known if each}
    near = get_close_matches(name.lower(), by_lower, count, 0.8)
    return f"; did you mean {', '.join(by_lower[each] for each in near)}?" if near else ""

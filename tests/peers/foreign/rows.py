"""Compares the rows of a decoder with the truth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.peers.foreign.tcp import Truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Content = Counter[tuple[Any, ...]]

COLUMNS: Final = tuple(name for name in Truth._fields if not name.endswith("certain"))
PAIRS: Final = ("request_code", "latency_ns")
NONE: Final = (Counter[Any](), Counter[Any]())
"""No differences."""


def content(rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()) -> Content:
    """Count rows by the columns that the truth has.

    Args:
        rows: of the decoder.
        but: columns to leave out.
    """
    columns = [name for name in COLUMNS if name not in set(but)]
    return Counter(tuple(row[name] for name in columns) for row in rows)


def differences(
    truth: Iterable[Truth], rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()
) -> tuple[Content, Content]:
    """Compare rows with the truth.

    Args:
        truth: one entry for each frame.
        rows: of the decoder.
        but: columns to leave out.

    Returns:
        The frames without a row, and the rows without a frame. Both are empty if all is right.
    """
    columns = [name for name in COLUMNS if name not in set(but)]
    missing: Content = Counter()
    remaining = content(rows, but=but)
    for frame in sorted(truth, key=lambda frame: (not frame.certain, not frame.pair_certain)):
        versions = [frame] if frame.pair_certain else [frame, frame._replace(**_NO_PAIR)]
        keys = [tuple(getattr(version, name) for name in columns) for version in versions]
        key = next((key for key in keys if remaining[key]), None)
        if key is not None:
            remaining[key] -= 1
        elif frame.certain:
            missing[keys[0]] += 1
    return missing, +remaining


_NO_PAIR: Final[dict[str, Any]] = dict.fromkeys(PAIRS)

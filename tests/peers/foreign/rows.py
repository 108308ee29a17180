"""Compares the rows of a decoder with the truth."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.peers.foreign.tcp import Truth

Content = Counter[tuple[Any, ...]]

COLUMNS: Final = tuple(name for name in Truth._fields if not name.endswith("certain"))
PAIRS: Final = ("request_code", "latency_ns")
NONE: Final = (Counter[Any](), Counter[Any]())
"""No differences."""


def content(rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()) -> Content:
    columns = [name for name in COLUMNS if name not in set(but)]
    return Counter(tuple(row[name] for name in columns) for row in rows)


def differences(
    truth: Iterable[Truth], rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()
) -> tuple[Content, Content]:
    """Return the frames without a row of the decoder, and the rows without a frame."""
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

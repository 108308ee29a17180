"""What a decoder gives for a capture, held against the truth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from tests.support.foreign.tcp import Truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Content = Counter[tuple[Any, ...]]

COLUMNS: Final = tuple(name for name in Truth._fields if name != "certain")
PAIRS: Final = ("request_code", "latency_ns")


def content(rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()) -> Content:
    """Rows by what the truth knows of them.

    Args:
        rows: of the decoder.
        but: columns that do not count.
    """
    columns = [name for name in COLUMNS if name not in set(but)]
    return Counter(tuple(row[name] for name in columns) for row in rows)


def differences(
    truth: Iterable[Truth], rows: Iterable[Mapping[str, Any]], *, but: Iterable[str] = ()
) -> tuple[Content, Content]:
    """The frames that have no row, and the rows that no frame has; both are empty if all is right.

    Args:
        truth: of all frames.
        rows: of the decoder.
        but: columns that do not count.
    """
    found = content(rows, but=but)
    frames = list(truth)
    certain = content((frame._asdict() for frame in frames if frame.certain), but=but)
    possible = content((frame._asdict() for frame in frames), but=but)
    return certain - found, found - possible

"""``Columns``: fields of the headers of many frames, and texts given by their positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa, take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.files.records import Array

REQUESTS_WITH_LETTERS: Final = (310, 320, 325)
"""Requests whose header has one-letter names (Java: ``SendMessageRequestHeaderV2``)."""
GROUPS: Final = ("consumerGroup", "producerGroup", "group", "groupName")
"""Names of extension fields that hold the group; the first non-empty one counts."""
NAMES: Final = {"topic": ("topic",), "group": GROUPS, "queue_id": ("queueId",)}
"""Names of the extension fields of each column."""
LETTER_NAMES: Final = {"topic": "b", "group": "a", "queue_id": "e"}
"""The same for headers with one-letter names."""
OPTIONAL_COLUMNS: Final = frozenset({"language", "remark", *NAMES})
"""The columns that are made only on request."""
ABSENT: Final = -1  # Length of a missing text


@dataclass(slots=True)
class Columns:
    """Fields of headers, one entry for each header. A missing text is null, a missing number 0."""

    code: Array
    version: Array
    opaque: Array
    flag: Array
    ok: Array  # whether the header could be read
    language: Column | None = None
    remark: Column | None = None
    topic: Column | None = None
    group: Column | None = None
    queue_id: Column | None = None

    def take(self, order: Array) -> Columns:
        arrays: list[Any] = [getattr(self, name)[order] for name in _ARRAYS]
        columns = Columns(*arrays)
        order_column = column(order)
        for name in OPTIONAL_COLUMNS:
            if (values := getattr(self, name)) is not None:
                setattr(columns, name, take(values, order_column))
        return columns


_ARRAYS: Final = ("code", "version", "opaque", "flag", "ok")


def concatenate(parts: Sequence[Columns]) -> Columns:
    """Concatenate parts, which must have the same columns."""
    if len(parts) == 1:
        return parts[0]
    arrays: list[Any] = [
        np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
    ]
    columns = Columns(*arrays)
    for name in OPTIONAL_COLUMNS:
        values = [getattr(part, name) for part in parts]
        if values[0] is not None:
            setattr(columns, name, pa.concat_arrays(values))
    return columns


def has_letters(code: Array, flag: Array) -> Array:
    letters = np.zeros(len(code), np.bool_)
    for request_code in REQUESTS_WITH_LETTERS:
        letters |= code == request_code
    letters &= flag & 1 == 0
    return letters


def parse_int32(text: str | None) -> int | None:
    """The integer of 32 bits in a text; None if there is none."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if -(1 << 31) <= number < 1 << 31 else None


class Span(NamedTuple):
    """Texts: their offsets and lengths; ``ABSENT`` for missing texts."""

    start: Array
    length: Array


def text_column(text: Array, ends: Array, there: Array) -> Column:
    parts = (np.packbits(there, bitorder="little"), ends, text)
    buffers = [pa.py_buffer(part) for part in parts]
    return pa.Array.from_buffers(pa.string(), len(there), buffers)


def text_bytes(data: Array, span: Span) -> tuple[Array, Array]:
    """Copy texts; returns their bytes, and 0 with the end of each text."""
    length = np.maximum(span.length, 0)
    ends = np.zeros(len(length) + 1, np.int32)
    np.cumsum(length, out=ends[1:])
    source_indexes = np.repeat(span.start - ends[:-1], length)
    source_indexes += np.arange(len(source_indexes))
    return data[source_indexes], ends

"""``Columns``: what the headers of many frames say; and the texts in them by their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Column

    Array = np.ndarray[Any, Any]

SHORT_NAMED: Final = (310, 320, 325)
"""Requests whose header has names of one letter (Java: ``SendMessageRequestHeaderV2``)."""
GROUPS: Final = ("consumerGroup", "producerGroup", "group", "groupName")
"""Names of the extension field that has the group; the first that says something counts."""
NAMES: Final = {"topic": ("topic",), "group": GROUPS, "queue_id": ("queueId",)}
"""Names of the extension fields that a column is made of."""
LETTERS: Final = {"topic": "b", "group": "a", "queue_id": "e"}
"""Likewise, where names have one letter."""
EVERYTHING: Final = frozenset({"language", "remark", *NAMES})
"""The columns that are made only if they are wanted."""
ABSENT: Final = -1
"""Length of a text that is not there."""


@dataclass(slots=True)
class Columns:
    """What the headers say, one entry each; null, or zero among the numbers, where nothing is said.

    Attributes:
        ok: whether the header could be read.
    """

    code: Array
    version: Array
    opaque: Array
    flag: Array
    ok: Array
    language: Column | None = None
    remark: Column | None = None
    topic: Column | None = None
    group: Column | None = None
    queue_id: Column | None = None

    def take(self, order: Array) -> Columns:
        """What these headers say, in this order."""
        arrays: list[Any] = [getattr(self, name)[order] for name in _ARRAYS]
        made = Columns(*arrays)
        places = column(order)
        for name in EVERYTHING:
            if (values := getattr(self, name)) is not None:
                setattr(made, name, taken(values, places))
        return made


_ARRAYS: Final = ("code", "version", "opaque", "flag", "ok")


def joined(parts: Sequence[Columns]) -> Columns:
    """What the headers of several parts say; they have the same columns."""
    if len(parts) == 1:
        return parts[0]
    arrays: list[Any] = [
        np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
    ]
    made = Columns(*arrays)
    for name in EVERYTHING:
        each = [getattr(part, name) for part in parts]
        if each[0] is not None:
            setattr(made, name, pa.concat_arrays(each))
    return made


def has_letters(code: Array, flag: Array) -> Array:
    """In which headers the extension fields have names of one letter."""
    letters = np.zeros(len(code), np.bool_)
    for each in SHORT_NAMED:
        letters |= code == each
    letters &= flag & 1 == 0
    return letters


def integer(text: str | None) -> int | None:
    """The integer of 32 bits that a text says; None if it says none."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if -(1 << 31) <= number < 1 << 31 else None


class Span(NamedTuple):
    """Texts: where each begins, and its length, ``ABSENT`` for those that are not there."""

    at: Array
    length: Array


def text_column(text: Array, ends: Array, there: Array) -> Column:
    """Texts as a column.

    Args:
        text: all of them, as UTF-8.
        ends: 0, and where each ends.
        there: which of them are there; those that are not have no bytes.
    """
    parts = (np.packbits(there, bitorder="little"), ends, text)
    buffers = [pa.py_buffer(part) for part in parts]
    made: Column = pa.Array.from_buffers(pa.string(), len(there), buffers)
    return made


def texts(data: Array, span: Span) -> tuple[Array, Array]:
    """The bytes of texts, one behind the other: these, and 0 and where each ends.

    Args:
        data: has them.
        span: where they are.
    """
    length = np.maximum(span.length, 0)
    ends = np.zeros(len(length) + 1, np.int32)
    np.cumsum(length, out=ends[1:])
    places = np.repeat(span.at - ends[:-1], length)
    places += np.arange(len(places))
    return data[places], ends

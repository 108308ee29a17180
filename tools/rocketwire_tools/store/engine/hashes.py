"""Java's hash codes of many texts at once, as queues and index files have them of messages.

A hash code is a sum of UTF-16 code units, each with a power of 31.  The sums of a block are
differences of one running sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.store.engine.properties import pc

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows

_FACTOR: Final = np.uint32(31)
_FIRST_WIDE: Final = 0x80


def string_hashes(texts: Any, begins: Int64s | None = None) -> Int64s:
    """``String.hashCode`` of each text of an array without nulls.

    ``begins`` are hash codes of texts that stand before them.
    """
    if not len(texts):
        return np.zeros(0, np.int64)
    _, edges, data = texts.buffers()
    offsets = np.frombuffer(edges, np.int32, len(texts) + 1, 4 * texts.offset)
    units = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
    lengths = np.diff(offsets)
    if units.max(initial=0) >= _FIRST_WIDE:
        parts = [text.encode("utf-16-le", "surrogatepass") for text in texts.to_pylist()]
        units = np.frombuffer(b"".join(parts), "<u2")
        lengths = np.fromiter(map(len, parts), np.int32, len(parts)) >> 1
    ends = np.cumsum(lengths, dtype=np.int32)
    powers = np.power(_FACTOR, np.arange(int(lengths.max()) + 1, dtype=np.uint32))
    exponents = np.repeat(ends, lengths) - np.arange(1, len(units) + 1, dtype=np.int32)
    sums = np.zeros(len(units) + 1, np.uint32)
    np.cumsum(units * powers[exponents], dtype=np.uint32, out=sums[1:])
    hashes = sums[ends] - sums[ends - lengths]
    if begins is not None:
        hashes += begins.astype(np.uint32) * powers[lengths]
    numbers: Int64s = hashes.view(np.int32).astype(np.int64)
    return numbers


def key_hashes(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """Return the index entries of rows in Java's order: row, hash, and whether of a tag."""
    topic_numbers = rows.topic_numbers  # the names are complete when all rows have a number
    topics = np.array([string_hash(f"{name}#") for name in rows.topics.names], np.int64)
    tags = np.array([string_hash(f"{name}#T#") for name in rows.topics.names], np.int64)
    key_rows: list[Int64s] = []
    hashes: list[Int64s] = []
    for name in (message_const.UNIQ_KEY, message_const.KEYS, message_const.TAGS):
        values = rows.property_items.array(name)
        if name == message_const.KEYS:
            words = pc.split_pattern(values, " ")
            values, numbers = words.flatten(), pc.list_parent_indices(words).to_numpy()
            is_key = pc.not_equal(values, "")
            values, numbers = values.filter(is_key), numbers[np.asarray(is_key)]
        else:
            values, numbers = values.drop_null(), np.flatnonzero(np.asarray(values.is_valid()))
        begins = tags if name == message_const.TAGS else topics
        key_rows.append(numbers)
        hashes.append(string_hashes(values, begins[topic_numbers[numbers]]))
    joined = np.concatenate(key_rows)
    # numpy sorts 16 bits in linear time
    is_small = len(rows) <= 1 << 16
    order = np.argsort(joined.astype(np.uint16) if is_small else joined, kind="stable")
    # Java: ``IndexFile.indexKeyHashMethod``, without sign, and 0 for the smallest number
    positive = np.abs(np.concatenate(hashes))
    positive[positive == 1 << 31] = 0
    return joined[order], positive[order], order >= len(order) - len(key_rows[-1])

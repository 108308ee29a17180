"""Index entries of stored messages, as Java makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.store.engine.properties import pc, string_hashes

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows


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

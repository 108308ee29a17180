"""Index entries of stored messages, as Java makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocketwire.messages import message_const
from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.store.engine import fast_paths
from rocketwire_tools.store.engine.hashes import index_hashes, positive_hashes

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows


def key_hashes(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """Return the entries that Java makes for rows in its order: row, hash, and whether of a tag."""
    if not fast_paths.are_on():
        return _hashes_of_texts(rows)
    values, topic_numbers = rows.named_values, rows.topic_numbers
    # The names are complete only after all rows have their numbers.
    topics = [string_hash(f"{name}#") for name in rows.topics.names]
    tags = [string_hash(f"{name}#T#") for name in rows.topics.names]
    parts = (
        (values.of(message_const.UNIQ_KEY), topics),
        (values.words_of(message_const.KEYS), topics),
        (values.of(message_const.TAGS), tags),
    )
    rows_of_parts = np.concatenate([part.rows for part, _ in parts])
    # of one row the first part comes first; numpy sorts 16 bits in linear time
    is_small = len(rows) <= 1 << 16
    order = np.argsort(
        rows_of_parts.astype(np.uint16) if is_small else rows_of_parts, kind="stable"
    )
    hashes = np.concatenate(
        [
            values.hashes(part, np.array(begins, np.int64)[topic_numbers[part.rows]])
            for part, begins in parts
        ]
    )
    tag_count = len(parts[2][0].rows)
    return rows_of_parts[order], positive_hashes(hashes)[order], order >= len(order) - tag_count


def _hashes_of_texts(rows: Rows) -> tuple[Int64s, Int64s, Bools]:
    """As ``key_hashes``, one text after the other."""
    numbers: list[int] = rows.topic_numbers.tolist()
    names = (message_const.UNIQ_KEY, message_const.KEYS, message_const.TAGS)
    columns = [rows.property_items.array(name).to_pylist() for name in names]
    properties = zip(numbers, *columns, strict=True)
    entries: list[tuple[int, str, bool]] = []
    for row, (index, unique_key, keys, tags) in enumerate(properties):
        topic = rows.topics.names[index]
        texts = [unique_key, *(keys or "").split(" ")]
        entries += [(row, f"{topic}#{text}", False) for text in texts if text]
        if tags:
            entries.append((row, f"{topic}#T#{tags}", True))
    of_rows = np.array([row for row, _, _ in entries], np.int64)
    is_tag = np.array([tag for _, _, tag in entries], np.bool_)
    return of_rows, index_hashes([text for _, text, _ in entries]), is_tag

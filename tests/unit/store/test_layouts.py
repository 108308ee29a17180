"""Layouts of a store's records have the sizes that Java's constants have."""

from __future__ import annotations

from struct import calcsize
from typing import Any

import pytest
from construct import Int8ub, Struct

from rocketwire.store import layouts


@pytest.mark.parametrize(
    ("declaration", "size"),
    [
        (layouts.BLANK, 8),
        (layouts.QUEUE_UNIT, 20),
        (layouts.BATCH_UNIT, 46),
        (layouts.QUEUE_EXTENSION, 20),
        (layouts.INDEX_HEADER, 40),
        (layouts.INDEX_ENTRY, 20),
        (layouts.CHECKPOINT, 48),
        (layouts.ROCKSDB_UNIT, 28),
        (layouts.TIMER_RECORD, 52),
        (layouts.TIMER_BLANK, 16),
        (layouts.TIMER_SLOT, 32),
        (layouts.TIMER_CHECK, 56),
    ],
)
def test_a_record_has_the_size_that_java_writes(declaration: Any, size: int) -> None:
    assert declaration.sizeof() == size
    assert calcsize(layouts.format_of(declaration)) == size


def test_a_format_is_read_from_the_declaration() -> None:
    one: Any = "one"
    declaration: Any = Struct(one / Int8ub)

    assert layouts.format_of(layouts.QUEUE_UNIT) == ">qlq"
    assert layouts.fields_of(declaration) == [("one", ">B")]

"""Sections of a logical queue, and their offsets."""

from __future__ import annotations

import pytest

from rocketwire_broker.handlers.logical.queues import (
    END,
    LogicalQueue,
    has_end,
    logical,
    logical_or_unknown,
    physical,
)
from rocketwire_broker.state.response import RefusedError
from tests.support.broker_pair import item

FIRST, SECOND, THIRD = item("a"), item("b", 1, 100), item("a", 2, -1)


def test_a_section_is_found_by_a_logical_offset() -> None:
    queue = LogicalQueue("t", 0, "a", (FIRST, SECOND, THIRD))

    assert [queue.item_at(offset) for offset in (-5, 0, 99, 100, END)] == [
        *(FIRST, FIRST, FIRST),
        *(SECOND, SECOND),
    ]
    assert queue.decided() == [FIRST, SECOND]
    assert (queue.item_after(FIRST), queue.item_after(SECOND)) == (SECOND, None)
    assert queue.item_after(THIRD) is None
    assert queue.leader() is THIRD
    with pytest.raises(RefusedError):
        LogicalQueue("t", 0, "a", (FIRST, SECOND)).leader()
    with pytest.raises(RefusedError):
        LogicalQueue("t", 0, "a", (THIRD,)).item_at(0)


def test_offsets_are_converted() -> None:
    section = item("a", 1, 100, start_offset=5, end_offset=9)

    assert [logical(section, offset) for offset in (4, 5, 9, 20)] == [100, 100, 104, 115]
    assert [logical_or_unknown(section, offset) for offset in (9, 20)] == [104, 104]
    assert (logical_or_unknown(THIRD, 3), logical_or_unknown(SECOND, 3)) == (-1, 103)
    assert physical(section, 103) == 8
    assert (has_end(section), has_end(FIRST)) == (True, False)

"""Where the units of a queue end; ``test_recovery.py`` has what a start makes of them."""

from __future__ import annotations

import pytest

from rocketwire.store.consume_queue import (
    PRE_BLANK_SIZE,
    BatchUnit,
    QueueUnit,
    encode_batch_unit,
    encode_unit,
    first_invalid,
)


@pytest.mark.parametrize("size", [20, 46])
def test_the_first_invalid_unit_is_the_end_of_a_queue(size: int) -> None:
    good = (
        encode_unit(QueueUnit(1, 2, 3))
        if size == 20
        else encode_batch_unit(BatchUnit(1, 2, 3, 4, 5, 6, -1, 0))
    )
    broken = [good[:8] + bytes(4) + good[12:], b"\xff" + good[1:], good[:8] + b"\xff" + good[9:]]
    if size == 46:
        broken += [good[:36] + bytes(2) + good[38:], good[:28] + b"\xff" + good[29:]]

    assert first_invalid(b"", size) == 0
    assert first_invalid(good * 5, size) == 5 * size
    for unit in broken:
        assert first_invalid(good * 3 + unit + good, size) == 3 * size


def test_the_blank_units_of_a_queue_are_valid_ones() -> None:
    assert first_invalid(encode_unit(QueueUnit(0, PRE_BLANK_SIZE, 0)), 20) == 20

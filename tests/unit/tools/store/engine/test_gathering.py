"""Parts of a block that Arrow copies are those that slices have."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rocketwire_tools.store.engine.gathering import gathered


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=3), st.booleans())))
def test_parts_are_those_of_slices(pieces: list[tuple[bytes, bytes, bool]]) -> None:
    data = b"".join(part + between for part, between, _ in pieces)
    sizes = np.array([len(part) for part, _, _ in pieces], np.int64)
    steps = np.array([len(part + between) for part, between, _ in pieces], np.int64)
    is_null = np.array([null for _, _, null in pieces], np.bool_)

    parts = gathered(np.frombuffer(data, np.uint8), np.cumsum(steps) - steps, sizes, is_null)

    assert parts.to_pylist() == [None if null else part for part, _, null in pieces]

"""Bodies that are encoded together have the digits that Python gives each of them."""

import base64
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketwire_tools.store.formats.json_columns import DIGITS

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "hex": lambda body: body.hex().encode(),
    "base64": base64.b64encode,
}
BLOCK = bytes(range(256)) * 3


@pytest.mark.parametrize("form", DIGITS)
@pytest.mark.parametrize("count", [0, 48])
def test_bodies_of_each_length_have_their_own_digits(form: str, count: int) -> None:
    """Also one at the end of the block, and none at all."""
    bodies = [(start, size) for size in range(12) for start in (0, 7, 250, len(BLOCK) - size)]
    places = np.array(bodies[:count], np.int64).reshape(-1, 2)
    data = np.frombuffer(BLOCK, np.uint8)
    messages: Any = SimpleNamespace(data=data, bodies=places[:, 0], body_sizes=places[:, 1])

    digits, sizes = DIGITS[form](messages)

    expected = [ENCODERS[form](BLOCK[start : start + size]) for start, size in bodies[:count]]
    assert bytes(digits) == b"".join(expected)
    assert sizes.tolist() == [len(text) for text in expected]

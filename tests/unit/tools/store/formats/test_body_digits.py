"""Bodies that are encoded together have the digits that Python gives each of them."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rocketwire_tools.store.formats.body_digits import DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "hex": lambda body: body.hex().encode(),
    "base64": base64.b64encode,
}
BLOCK = bytes(range(256)) * 3


def messages(*bodies: tuple[int, int]) -> Any:
    """Messages of a block whose bodies have these positions and sizes."""
    places = np.array(bodies, np.int64).reshape(-1, 2)
    data = np.frombuffer(BLOCK, np.uint8)
    return SimpleNamespace(data=data, bodies=places[:, 0], body_sizes=places[:, 1])


@pytest.mark.parametrize("form", DIGITS)
def test_bodies_of_each_length_have_their_own_digits(form: str) -> None:
    places = [(position, size) for size in range(12) for position in (0, 7, 250, 500)]

    digits, sizes = DIGITS[form](messages(*places))

    expected = [ENCODERS[form](BLOCK[start : start + size]) for start, size in places]
    assert bytes(digits) == b"".join(expected)
    assert sizes.tolist() == [len(text) for text in expected]


@pytest.mark.parametrize("form", DIGITS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_body_at_the_end_of_the_block_is_padded_too(form: str, size: int) -> None:
    digits, _ = DIGITS[form](messages((len(BLOCK) - size, size)))

    assert bytes(digits) == ENCODERS[form](BLOCK[-size:])


@pytest.mark.parametrize("form", DIGITS)
def test_no_body_has_no_digits(form: str) -> None:
    digits, sizes = DIGITS[form](messages())

    assert bytes(digits) == b""
    assert sizes.tolist() == []

"""Numbers in properties are read as Java's ``Long.parseLong`` reads them."""

from __future__ import annotations

import pytest

from rocketwire_broker.later.numbers import INT, number


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("+5", 5), ("-5", -5), ("007", 7), (str(2**63 - 1), 2**63 - 1)],
)
def test_a_number_is_read(text: str, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text", [None, "", "-", "abc", "1.5", " 5", "5 ", "٣", str(2**63), "1" * 99]
)
def test_what_is_no_number_of_64_bits_is_none(text: str | None) -> None:
    assert number(text) is None


def test_a_number_of_32_bits_has_its_own_limit() -> None:
    assert number(str(INT - 1), INT) == INT - 1
    assert number(str(INT), INT) is None
    assert number(str(-INT), INT) == -INT

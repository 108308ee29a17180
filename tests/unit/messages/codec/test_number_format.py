"""Numbers as ``NumberFormat`` reads them; Java gave the expected values."""

import math

import pytest

from rocketwire.messages._codec.java_numbers import format_number

READ = [
    *(("1,234", 1234), ("-1,234", -1234), ("12,345,678", 12345678), ("12,34,567", 1234567)),
    *((",123", 123), ("-,123", -123), ("1,,,234", 1234), ("0,000", 0), ("1x,234", 1)),
    *(("1,23x", 123), ("12x", 12), ("-1x", -1), ("12 ", 12), ("0x5", 0), ("\u0661\u0662x", 12)),
    *(("1e5,123", 1), ("1E5,123", 100_000), ("1E-2,123", 0.01), ("100E-2,123", 1)),
    *(("1E30,123", 1e30), ("1E999,123", math.inf), ("9,999,999,999", 9_999_999_999)),
    *(("9,223,372,036,854,775,807", (1 << 63) - 1), ("-9,223,372,036,854,775,808", -(1 << 63))),
    *(("9,223,372,036,854,775,808", float(1 << 63)), ("99,999,999,999,999,999,999", 1e20)),
    *(("∞12", math.inf), ("-∞1", -math.inf)),
]


@pytest.mark.parametrize(("text", "number"), READ)
def test_the_number_at_the_start_is_read(text: str, number: float) -> None:
    result = format_number(text)
    assert result == number
    assert type(result) is type(number)


@pytest.mark.parametrize(
    "text",
    ["", "1,2", "1,2345", "1.5", "1.5,123", "1,234L", "abc", "+1x", "x,123", " 12", "-,,", "5"],
)
def test_other_texts_are_none(text: str) -> None:
    assert format_number(text) is None


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    assert format_number("," * 1_000_000 + ",abc") is None
    assert format_number("1E999999999,123") == math.inf

"""Doubles are printed as by JDK 8 to 18; JDK 17 printed the expected texts."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocketwire.wire.json.doubles import double_text, shortest_text

PRINTED = [
    *(("0.0", 0.0), ("-0.0", -0.0), ("1.5", 1.5), ("-1.5", -1.5), ("0.01", 0.01), ("0.001", 0.001)),
    *(("1.0E-4", 0.0001), ("9999999.0", 9999999.0), ("1.0E7", 1e7)),
    *(("1.23456789125E8", 123456789.125), ("33.333333333333336", 33.333333333333336)),
    *(("0.3333333333333333", 1 / 3), ("1.2345678901234568E17", 123456789012345680.0)),
    *(("9.223372036854776E18", 2.0**63), ("4.9E-324", 5e-324)),
    ("2.2250738585072014E-308", 2.2250738585072014e-308),
    ("1.7976931348623157E308", 1.7976931348623157e308),
]

NOT_THE_FEWEST = {
    "9.999999999999999E22": 1e23,
    "5.6843418860808015E-14": 2.0**-44,
    "4.6116860184273879E18": 2.0**62,
    # where Java's integers overflow
    "2.2000000000000004E25": 2.2000000000000005e25,
    "0.0039062499999999996": 0.0039062499999999996,
    "0.0022000000000000006": 0.0022000000000000006,
}

WRITTEN = {
    "0.0": 0.0,
    "-0.0": -0.0,
    "1.0E23": 1e23,
    "4.9E-324": 5e-324,
    "0.001": 0.001,
    "1.2E-5": 1.2e-5,
    "9999999.0": 9999999.0,
    # as near to one digit less
    "5.745996925983703E14": 574599692598370.25,
    "-2.1894425072934163E14": -218944250729341.625,
    "1.8839427211585413E14": 188394272115854.125,
    "-1.6903297510728583E15": -1690329751072858.25,
}
"""The output of fastjson2 2.0.59."""


@pytest.mark.parametrize(("text", "value"), [*PRINTED, *NOT_THE_FEWEST.items()])
def test_a_double_is_printed_as_java_prints_it(text: str, value: float) -> None:
    assert double_text(value) == text
    assert double_text(-value) == (text[1:] if text.startswith("-") else f"-{text}")


@pytest.mark.parametrize(("text", "value"), WRITTEN.items())
def test_json_has_the_fewest_digits_and_of_two_the_farther(text: str, value: float) -> None:
    assert shortest_text(value, farther=True) == text


@pytest.mark.parametrize(
    ("text", "value"),
    {
        "-2.0425983761555422E15": -2.0425983761555422e15,
        "8.005840751130292E14": 8.005840751130292e14,
    }.items(),
)
def test_the_older_library_takes_the_even_one_of_two(text: str, value: float) -> None:
    assert shortest_text(value, farther=False) == text
    assert shortest_text(value, farther=True) != text


@pytest.mark.parametrize("value", [1e23, 2.0**-44, 2.0**62])
def test_some_have_more_digits_than_they_need(value: float) -> None:
    def figures(text: str) -> str:
        return text.upper().partition("E")[0]

    assert figures(double_text(value)) != figures(repr(value))


def test_other_values_than_numbers_have_a_name() -> None:
    assert [double_text(x) for x in (math.nan, math.inf, -math.inf)] == [
        "NaN",
        "Infinity",
        "-Infinity",
    ]


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63).map(float))
@example(9.5367431640625e-07)
@example(2.0**-1074 * 3)
def test_the_text_gives_the_double_back(value: float) -> None:
    for text in (double_text(value), shortest_text(value, farther=True)):
        assert float(text) == value
        assert "." in text

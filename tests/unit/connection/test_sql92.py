"""SQL92 filters match the same messages as a broker of 5.5.0."""

import pytest

from rocketwire.sql92 import MAX_DEPTH, MAX_LENGTH, IllegalExpressionError, compile_expression

MESSAGES = (
    {"a": "3"},
    {"a": "2.5"},
    {"a": "abc"},
    {"a": "-1"},
    {"a": "true"},
    {"a": ""},
    {"b": "x"},
    {"a": "3", "b": "hello"},
    {"A": "3"},
    {"a": "3", "TAGS": "TagA"},
    {"a": " 3"},
    {"a": "3000000000"},
)
"""Properties of the messages that the broker filtered."""

ALL = set(range(12))


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        ("a > 2", {0, 7, 9}),
        ("a >= 3", {0, 7, 9}),
        ("a = 3", {0, 7, 9}),
        ("a = 3L", {0, 7, 9}),
        ("a > 2.4", {0, 1, 7, 9, 10, 11}),
        ("a < 0", {3}),
        ("a = -1", {3}),
        ("a = +3", {0, 7, 9}),
        ("a <> 3", {3}),
        ("a = 2.50", {1}),
        ("a > -2", {0, 3, 7, 9}),
        ("a = 3000000000", {11}),
        ("a = '3'", {0, 7, 9}),
        ("a = true", {4}),
        ("a is null", {5, 6, 8}),
        ("a is not null", {0, 1, 2, 3, 4, 7, 9, 10, 11}),
        ("a in ('3','abc')", {0, 2, 7, 9}),
        ("a not in ('3')", {1, 2, 3, 4, 10, 11}),
        ("a between 2 and 4", {0, 7, 9}),
        ("a not between 2 and 4", {3}),
        ("NOT (a > 2)", {3}),
        ("a > 2 AND b = 'hello'", {7}),
        ("a > 2 or b = 'x'", {0, 6, 7, 9}),
        ("b contains 'ell'", {7}),
        ("b startswith 'he'", {7}),
        ("b endswith 'lo'", {7}),
        ("b not contains 'ell'", {6}),
        ("TRUE", ALL),
        ("'a' = 'a'", ALL),
        ("3 > 2", ALL),
        ("_a is null", ALL),
        ("FALSE", set[int]()),
        ("a", set[int]()),
        ("TAGS = 'TagA'", {9}),
        ("a = b", {5, 8}),
        ("a > b", set[int]()),
        ("b = 'it''s'", set[int]()),
        ("a > 2 -- c", {0, 7, 9}),
        ("a > 2 /* c */", {0, 7, 9}),
        ("A = 3", {8}),
        ("a + 1 > 3", set[int]()),
        ("b like 'h%'", set[int]()),
        ("a-b = 3", set[int]()),
        ("now() > 0", set[int]()),
    ],
)
def test_an_expression_matches_as_in_the_broker(expression: str, numbers: set[int]) -> None:
    matches = compile_expression(expression)

    assert {number for number, message in enumerate(MESSAGES) if matches(message)} == numbers


@pytest.mark.parametrize(
    "expression",
    [
        "a != 3",
        "a == 3",
        "a in (3)",
        "a between 4 and 2",
        "not a > 2",
        "a > '2'",
        "a = NULL",
        "a && b",
        "a || b",
        "a.b = 1",
        "",
        "(a = 3",
        "a is 3",
        "a not 3",
        "1 in ('3')",
        "- a",
        "0x3",
        "1e0",
        "'a'",
        "a and 0",
        "a or 'x'",
        "not -a",
        "a = 0.0",
        "a = 1e400",
        "a = 1e-400",
        "true = 1",
        "false <> 'x'",
        "a between 'x' and 'y'",
        "a between null and 1",
        "a > null",
        "a in ('x', 3)",
        "a in (('x'))",
        "a contains b",
        "a\u00a0= 1",
        "a = 1 /* c",
        "not 3",
        "a = 99999999999999999999",
        "a = ",
        "a between true and false",
        "-true",
        "(" * (MAX_DEPTH + 1) + "a",
        "a" * (MAX_LENGTH + 1),
    ],
)
def test_expressions_that_the_broker_refuses_are_refused(expression: str) -> None:
    with pytest.raises(IllegalExpressionError):
        compile_expression(expression)


@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ("missing > 1 or a = 1", True),
        ("a = 1 or missing > 1", True),
        ("missing > 1 or a = 2", False),
        ("not (missing > 1)", False),
        ("a = 1 and missing is null", True),
        ("missing <> 1", False),
        ("missing <> a", False),
        ("flag = false", True),
        ("flag <> true", True),
        ("a > 0.5", True),
        ("a = 1.0", True),
        ("1 = a", True),
        ("a contains ''", False),
        ("missing in ('x')", False),
        ("a between 0.5 and 1", True),
        ("a <= 1 and a >= 1 and a < 2", True),
        ("big = 5000000000", True),
        ("big = 1", False),
        ("huge = 5000000000", False),
    ],
)
def test_a_missing_property_is_neither_true_nor_false(expression: str, passes: object) -> None:
    message = {"a": "1", "flag": "false", "big": "5000000000", "huge": "9" * 30}

    assert compile_expression(expression)(message) is passes


@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ("text > 1 or a = 1", False),  # Java refuses the text as a number
        ("a = 1 or text > 1", True),
        ("text > a", False),
        ("d > a", True),
        ("a > d", False),
        ("not (text > 1)", False),
        ("text <> 1", False),
        ("true = text", False),
        ("true <> text", False),
        ("text <> true", True),
        ("(a = 1) <> 3", True),
        ("(a = 1) = (d = 2.5)", True),
        ("1 = true", False),
        ("a = -(-1)", True),
        ("a = --1", True),
        ("- a = 1", False),
        ("-a is null", True),
        ("-'x' is null", True),
        ("-(a = 1) is null", True),
        ("a = +1", True),
        ("not a", True),
        ("not missing", False),
        ("a", False),
        ("null", False),
        ("true", True),
        ("null is null", True),
        ("not null is null", True),
        ("a not contains ''", False),
        ("missing not contains 'x'", False),
        ("1 contains 'x'", False),
        ("a not contains 'x'", True),
        ("'xy' startswith 'x'", True),
        ("a between missing and 2", False),
        ("a between b and 2", False),
        ("a not between 3 and 2", True),
        ("1 not between 1e3 and 2.5e-1", True),
        ("1 between 0.5 and 3000000000", True),
        ("d = 007", False),
        ("zero = 0", False),
        ("zero = -0.1", False),
        ("negative = -0.5", False),
        ("negative > zero", False),
        ("zero > negative", True),
        ("nan = nan", True),
        ("nan > 1e300", True),
        ("infinite > 1e300", True),
        ("hex = 8.0", True),
        ("hexes > 1e300", True),
        ("hexes < -1e300", False),
        ("hex = 8", False),
        ("float = 3.0", True),
        ("spaces = 3.0", True),
        ("spaces = 3", False),
        ("arabic = 3", True),
        ("long = 3000000000", True),
        ("long = 3", False),
        ("long > -3000000000", True),
        ("long > 2.5", True),
        ("low = -9223372036854775807", True),
        ("zeros = 0", True),
        ("zeros = 1", False),
        ("wide = 3", False),
    ],
)
def test_conversions_and_unknown_values_are_those_of_java(expression: str, passes: object) -> None:
    assert compile_expression(expression)(CONVERTED) is passes


CONVERTED = {
    "a": "1",
    "b": "x",
    "d": "2.5",
    "text": "abc",
    "zero": "0.0",
    "negative": "-0.0",
    "nan": "NaN",
    "infinite": "Infinity",
    "hex": "0x1p3",
    "hexes": "0x1p5000",
    "float": "3f",
    "spaces": " 3 ",
    "arabic": "\u0663",
    "long": "3000000000",
    "low": "-9223372036854775807",
    "zeros": "0" * 5000,
    "wide": "\U0001d7d1",
}
"""Properties at the limits of Java's conversions."""


@pytest.mark.parametrize("word", [" or ", " and "])
def test_a_long_chain_of_conditions_is_read(word: str) -> None:
    assert compile_expression(word.join(["a = 1"] * 5000))({"a": "1"})


@pytest.mark.parametrize(
    "expression", ["a" + " is null" * 101, "a" + " = a" * 101, "a" + " contains 'x'" * 101]
)
def test_conditions_inside_each_other_are_limited(expression: str) -> None:
    with pytest.raises(IllegalExpressionError, match="deeper than 100"):
        compile_expression(expression)

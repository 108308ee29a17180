"""SQL92 filters match the same messages as a broker of 5.5.0."""

import pytest

from rocketwire.sql92 import MAX_DEPTH, MAX_LENGTH, IllegalExpressionError, compile_expression
from tests.support.tables import cases

MESSAGES = (
    *({"a": "3"}, {"a": "2.5"}, {"a": "abc"}, {"a": "-1"}, {"a": "true"}, {"a": ""}, {"b": "x"}),
    *({"a": "3", "b": "hello"}, {"A": "3"}, {"a": "3", "TAGS": "TagA"}, {"a": " 3"}),
    {"a": "3000000000"},
)
"""Properties of the messages that the broker filtered."""

ALL = set(range(12))


@pytest.mark.parametrize(
    ("expression", "numbers"),
    cases(
        ({0, 7, 9}, "a > 2", "a >= 3", "a = 3", "a = 3L", "a = +3", "a = '3'", "a between 2 and 4"),
        ({0, 7, 9}, "a > 2 -- c", "a > 2 /* c */"),
        ({0, 1, 7, 9, 10, 11}, "a > 2.4"),
        ({3}, "a < 0", "a = -1", "a <> 3", "a not between 2 and 4", "NOT (a > 2)"),
        ({1}, "a = 2.50"),
        ({0, 3, 7, 9}, "a > -2"),
        ({11}, "a = 3000000000"),
        ({4}, "a = true"),
        ({5, 6, 8}, "a is null"),
        ({0, 1, 2, 3, 4, 7, 9, 10, 11}, "a is not null"),
        ({0, 2, 7, 9}, "a in ('3','abc')"),
        ({1, 2, 3, 4, 10, 11}, "a not in ('3')"),
        ({7}, "a > 2 AND b = 'hello'", "b contains 'ell'", "b startswith 'he'", "b endswith 'lo'"),
        ({0, 6, 7, 9}, "a > 2 or b = 'x'"),
        ({6}, "b not contains 'ell'"),
        (ALL, "TRUE", "'a' = 'a'", "3 > 2", "_a is null"),
        (set[int](), "FALSE", "a", "a > b", "b = 'it''s'", "a + 1 > 3", "b like 'h%'", "a-b = 3"),
        (set[int](), "now() > 0"),
        ({9}, "TAGS = 'TagA'"),
        ({5, 8}, "a = b"),
        ({8}, "A = 3"),
    ),
)
def test_an_expression_matches_as_in_the_broker(expression: str, numbers: set[int]) -> None:
    matches = compile_expression(expression)
    assert {number for number, message in enumerate(MESSAGES) if matches(message)} == numbers


@pytest.mark.parametrize(
    "expression",
    [
        *("a != 3", "a == 3", "a in (3)", "a between 4 and 2", "not a > 2", "a > '2'", "a = NULL"),
        *("a && b", "a || b", "a.b = 1", "", "(a = 3", "a is 3", "a not 3", "1 in ('3')", "- a"),
        *("0x3", "1e0", "'a'", "a and 0", "a or 'x'", "not -a", "a = 0.0", "a = 1e400"),
        *("a = 1e-400", "true = 1", "false <> 'x'", "a between 'x' and 'y'"),
        *("a between null and 1", "a > null", "a in ('x', 3)", "a in (('x'))", "a contains b"),
        *("a\u00a0= 1", "a = 1 /* c", "not 3", "a = 99999999999999999999", "a = "),
        *("a between true and false", "-true", "(" * (MAX_DEPTH + 1) + "a", "a" * (MAX_LENGTH + 1)),
    ],
)
def test_expressions_that_the_broker_refuses_are_refused(expression: str) -> None:
    with pytest.raises(IllegalExpressionError):
        compile_expression(expression)


@pytest.mark.parametrize(
    ("expression", "passes"),
    cases(
        (True, "missing > 1 or a = 1", "a = 1 or missing > 1", "a = 1 and missing is null"),
        (True, "flag = false", "flag <> true", "a > 0.5", "a = 1.0", "1 = a"),
        (True, "a between 0.5 and 1", "a <= 1 and a >= 1 and a < 2", "big = 5000000000"),
        (False, "missing > 1 or a = 2", "not (missing > 1)", "missing <> 1", "missing <> a"),
        (False, "a contains ''", "missing in ('x')", "big = 1", "huge = 5000000000"),
    ),
)
def test_a_missing_property_is_neither_true_nor_false(expression: str, passes: object) -> None:
    message = {"a": "1", "flag": "false", "big": "5000000000", "huge": "9" * 30}
    assert compile_expression(expression)(message) is passes


@pytest.mark.parametrize(
    ("expression", "passes"),
    cases(
        # Java refuses the text as a number
        (False, "text > 1 or a = 1", "text > a", "a > d", "not (text > 1)", "text <> 1"),
        (False, "true = text", "true <> text", "1 = true", "- a = 1", "not missing", "a", "null"),
        (False, "a not contains ''", "missing not contains 'x'", "1 contains 'x'"),
        (False, "a between missing and 2", "a between b and 2", "d = 007", "zero = 0"),
        (False, "zero = -0.1", "negative = -0.5", "negative > zero", "hexes < -1e300", "hex = 8"),
        (False, "spaces = 3", "long = 3", "zeros = 1", "wide = 3"),
        (True, "a = 1 or text > 1", "d > a", "text <> true", "(a = 1) <> 3", "(a = 1) = (d = 2.5)"),
        (True, "a = -(-1)", "a = --1", "-a is null", "-'x' is null", "-(a = 1) is null", "a = +1"),
        (True, "not a", "true", "null is null", "not null is null", "a not contains 'x'"),
        (True, "'xy' startswith 'x'", "a not between 3 and 2", "1 not between 1e3 and 2.5e-1"),
        (True, "1 between 0.5 and 3000000000", "zero > negative", "nan = nan", "nan > 1e300"),
        (True, "infinite > 1e300", "hex = 8.0", "hexes > 1e300", "float = 3.0", "spaces = 3.0"),
        (True, "arabic = 3", "long = 3000000000", "long > -3000000000", "long > 2.5"),
        (True, "low = -9223372036854775807", "zeros = 0"),
    ),
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

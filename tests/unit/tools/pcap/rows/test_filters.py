"""Filter expressions."""

import pytest

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.rows.filters import Filter, FilterError
from rocketwire_tools.pcap.rows.rows import COLUMNS, schema

NAMES = ("code", "topic", "latency_ns", "gap")
ROWS = [(310, "a", None, False), (11, "b", 5, True), (310, None, 9, False), (105, "ab", 7, False)]


def filter_rows(text: str) -> list[int]:
    columns = [
        arrow.column([row[i] for row in ROWS], COLUMNS[name]) for i, name in enumerate(NAMES)
    ]
    kept_rows = Filter(text, COLUMNS).apply(arrow.batch(columns, schema(NAMES))).to_pylist()
    return [ROWS.index(tuple(row[name] for name in NAMES)) for row in kept_rows]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("code==310", [0, 2]),
        ('code==310 and topic=="a"', [0]),
        ('code == 11 or topic == "a"', [0, 1]),
        ("not code == 310", [1, 3]),
        ("5 < latency_ns <= 9", [2, 3]),
        ("latency_ns is None", [0]),
        ("latency_ns is not None", [1, 2, 3]),
        ("code in (11, 105)", [1, 3]),
        ("code not in [11, 105]", [0, 2]),
        ('topic.startswith("a")', [0, 3]),
        ('topic.endswith("b")', [1, 3]),
        ('topic.contains("a")', [0, 3]),
        ('topic.matches("^a?b$")', [1, 3]),
        ("gap", [1]),
        ("gap == True or latency_ns < 6", [1]),
        ("code != 310", [1, 3]),
        ("latency_ns >= 7 and code > 200", [2]),
        ('topic not in ("a", "x")', [1, 3]),
        ('not topic in ("a", "x")', [1, 3]),
        ("latency_ns not in (5, 6)", [2, 3]),
        ("latency_ns in (5.0, 9.5, 1e300)", [1]),
        ("code not in (0.5,)", [0, 1, 2, 3]),
        ("latency_ns > 6e0", [2, 3]),
        ("latency_ns < 1e6", [1, 2, 3]),
        ("latency_ns <= 6.5", [1]),
        ("310.0 == code", [0, 2]),
        ("code == 310.5", []),
        ("code < 99999999999 and code > -1e400", [0, 1, 2, 3]),
        (f"code < {10**400} and code > -{10**23}", [0, 1, 2, 3]),
        ('"b" in topic', [1, 3]),
        ('"b" not in topic', [0]),
        ('"a" == topic', [0]),
    ],
)
def test_expression_keeps_the_rows_for_which_it_is_true(text: str, numbers: list[int]) -> None:
    assert numbers == filter_rows(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("code ==", "invalid syntax"),
        ("cod == 1", "no column 'cod'; did you mean code"),
        ("topic == orders", "no column 'orders'; quote a text: 'orders'"),
        ("latency_ns > 1ms", "write nanoseconds, as 1_000_000 for 1ms"),
        ('code == "PULL_MESSAGE"', "names are in the column code_name"),
        ("code", "neither true nor false"),
        ("__import__('os')", "can be called"),
        ("topic.upper()", "can be called"),
        ("topic.startswith()", "takes one text"),
        ("topic.startswith(7)", "takes one text"),
        ("code is 3", "only None"),
        ("code == open", "no column 'open'"),
        ("code == (lambda: 1)", "neither a column nor a constant"),
        ("code == {}", "cannot be compared"),
        ('code == "310"', "a number cannot be compared with a text"),
        ("topic == 3", "a text cannot be compared with a number"),
        ("gap == 0", "a truth cannot be compared with a number"),
        ("code == topic", "a number cannot be compared with a text"),
        ("code in (1, 'x')", "a number cannot be compared with a text"),
        ("code == (1, 2)", "several values"),
        ("3 in topic", "one text"),
        ("'3' in code", "not a text"),
        ("code.contains('3')", "not a text"),
        ("code=310", "use =="),
        ('code == 310 and topic = "a=b"', "use =="),
        ("code := 310", "use =="),
        ("code <> 310", "use !="),
        ("code == 1 && gap", "use 'and'"),
        ("code == 1 || gap", "use 'or'"),
        ("code == 1 AND gap", "lowercase"),
        ("!gap", "use 'not'"),
        ("(" * 300 + "code" + ")" * 300, "filter"),
    ],
)
def test_invalid_filter_is_refused(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        Filter(text, COLUMNS)


def test_double_is_compared_with_any_integer() -> None:
    times = arrow.column([1, 1 << 40, (1 << 63) - 1], COLUMNS["time_ns"])
    batch = arrow.batch([times], schema(("time_ns",)))

    for text, count in (
        ("time_ns > 1e6", 2),
        ("time_ns < 1.5", 1),
        ("time_ns == 1099511627776.0", 1),
    ):
        assert count == Filter(text, COLUMNS).apply(batch).num_rows

"""Options have the values of the command's arguments."""

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.stores.options import Settings, read_options


def test_options_have_defaults() -> None:
    assert read_options({"path": "x"}) == Settings(paths=("x",))


def test_options_are_those_of_the_command() -> None:
    settings = read_options(
        {
            "path": "x",
            "TOPIC": "a, b",
            "queue": "3",
            "offsets": "4:",
            "physical": ":9",
            "begin": "2026-01-31T00:00:00",
            "end": "7",
            "tag": "t",
            "sql": "a > 1",
            "mode": "DROPMALFORMED",
        }
    )

    assert settings == Settings(
        paths=("x",),
        topics=("a", "b"),
        queue_id=3,
        offsets=(4, None),
        physical=(None, 9),
        begin=1_769_817_600_000,
        end=7,
        tags=("t",),
        sql="a > 1",
        mode="dropmalformed",
    )


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("topics", "a", "unknown option 'topics'; did you mean topic?"),
        ("queue", "-1", "option 'queue': '-1': must be 0"),
        ("offsets", "a:b", "option 'offsets': 'a:b': must be FROM:TO"),
        ("begin", "then", "option 'begin': 'then': must be now"),
        ("sql", "a >", "option 'sql': "),
        ("splitSize", "0", "option 'splitSize': a part has at least one byte"),
    ],
)
def test_invalid_option_is_refused_by_name(option: str, text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options({"path": "x", option: text})

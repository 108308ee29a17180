"""Names that a broker refuses, in Java's words."""

from __future__ import annotations

import pytest

from rocketwire_broker.handlers import names
from rocketwire_broker.handlers.names import group_problem, topic_problem


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("", "The specified group is blank"),
        ("a b", "The specified group: a b, contains"),
        ("g" * 121, "The specified group: g"),
    ],
)
def test_groups(name: str, begin: str) -> None:
    assert str(group_problem(name)).startswith(begin)
    assert group_problem("readers") is None


def test_of_long_names_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    monkeypatch.setattr(names, "_topic_problem", checked.append)

    assert "is longer than topic max length" in str(topic_problem("t" * 3_000_000))
    topic_problem("orders")

    assert checked == ["orders"]

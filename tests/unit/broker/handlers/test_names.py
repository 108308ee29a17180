"""Names that a broker refuses, in Java's words."""

from __future__ import annotations

import pytest

from rocketwire_broker.handlers.names import group_problem


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

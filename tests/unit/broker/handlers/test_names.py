"""Names that a broker refuses, in Java's words."""

from __future__ import annotations

import pytest

from rocketwire_broker.handlers.names import existing_topic, group_problem, topic_problem
from rocketwire_broker.state.response import RefusedError
from tests.support.broker import BrokerAtHand


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("orders", None),
        ("%RETRY%" + "g" * 200, None),
        ("", "The specified topic is blank."),
        (
            "a b",
            "The specified topic: a b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
        ),
        ("t" * 128, f"The specified topic: {'t' * 128}, is longer than topic max length: 127"),
    ],
)
def test_topics(name: str, problem: str | None) -> None:
    assert topic_problem(name) == problem


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


def test_a_topic_that_does_not_exist_is_refused_with_17() -> None:
    with pytest.raises(RefusedError, match="not exist, apply first please") as caught:
        existing_topic(BrokerAtHand().broker, "orders")

    assert caught.value.response.code == 17

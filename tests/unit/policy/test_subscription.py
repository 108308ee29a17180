"""Expressions as Java reads them, and the exact filter."""

from types import SimpleNamespace
from typing import cast

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.policy import subscription
from rocketwire.policy.subscription import Tagged
from tests.support.policy_vectors import decisions
from tests.support.vectors import JavaVector


def message(tag: str | None) -> Tagged:
    return cast("Tagged", SimpleNamespace(properties=None if tag is None else {"TAGS": tag}))


@pytest.mark.parametrize("vector", decisions("subscription", "subscription"), ids=str)
def test_expressions_are_read_as_in_java(vector: JavaVector) -> None:
    if "refused" in vector.line:
        with pytest.raises(LocalProtocolError):
            subscription.subscription_data(
                "T", vector["text"], expression_type=vector["type"], version=1
            )
        return
    data = subscription.subscription_data(
        "T", vector["text"], expression_type=vector["type"], version=1
    )

    java = vector["value"]
    assert data.sub_string == java["text"]
    assert data.expression_type == java["type"]
    assert set(data.tags_set or ()) == set(java["tags"])
    assert sorted(data.code_set or ()) == java["codes"]
    assert (data.topic, data.sub_version) == ("T", 1)


def test_a_tag_of_the_same_hash_code_is_dropped_here() -> None:
    data = subscription.subscription_data("T", "AaAa", version=1)
    messages = [message("AaAa"), message("BBBB"), message(None), message("AaAa")]

    assert subscription.filter_tags(data, messages) == [messages[0], messages[3]]
    assert [subscription.matches_tags(data, message) for message in messages] == [
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "data",
    [
        subscription.subscription_data("T", "*", version=1),
        subscription.subscription_data("T", "a > 5", expression_type="SQL92", version=1),
        SubscriptionData(topic="T", tags_set=("a",), class_filter_mode=True, sub_version=1),
    ],
    ids=["all", "sql", "class"],
)
def test_other_expressions_than_tags_are_not_filtered_again(data: SubscriptionData) -> None:
    messages = [message("x"), message(None)]
    assert subscription.filter_tags(data, messages) == messages
    assert all(subscription.matches_tags(data, message) for message in messages)


def test_a_changed_subscription_has_a_newer_version() -> None:
    data = subscription.subscription_data("T", "a||b", version=1)
    newer = subscription.with_version(data, 2)
    assert newer.sub_version == 2
    assert newer.tags_set == ("a", "b")


@pytest.mark.parametrize(
    "text", ["a > 5", "a>5 AND b='x'", "city = 'köln'", "a is not null", "NOT a", "x in ('b')"]
)
def test_sql_without_its_type_is_no_tag(text: str) -> None:
    assert subscription.looks_like_sql(text)


@pytest.mark.parametrize(
    "text", ["a || b", "*", "new-order", "a=b", "is", "订单 || a b", "or ders"]
)
def test_tags_are_no_sql(text: str) -> None:
    assert not subscription.looks_like_sql(text)

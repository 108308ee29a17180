"""Namespaces and reserved names are Java's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.policy import names
from tests.policy.java import decisions, unlike

if TYPE_CHECKING:
    from tests.support.javavectors import JavaVector


def in_namespace(vector: JavaVector) -> dict[str, str | bool]:
    namespace, name = vector["namespace"], vector["text"]
    return {
        "wrapped": names.with_namespace(namespace, name),
        "without": names.without_namespace(name, namespace or ""),
        "stripped": names.without_namespace(name),
        "inside": names.is_in_namespace(namespace, name),
        "of": names.namespace_of(name),
    }


def test_names_go_into_and_out_of_namespaces_as_in_java() -> None:
    assert unlike(in_namespace, decisions("names", "namespace")) == []


@pytest.mark.parametrize("vector", decisions("names", "validate"), ids=str)
def test_the_system_s_topics_are_java_s(vector: JavaVector) -> None:
    assert names.is_system_topic(vector["text"]) == vector["value"]["system"]


def test_a_group_s_topics_are_called_after_it() -> None:
    assert names.retry_topic("g") == "%RETRY%g"
    assert names.dlq_topic("g") == "%DLQ%g"
    assert names.pop_retry_topic("g", "T") == "%RETRY%g_T"
    assert names.pop_retry_topic("g", "T", version_2=True) == "%RETRY%g+T"
    assert names.reply_topic("c") == "c_REPLY_TOPIC"


@pytest.mark.parametrize(
    ("topic", "own"),
    [("T", True), ("%RETRY%g", True), ("%LMQ%$T$room", False), ("rmq_sys_wheel_timer", False)],
)
def test_queues_within_other_topics_have_no_route_of_their_own(topic: str, own: bool) -> None:
    assert names.has_own_route(topic) == own

"""Namespaces and reserved names are Java's."""

import pytest

from rocketwire.policy import resource_names
from tests.support.policy_vectors import decisions, unlike
from tests.support.vectors import JavaVector


def in_namespace(vector: JavaVector) -> dict[str, str | bool]:
    namespace, name = vector["namespace"], vector["text"]
    return {
        "wrapped": resource_names.with_namespace(namespace, name),
        "without": resource_names.without_namespace(name, namespace or ""),
        "stripped": resource_names.without_namespace(name),
        "inside": resource_names.is_in_namespace(namespace, name),
        "of": resource_names.namespace_of(name),
    }


def test_names_go_into_and_out_of_namespaces_as_in_java() -> None:
    assert unlike(in_namespace, decisions("names", "namespace")) == []


@pytest.mark.parametrize("vector", decisions("names", "validate"), ids=str)
def test_the_system_s_topics_are_java_s(vector: JavaVector) -> None:
    assert resource_names.is_system_topic(vector["text"]) == vector["value"]["system"]


def test_light_queues_name_their_parent_and_their_lite_topic() -> None:
    assert resource_names.lite_queue("rooms", "blue") == "%LMQ%$rooms$blue"
    assert resource_names.lite_names("%LMQ%$rooms$blue") == ("rooms", "blue")
    for name in ("rooms", "%LMQ%rooms", "%LMQ%$rooms", "%LMQ%$$blue", "%LMQ%$rooms$", "%LMQ%$a$b$"):
        assert resource_names.lite_names(name) is None


def test_a_group_s_topics_are_called_after_it() -> None:
    assert resource_names.retry_topic("g") == "%RETRY%g"
    assert resource_names.dlq_topic("g") == "%DLQ%g"
    assert resource_names.pop_retry_topic("g", "T") == "%RETRY%g_T"
    assert resource_names.pop_retry_topic("g", "T", version_2=True) == "%RETRY%g+T"
    assert resource_names.reply_topic("c") == "c_REPLY_TOPIC"


@pytest.mark.parametrize(
    ("topic", "has_route"),
    [("T", True), ("%RETRY%g", True), ("%LMQ%$T$room", False), ("rmq_sys_wheel_timer", False)],
)
def test_queues_within_other_topics_have_no_route_of_their_own(topic: str, has_route: bool) -> None:
    assert resource_names.has_own_route(topic) == has_route

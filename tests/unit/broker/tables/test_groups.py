"""The consumer groups of a broker."""

from __future__ import annotations

from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire_broker.config import Config
from rocketwire_broker.tables.groups import SYSTEM_GROUPS, Groups


def test_a_new_broker_has_javas_system_groups() -> None:
    groups = Groups(Config(), now=7)

    assert {group.group_name for group in groups} == set(SYSTEM_GROUPS)
    assert len(groups) == len(SYSTEM_GROUPS)


def test_a_missing_group_is_created_with_javas_defaults() -> None:
    groups = Groups(Config(), now=7)

    group = groups.find_or_create("readers", now=8)

    assert group == SubscriptionGroupConfig(group_name="readers")
    assert group is not None
    assert (group.retry_max_times, group.retry_queue_nums) == (16, 1)
    assert groups.get("readers") is group
    assert groups.version.counter == 1


def test_a_group_is_not_created_with_a_bad_name_or_when_it_must_not_be() -> None:
    assert Groups(Config(), now=7).find_or_create("bad name", now=8) is None
    assert Groups(Config(), now=7).find_or_create("g" * 121, now=8) is None
    assert Groups(Config(auto_create_groups=False), now=7).find_or_create("g", now=8) is None
    assert Groups(Config(max_topics=1), now=7).find_or_create("g", now=8) is None


def test_a_deleted_group_is_gone() -> None:
    groups = Groups(Config(), now=7)
    groups.find_or_create("readers", now=8)
    groups.delete("readers", now=9)
    groups.delete("readers", now=9)

    assert "readers" not in groups
    assert groups.version.counter == 2


def test_a_topic_can_be_forbidden_to_a_group() -> None:
    groups = Groups(Config(), now=7)

    groups.forbid("readers", "orders", 8, readable=False)
    assert groups.is_forbidden("readers", "orders")

    groups.forbid("readers", "orders", 9, readable=True)
    assert not groups.is_forbidden("readers", "orders")

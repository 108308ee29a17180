"""The consumer groups of a broker."""

from __future__ import annotations

from rocketwire_broker.config import Config
from rocketwire_broker.tables.groups import SYSTEM_GROUPS, Groups


def test_a_new_broker_has_javas_system_groups() -> None:
    groups = Groups(Config(), now=7)

    assert {group.group_name for group in groups} == set(SYSTEM_GROUPS)
    assert len(groups) == len(SYSTEM_GROUPS)

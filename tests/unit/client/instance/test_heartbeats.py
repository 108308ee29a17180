"""Heartbeats: what is told, and when the short form will do."""

from __future__ import annotations

from dataclasses import replace

from rocketwire.client.instance.heartbeats import (
    HeartbeatMemory,
    fingerprint_of,
    heartbeat_of,
    without_subscriptions,
)
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData

GROUP = ConsumerData(
    group_name="g",
    subscription_data_set=(SubscriptionData(topic="T", sub_string="*", sub_version=5),),
)
DATA = heartbeat_of("client", ["p"], [GROUP])
YES = {"IS_SUPPORT_HEART_BEAT_V2": "true"}


def test_a_fingerprint_follows_the_subscriptions_alone() -> None:
    later = (
        replace(GROUP.subscription_data_set[0], sub_version=9)
        if GROUP.subscription_data_set
        else None
    )
    assert later is not None
    other = replace(GROUP, subscription_data_set=(replace(later, sub_string="a"),))

    assert fingerprint_of(DATA) != 0
    assert fingerprint_of(DATA) == fingerprint_of(
        heartbeat_of("another", ["p"], [replace(GROUP, subscription_data_set=(later,))])
    )
    assert fingerprint_of(DATA) != fingerprint_of(heartbeat_of("client", ["p"], [other]))


def test_the_short_form_goes_to_brokers_that_know_it_and_were_told() -> None:
    memory = HeartbeatMemory()
    first = memory.form_for("b", DATA)
    memory.answered("b", first, YES)
    second = memory.form_for("b", DATA)

    assert first == replace(DATA, heartbeat_fingerprint=fingerprint_of(DATA))
    assert second == without_subscriptions(first)
    assert second.is_without_sub
    assert second.consumer_data_set == (replace(GROUP, subscription_data_set=()),)


def test_everything_is_told_again_after_a_change_on_either_side() -> None:
    memory = HeartbeatMemory()
    memory.answered("b", memory.form_for("b", DATA), YES)
    more = heartbeat_of("client", ["p", "q"], [GROUP])
    assert not memory.form_for("b", more).is_without_sub

    memory.answered("b", memory.form_for("b", DATA), {"IS_SUB_CHANGE": "true"})
    assert not memory.form_for("b", DATA).is_without_sub
    memory.answered("b", memory.form_for("b", DATA), YES)
    assert memory.form_for("b", DATA).is_without_sub
    memory.forget("b")
    assert not memory.form_for("b", DATA).is_without_sub


def test_an_old_broker_gets_the_whole_each_time() -> None:
    memory = HeartbeatMemory()
    memory.answered("b", memory.form_for("b", DATA), None)

    assert not memory.form_for("b", DATA).is_without_sub

"""Heartbeats in their full and their short form."""

from dataclasses import replace

from rocketwire.client.instance.heartbeats import (
    HeartbeatHistory,
    build_heartbeat,
    compute_fingerprint,
    remove_subscriptions,
)
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData

GROUP = ConsumerData(
    group_name="g",
    subscription_data_set=(SubscriptionData(topic="T", sub_string="*", sub_version=5),),
)
DATA = build_heartbeat("client", ["p"], [GROUP])
YES = {"IS_SUPPORT_HEART_BEAT_V2": "true"}


def test_a_fingerprint_follows_the_subscriptions_alone() -> None:
    later = (
        replace(GROUP.subscription_data_set[0], sub_version=9)
        if GROUP.subscription_data_set
        else None
    )
    assert later is not None
    changed_group = replace(GROUP, subscription_data_set=(replace(later, sub_string="a"),))

    assert compute_fingerprint(DATA) != 0
    assert compute_fingerprint(DATA) == compute_fingerprint(
        build_heartbeat("another", ["p"], [replace(GROUP, subscription_data_set=(later,))])
    )
    assert compute_fingerprint(DATA) != compute_fingerprint(
        build_heartbeat("client", ["p"], [changed_group])
    )


def test_the_short_form_follows_an_acknowledged_full_heartbeat() -> None:
    memory = HeartbeatHistory()
    first = memory.prepare("b", DATA)
    memory.record_response("b", first, YES)
    second = memory.prepare("b", DATA)

    assert first == replace(DATA, heartbeat_fingerprint=compute_fingerprint(DATA))
    assert second == remove_subscriptions(first)
    assert second.is_without_sub
    assert second.consumer_data_set == (replace(GROUP, subscription_data_set=()),)


def test_a_change_on_either_side_needs_a_full_heartbeat() -> None:
    memory = HeartbeatHistory()
    memory.record_response("b", memory.prepare("b", DATA), YES)
    longer = build_heartbeat("client", ["p", "q"], [GROUP])
    assert not memory.prepare("b", longer).is_without_sub

    memory.record_response("b", memory.prepare("b", DATA), {"IS_SUB_CHANGE": "true"})
    assert not memory.prepare("b", DATA).is_without_sub
    memory.record_response("b", memory.prepare("b", DATA), YES)
    assert memory.prepare("b", DATA).is_without_sub
    memory.forget("b")
    assert not memory.prepare("b", DATA).is_without_sub


def test_an_old_broker_gets_the_whole_each_time() -> None:
    memory = HeartbeatHistory()
    memory.record_response("b", memory.prepare("b", DATA), None)
    assert not memory.prepare("b", DATA).is_without_sub

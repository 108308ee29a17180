"""Findings of ``startMonitoring`` about the members of a group."""

from __future__ import annotations

import time

from rocketwire.messages.callbacks import ConsumerRunningInfo, ProcessQueueInfo
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.commands.monitoring import find_member_problems

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=1)


def now() -> int:
    """Milliseconds since 1970; looked at by each test, for others may take minutes before it."""
    return time.time_ns() // 1_000_000


def member(
    process: ProcessQueueInfo, expression: str = "*", *, orderly: bool = False
) -> ConsumerRunningInfo:
    return ConsumerRunningInfo(
        properties={"PROP_CONSUMEORDERLY": str(orderly).lower()},
        subscription_set=(SubscriptionData(topic="T", sub_string=expression),),
        mq_table={QUEUE: process},
    )


def busy(millis_ago: int, cached: int = 3) -> ProcessQueueInfo:
    return ProcessQueueInfo(last_consume_timestamp=now() - millis_ago, cached_msg_count=cached)


def test_members_that_are_well_are_not_told() -> None:
    well = {"a": member(busy(1000)), "b": member(busy(99_000, cached=0))}
    locked = {"c": member(ProcessQueueInfo(locked=True), orderly=True)}

    assert list(find_member_problems(well)) == []
    assert list(find_member_problems(locked)) == []
    assert list(find_member_problems({})) == []


def test_members_that_want_different_messages_are_told() -> None:
    (line,) = find_member_problems({"a": member(busy(0)), "b": member(busy(0), "x")})

    assert line["kind"] == "subscriptions"


def test_a_queue_in_which_nothing_is_handled_for_a_minute_is_told() -> None:
    (line,) = find_member_problems({"a": member(busy(61_000))})

    assert (line["clientId"], line["queue"]) == ("a", "T/b/1")
    assert str(line["finding"]).startswith("3 messages wait")


def test_a_queue_in_order_that_is_not_locked_or_not_let_go_is_told() -> None:
    open_one = ProcessQueueInfo(locked=False, last_lock_timestamp=now())
    kept = ProcessQueueInfo(locked=True, droped=True, try_unlock_times=4)

    findings = [
        str(line["finding"])
        for info in (open_one, kept)
        for line in find_member_problems({"a": member(info, orderly=True)})
    ]
    assert findings[0].startswith("not locked for")
    assert findings[1] == "failed to unlock 4 times"

"""Findings of ``startMonitoring`` about the members of a group."""

import time

from rocketwire.messages.callbacks import ConsumerRunningInfo, ProcessQueueInfo
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.commands.doctor import find_member_problems

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=1)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def member(queue: ProcessQueueInfo, tags: str = "*", orderly: str = "false") -> ConsumerRunningInfo:
    return ConsumerRunningInfo(
        properties={"PROP_CONSUMEORDERLY": orderly},
        subscription_set=(SubscriptionData(topic="T", sub_string=tags),),
        mq_table={QUEUE: queue},
    )


def busy(millis_ago: int, cached: int = 3) -> ProcessQueueInfo:
    return ProcessQueueInfo(last_consume_timestamp=now() - millis_ago, cached_msg_count=cached)


def test_healthy_members_have_no_findings() -> None:
    well = {"a": member(busy(1000)), "b": member(busy(99_000, cached=0))}
    locked = {"c": member(ProcessQueueInfo(locked=True), orderly="true")}

    for members in (well, locked, {}):
        assert list(find_member_problems(members)) == []


def test_different_subscriptions_are_found() -> None:
    (line,) = find_member_problems({"a": member(busy(0)), "b": member(busy(0), "x")})

    assert line["kind"] == "subscriptions"


def test_queue_without_progress_is_found() -> None:
    (line,) = find_member_problems({"a": member(busy(61_000))})

    assert (line["clientId"], line["queue"]) == ("a", "T/b/1")
    assert str(line["finding"]).startswith("3 messages wait")


def test_wrong_locks_of_a_queue_are_found() -> None:
    unlocked = ProcessQueueInfo(locked=False, last_lock_timestamp=now())
    kept = ProcessQueueInfo(locked=True, droped=True, try_unlock_times=4)

    for queue, text in ((unlocked, "not locked for"), (kept, "failed to unlock 4 times")):
        (line,) = find_member_problems({"a": member(queue, orderly="true")})
        assert str(line["finding"]).startswith(text)

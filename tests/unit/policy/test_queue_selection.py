"""Queues in turn, and brokers avoided: Java's choices and Java's times."""

import pytest

from rocketwire.policy.queue_selection import FaultStrategy, QueueRotation
from tests.support.policy_vectors import decisions, queues, unlike
from tests.support.vectors import JavaVector

LONG_AGO = -1000.0


def prepare(vector: JavaVector) -> FaultStrategy:
    faults = FaultStrategy(enabled=True)
    for broker in vector["unavailable"]:
        reachable = broker not in vector["unreachable"]
        faults.update(broker, 20.0, isolate=False, reachable=reachable, now=0)
    faults.enabled = vector["enabled"]
    return faults


def pick(vector: JavaVector) -> list[int]:
    every = queues(vector["queues"])
    rotation = QueueRotation(every, start=vector["start"])
    faults = prepare(vector)
    return [every.index(faults.select(rotation, last, now=0)) for last in vector["last"]]


def test_tries_go_to_the_queues_that_java_picks() -> None:
    assert unlike(pick, decisions("selection", "rotate")) == []


@pytest.mark.parametrize("vector", decisions("selection", "durations"), ids=str)
def test_brokers_are_avoided_for_as_long_as_java_avoids_them(vector: JavaVector) -> None:
    durations: list[int] = []
    for latency in vector["latencies"]:
        faults = FaultStrategy(enabled=True)
        faults.update("b", latency / 1000, isolate=vector["isolate"], reachable=True, now=LONG_AGO)
        seconds = [s for s in range(31) if not faults.is_available("b", LONG_AGO + s)]
        durations.append(1000 * len(seconds))

    assert durations == vector["value"]


def test_a_rotation_can_skip_to_another_broker() -> None:
    rotation = QueueRotation(queues([["T", "a", 0], ["T", "a", 1], ["T", "a", 2]]), start=0)
    rotation.restart(4)
    assert [rotation.next_queue().queue_id for _ in range(3)] == [2, 0, 1]


def test_latencies_count_only_if_enabled() -> None:
    faults = FaultStrategy()
    faults.update("b", 100.0, isolate=True, reachable=False, now=0)
    assert faults.is_available("b", 0)
    assert faults.is_reachable("b")


def test_a_shorter_avoidance_does_not_end_a_longer_one() -> None:
    faults = FaultStrategy(enabled=True)
    faults.update("b", 15.0, isolate=False, reachable=True, now=0)
    faults.update("b", 0.6, isolate=False, reachable=True, now=1)
    assert not faults.is_available("b", 29.9)
    assert faults.is_available("b", 30.0)


def test_an_unreachable_broker_is_checked_every_two_seconds() -> None:
    faults = FaultStrategy(enabled=True, detecting=True)
    faults.update("b", 0.0, isolate=True, reachable=False, now=0)

    assert faults.due(0) == ["b"]
    assert faults.due(1.9) == []
    assert faults.due(2.0) == ["b"]
    assert not faults.is_reachable("b")
    faults.detected("b")
    faults.detected("somebody else")
    assert faults.is_reachable("b")


def test_a_broker_that_is_no_more_is_forgotten() -> None:
    faults = FaultStrategy(enabled=True)
    faults.update("b", 0.0, isolate=True, reachable=False, now=0)
    faults.forget("b")
    faults.forget("b")
    assert faults.due(0) == []
    assert faults.is_reachable("b")

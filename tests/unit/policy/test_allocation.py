"""Shares of queues: every one that Java's strategies gave."""

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy import allocation
from rocketwire.policy.allocation import AllocateMessageQueueStrategy
from tests.support.policy_vectors import decisions, queues, unlike
from tests.support.vectors import JavaVector


def room_of(name: str) -> str:
    return name.split("-", 1)[0]


def strategy(vector: JavaVector) -> AllocateMessageQueueStrategy:
    line = vector.line
    name = line["strategy"]
    if name == "CONFIG":
        return allocation.AllocateMessageQueueByConfig(tuple(queues(line["configured"])))
    if name == "MACHINE_ROOM":
        return allocation.AllocateMessageQueueByMachineRoom(frozenset(line["rooms"]))
    if name == "NEAR":
        inner = allocation.STRATEGIES[line["inner"]]
        return allocation.AllocateMachineRoomNearby(
            inner, lambda queue: room_of(queue.broker_name or ""), room_of
        )
    if "nodes" in line:
        return allocation.AllocateMessageQueueConsistentHash(line["nodes"])
    return allocation.STRATEGIES[name]


def allocate(vector: JavaVector) -> list[int]:
    every = queues(vector["queues"])
    mine = strategy(vector).allocate(vector["cid"], every, vector["cids"])
    return [every.index(queue) if queue in every else -1 for queue in mine]


def test_each_consumer_gets_the_queues_that_java_gives_it() -> None:
    answered = [vector for vector in decisions("allocation", "allocate") if "value" in vector.line]
    assert len(answered) > 700
    assert unlike(allocate, answered) == []


@pytest.mark.parametrize(
    "vector",
    [vector for vector in decisions("allocation", "allocate") if "refused" in vector.line],
    ids=str,
)
def test_refusals_of_java_are_refused(vector: JavaVector) -> None:
    with pytest.raises(LocalProtocolError):
        allocate(vector)


def test_configured_queues_are_taken_whatever_there_is() -> None:
    mine = queues([["T", "broker-z", 7]])
    configured = allocation.AllocateMessageQueueByConfig(tuple(mine))
    assert configured.allocate("", [], []) == mine


@pytest.mark.parametrize("vector", decisions("allocation", "name"), ids=str)
def test_a_strategy_around_another_is_called_after_both(vector: JavaVector) -> None:
    assert strategy(vector).name == vector["value"]


@pytest.mark.parametrize("vector", decisions("allocation", "sort"), ids=str)
def test_queues_and_clients_are_sorted_as_java_sorts_them(vector: JavaVector) -> None:
    every = queues(vector["queues"])
    assert allocation.sorted_client_ids(vector["cids"]) == vector["value"]["cids"]
    in_order = allocation.sorted_queues(every)
    assert [every.index(queue) for queue in in_order] == vector["value"]["queues"]


ROOMS = allocation.AllocateMessageQueueByMachineRoom(frozenset(["r"]))
NEAR = allocation.AllocateMachineRoomNearby(ROOMS, lambda _: "r", lambda _: "r")


@pytest.mark.parametrize("ids", [["a", "a"], ["a", "a", "a", "b", "c"], ["_", "a", "a", "b"]], ids=str)  # fmt: skip
@pytest.mark.parametrize("count", [1, 3, 8, 17])
@pytest.mark.parametrize("way", [*allocation.STRATEGIES.values(), ROOMS, NEAR], ids=lambda way: way.name)  # fmt: skip
def test_duplicate_members_leave_no_queue_without_an_owner(
    way: AllocateMessageQueueStrategy, ids: list[str], count: int
) -> None:
    every = queues([["T", "r@broker", number] for number in range(count)])
    other_queues = [
        queue for member in set(ids) - {"a"} for queue in way.allocate(member, every, ids)
    ]
    strategy = allocation.use_all_positions(way)

    assert strategy.name == way.name
    assert allocation.sorted_queues(strategy.allocate("a", every, ids) + other_queues) == every
    assert strategy.allocate("z", every, ids) == []


def test_the_text_of_a_queue_without_names_is_java_s_too() -> None:
    text = allocation.queue_text(MessageQueue(queue_id=3))
    assert text == "MessageQueue [topic=null, brokerName=null, queueId=3]"


def test_names_are_java_s() -> None:
    assert sorted(allocation.STRATEGIES) == ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]
    assert allocation.AllocateMessageQueueByConfig().name == "CONFIG"
    assert allocation.AllocateMessageQueueByMachineRoom(frozenset()).name == "MACHINE_ROOM"


def test_two_consumers_on_one_place_of_the_ring_leave_it_to_the_later() -> None:
    everywhere = allocation.AllocateMessageQueueConsistentHash(3, lambda _: 7)
    every = queues([["T", "a", 0]])
    assert everywhere.allocate("x", every, ["x", "y"]) == []
    assert everywhere.allocate("y", every, ["x", "y"]) == every

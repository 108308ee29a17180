"""Requests that wait for messages."""

import pytest

from rocketwire.wire.message.host import Host
from rocketwire_broker.state.waits import ANY_QUEUE, Wait, Waits
from rocketwire_broker.tables.members import Peer


def make_wait(peer: Peer, *queues: tuple[str, int]) -> Wait:
    return Wait(peer, 1, queues, lambda _now, _must: None, size=0)


@pytest.fixture
def peer() -> Peer:
    return Peer(1, "127.0.0.1:5", Host(bytes(4), 5))


def test_a_request_is_woken_by_each_of_its_queues_once(peer: Peer) -> None:
    waits = Waits()
    two_queues, any_queue = make_wait(peer, ("t", 0), ("t", 1)), make_wait(peer, ("t", ANY_QUEUE))
    waits.add(two_queues)
    waits.add(any_queue)

    assert waits.find_waiting([("t", 0), ("t", 1)]) == [two_queues, any_queue]
    assert waits.find_waiting([("t", 5)]) == [any_queue]
    assert waits.find_waiting([("other", 0)]) == []
    assert set(waits.of_topic("t")) == {two_queues, any_queue}
    assert (len(waits), peer.held) == (2, 2)


def test_a_removed_request_leaves_nothing(peer: Peer) -> None:
    waits = Waits()
    wait = make_wait(peer, ("t", 0))
    waits.add(wait)
    waits.remove(wait)
    waits.remove(wait)

    assert (len(waits), peer.held, waits.of_peer(1), waits.find_waiting([("t", 0)])) == (
        0,
        0,
        [],
        [],
    )

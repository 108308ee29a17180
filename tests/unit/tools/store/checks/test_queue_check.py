"""Queues against the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.stores import damage
from tests.support.stores.checked import checked, damage_of, notes_of

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


def test_the_newest_messages_of_a_killed_broker_may_be_in_no_queue(store: BrokerStore) -> None:
    damage.kill(store.root)
    damage.lose_last_units(store.root)

    check = checked(store.root)

    assert damage_of(check) == {}
    assert notes_of(check) == {"no queue unit": 6}
    assert check.queues.unqueued == 6


def test_the_newest_messages_of_a_broker_that_ended_in_order_are_in_queues(
    store: BrokerStore,
) -> None:
    damage.lose_last_units(store.root)

    assert damage_of(checked(store.root)) == {"no queue unit": 6}

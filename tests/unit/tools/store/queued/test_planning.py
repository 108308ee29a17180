"""Which parts of a log the queues of topics lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.queued.planning import Queues, parts_of_topics
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.store.queued.parts import LogPart
    from tests.support.stores import BrokerStore

    Packed = Callable[[str, str], BrokerStore]

EVERY = (None, None)


def parts(store: BrokerStore, *topics: str, size: int | None = None) -> list[LogPart] | None:
    """Parts of all queues of some topics."""
    opened = OpenedStore([store.root])
    return parts_of_topics("", opened, topics=topics, queue_id=None, offsets=EVERY, size=size)


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_units_of_all_parts_lead_to_all_messages_of_a_topic(
    release: str, packed_store: Packed
) -> None:
    store = packed_store(release, "plain")
    count = sum(message.topic == "orders" for message in store.truth.pulled)

    for size in (None, 20_000):
        planned = parts(store, "orders", size=size) or []
        ranges = [units for part in planned for units in part.units or ()]

        assert sum(units.stop - units.start for units in ranges) == count
        assert planned[-1].units is None  # the end of the log, which queues may not know yet
        assert (len(planned) > 2) == (size is not None)


def test_a_log_is_read_if_queues_cannot_lead_to_all(packed_store: Packed) -> None:
    plain, dledger = packed_store(CURRENT, "plain"), packed_store(CURRENT, "dledger")

    assert parts(plain) is None
    assert parts(plain, "orders", "no-such-topic") is None
    assert parts(dledger, "orders") is None


def test_the_last_message_of_a_log_is_the_last_one_to_which_a_unit_points(
    packed_store: Packed,
) -> None:
    store = packed_store(CURRENT, "plain")

    queues = Queues(OpenedStore([store.root]))
    last = queues.last_message()
    assert last is not None
    assert queues.first_message(queues.all, last.physical_offset) == last
    assert queues.first_message(queues.all, last.physical_offset + 1) is None

    ends = [message.physical_offset for message in store.truth.pulled]
    assert last.physical_offset >= max(ends)

"""Which parts of a log the queues of topics lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.store.writer import DiskFiles, StoreWriter
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.queued import planning
from rocketwire_tools.store.queued.parts import scan_of
from rocketwire_tools.store.queued.planning import Queues, parts_of_topics
from rocketwire_tools.store.queued.units import QueueUnits
from tests.support.java.peers import CURRENT, OLD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


def test_of_many_queues_those_of_the_topic_and_the_newest_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = StoreWriter(DiskFiles(tmp_path), log_file_size=1 << 20)
    for number in range(20):
        writer.append(StoredMessage(topic=f"t{number}", store_timestamp=1_000 * number))
    writer.flush()
    read: list[str] = []

    def recorded(topic: str, *arguments: Any) -> QueueUnits:
        read.append(topic)
        return QueueUnits(topic, *arguments)

    monkeypatch.setattr(planning, "QueueUnits", recorded)
    monkeypatch.setattr(planning, "NEWEST_QUEUES", 2)
    opened = OpenedStore([tmp_path])

    planned = parts_of_topics("", opened, topics=["t3"], queue_id=None, offsets=EVERY) or []

    assert read == ["t3", "t19", "t18"]
    assert [part.units is None for part in planned] == [False, True]
    assert {units.topic for units in planned[0].units or ()} == {"t3"}


def test_the_log_is_read_behind_the_last_message_that_queues_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of a store can have any times."""
    writer = StoreWriter(DiskFiles(tmp_path), log_file_size=1 << 20)
    for number in range(20):
        writer.append(StoredMessage(topic=f"t{number}", store_timestamp=1_000 * (20 - number)))
    writer.flush()
    monkeypatch.setattr(planning, "NEWEST_QUEUES", 2)
    opened = OpenedStore([tmp_path])

    planned = parts_of_topics("", opened, topics=["t3"], queue_id=None, offsets=EVERY) or []

    ends = [part.stop for part in planned if part.units is not None]
    assert ends == [planned[-1].start]
    assert planned[-1].units is None
    assert sum(len(block.messages) for block in scan_of(planned[-1])) == 16

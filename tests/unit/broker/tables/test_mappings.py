"""The logical queues of static topics at a broker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire_broker.tables.mappings import Mappings
from tests.support.broker_pair import TOPIC, detail, item


def test_queues_that_a_broker_leads_are_told_to_name_servers() -> None:
    mappings = Mappings(5)
    mappings.put(detail("broker-a", item("broker-a", queue_id=3), total=2), 6)
    mappings.put(detail("broker-a", item("broker-b", queue_id=1), number=1, epoch=2, total=2), 7)

    info = mappings.info(TOPIC)
    assert info is not None
    assert (info.bname, info.epoch, info.total_queues) == ("broker-a", 2, 2)
    assert info.curr_id_map == {0: 3}
    assert mappings.infos() == [info]
    assert (mappings.version.counter, mappings.version.timestamp) == (2, 7)
    assert [one.topic for one in mappings] == list(mappings.table()) == [TOPIC]
    assert mappings.info("orders") is None
    mappings.delete("orders", 8)
    mappings.delete(TOPIC, 8)
    assert (len(mappings), mappings.version.counter) == (0, 3)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ((item("a", gen=-1),), "negative"),
        ((item("a", end_offset=1, start_offset=2),), "endOffset is smaller"),
        ((item("a", start=-1), item("b", 1, 5)), "non-latest item has negative"),
        ((item("a", 1), item("b", 1, 5)), "gen does not increase"),
        ((item("a", 0, 5), item("b", 1, 5)), "base logic offset"),
        ((item("a", 0, 0, end_offset=5), item("b", 1, 5)), "max logic offset"),
    ],
)
def test_sections_that_contradict_each_other_are_refused(
    items: tuple[object, ...], problem: str
) -> None:
    with pytest.raises(LocalProtocolError, match=problem):
        Mappings(0).put(detail("a", *items), 0)  # type: ignore[arg-type]  # invalid on purpose


def test_a_section_may_wait_for_its_offset() -> None:
    Mappings(0).put(detail("a", item("a"), item("b", 1, -1)), 0)


def test_older_and_other_queues_are_refused_unless_forced() -> None:
    mappings = Mappings(0)
    known = detail("a", item("a"), epoch=5)
    mappings.put(known, 0)

    for change, problem in (
        (detail("a", item("a"), epoch=4), "small epoch 4 < 5"),
        (replace(known, scope="other"), "unmatched scope"),
        (detail("a", epoch=5), "equal epoch with null data"),
        (replace(known, hosted_queues={0: ()}), "null or empty"),
        (detail("a", item("b", 1), epoch=5), "new leader is different"),
    ):
        with pytest.raises(LocalProtocolError, match=problem):
            mappings.put(change, 1)
    assert mappings.get(TOPIC) == known
    mappings.put(detail("a", epoch=6), 1)
    kept = mappings.get(TOPIC)
    assert kept is not None
    assert kept.hosted_queues == known.hosted_queues
    mappings.put(detail("a", item("b", 1), epoch=1), 2, is_forced=True)
    assert (mappings.get(TOPIC) or known).epoch == 1

"""Pulls of logical queues, whose sections are at two brokers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.broker import bodies
from tests.support.broker_pair import BLOCK, TOPIC, Pair, detail, item


@pytest.fixture
def pair() -> Pair:
    pair = Pair()
    pair.create_at_first()
    pair.send(pair.first, "0", "1", "2")
    return pair


def places(pair: Pair, offset: int, **settings: Any) -> tuple[int, str | None, list[str]]:
    answer = pair.second.pulled(offset, TOPIC, **settings)
    fields = answer.ext_fields or {}
    names = ("nextBeginOffset", "minOffset", "maxOffset", "offsetDelta")
    return answer.code, answer.remark, [fields[name] for name in names]


def test_a_pull_reads_the_section_at_another_broker_and_leads_to_the_next_one(pair: Pair) -> None:
    pair.move_to_second()
    pair.send(pair.second, "3")

    assert bodies(pair.second.pulled(1, TOPIC)) == [b"1", b"2"]
    assert places(pair, 1) == (0, "", ["3", "0", str(BLOCK), "0"])
    start = str(BLOCK)
    for offset in (3, 4, BLOCK - 1):
        assert places(pair, offset) == (20, None, [start, start, start, start])
    assert bodies(pair.second.pulled(BLOCK, TOPIC)) == [b"3"]
    end = str(BLOCK + 1)
    assert places(pair, BLOCK) == (0, "FOUND", [end, start, end, start])
    assert places(pair, BLOCK + 1) == (19, None, [end, start, end, start])
    assert places(pair, BLOCK + 9) == (21, None, [end, start, end, start])
    assert places(pair, -5) == (21, None, ["0", "0", start, "0"])


def test_a_section_ends_where_the_plan_says(pair: Pair) -> None:
    pair.move_to_second(end_offset=2)

    assert places(pair, 0) == (0, "", ["2", "0", str(BLOCK), "0"])


def test_the_middle_section_leads_on_whatever_has_been_dropped(pair: Pair) -> None:
    items = item("broker-a"), item("broker-b", 1, 100), item("broker-b", 2, 200, queue_id=1)
    pair.create(pair.second, detail("broker-b", *items, epoch=2), queues=2)
    store = pair.homes[1].broker.store
    pair.second.send(TOPIC, lo="false")
    pair.second.send(TOPIC, lo="false")
    queue = store.queue(TOPIC, 0)
    assert queue is not None
    queue.drop_first()

    assert places(pair, 100) == (20, None, ["101", "101", "200", "100"])
    assert places(pair, 102) == (20, None, ["200", "200", "200", "200"])
    assert places(pair, 101)[0] == 0


def test_a_leader_whose_first_messages_were_dropped_says_where_to_go_on(pair: Pair) -> None:
    pair.move_to_second()
    pair.send(pair.second, "3", "4")
    queue = pair.homes[1].broker.store.queue(TOPIC, 0)
    assert queue is not None
    queue.drop_first()

    expected = [str(BLOCK + 1), str(BLOCK + 1), str(BLOCK + 2), str(BLOCK)]
    assert places(pair, BLOCK) == (20, None, expected)


def test_while_the_next_section_has_no_offset_there_is_nothing_behind_the_end(pair: Pair) -> None:
    pair.move_to_second(start=-1)

    assert places(pair, 3)[:2] == (19, None)


def test_a_pull_waits_for_the_leader_s_next_message(pair: Pair) -> None:
    pair.move_to_second()
    waiting = pair.second.pull(BLOCK, TOPIC, hold=5_000)
    assert pair.second.answer_to(waiting) is None

    pair.send(pair.second, "3")

    answer = pair.second.answer_to(waiting)
    assert answer is not None
    assert bodies(answer) == [b"3"]
    assert (answer.ext_fields or {})["nextBeginOffset"] == str(BLOCK + 1)


def test_a_pull_that_waits_is_answered_when_the_queue_moves(pair: Pair) -> None:
    waiting = pair.first.pull(3, TOPIC, hold=5_000)
    assert pair.first.answer_to(waiting) is None

    pair.move_to_second()

    answer = pair.first.answer_to(waiting)
    assert answer is not None
    assert answer.code == 19
    assert pair.first.pulled(3, TOPIC).code == 501


def test_a_pull_commits_offsets_of_its_own_section_only(pair: Pair) -> None:
    pair.move_to_second()
    pair.send(pair.second, "3", "4")
    offsets = [home.broker.offsets for home in pair.homes]

    pair.second.pulled(BLOCK + 1, TOPIC, sysFlag=5, commitOffset=BLOCK + 1)
    assert offsets[1].get("readers", TOPIC, 0) == 1
    pair.second.pulled(BLOCK + 1, TOPIC, sysFlag=5, commitOffset=2)
    pair.second.pulled(0, TOPIC, sysFlag=5, commitOffset=2)
    assert (offsets[0].get("readers", TOPIC, 0), offsets[1].get("readers", TOPIC, 0)) == (None, 1)


def test_an_error_is_told_as_it_is(pair: Pair) -> None:
    pair.move_to_second()

    answer = pair.second.pulled(BLOCK, TOPIC, consumerGroup="a b")

    assert answer.code == 26

"""Messages of a broker's log by queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocketwire.store.folder import read_folder
from rocketwire_tools.store.checks.queue_groups import groups_of
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import LogScan

if TYPE_CHECKING:
    from tests.support.stores import BrokerStore


def test_groups_have_the_messages_of_each_queue_in_the_order_of_its_offsets(
    plain: BrokerStore,
) -> None:
    wanted = {
        (message.topic, message.queue_id, message.queue_offset, message.physical_offset)
        for message in plain.truth.pulled
    }
    topics, seen = TopicNames(), set[tuple[str, int, int, int]]()

    for block in LogScan(files=read_folder([plain.root]).commit_log):
        groups = groups_of(Rows(block, topics))
        assert groups is not None
        for number, name in enumerate(groups.names):
            part = groups.part(number)
            offsets = groups.offsets[part].tolist()
            places = (block.base + block.messages.positions[groups.rows[part]]).tolist()
            assert offsets == sorted(offsets)
            seen |= {(*name, *both) for both in zip(offsets, places, strict=True)}

    assert seen == wanted


def test_something_holds_for_a_group_if_it_holds_for_all_its_messages(plain: BrokerStore) -> None:
    block = next(iter(LogScan(files=read_folder([plain.root]).commit_log)))
    groups = groups_of(Rows(block, TopicNames()))
    assert groups is not None
    holds = np.ones(len(groups.rows), np.bool_)

    assert groups.all_of_each(holds) == [True] * len(groups.names)
    holds[groups.part(1).stop - 1] = False
    assert groups.all_of_each(holds) == [number != 1 for number in range(len(groups.names))]

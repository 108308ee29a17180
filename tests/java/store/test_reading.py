"""A store that a real broker wrote is read as the broker itself answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store import lookup
from rocketwire_tools.store.opened import OpenedStore
from tests.support.stores.comparison import wrong_messages
from tests.support.stores.store import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore

ALL = [(release, kind) for kind, releases in KINDS.items() for release in releases]


@pytest.fixture(params=ALL, ids=[f"{kind}-{release}" for release, kind in ALL])
def store(
    request: pytest.FixtureRequest, store_of: Callable[[str, str], BrokerStore]
) -> BrokerStore:
    return store_of(*request.param)


def test_every_message_is_read_as_the_broker_answers_it(store: BrokerStore) -> None:
    assert list(wrong_messages(store)) == []


def test_every_place_in_a_queue_leads_to_its_message(store: BrokerStore) -> None:
    opened = OpenedStore([store.root])

    for queue in store.truth.queues:
        for message in queue.messages[:: max(1, len(queue.messages) // 5)]:
            places = lookup.at_queue_offset(
                opened, queue.topic, queue.queue_id, message.queue_offset
            )
            assert [place.physical_offset for place in places] == [message.physical_offset]


def test_every_key_and_id_leads_to_what_the_broker_answers(store: BrokerStore) -> None:
    opened = OpenedStore([store.root])
    digests = {message.physical_offset: message for message in store.truth.pulled}

    for query in store.truth.lookups[::7]:
        if query.index == "T":
            continue
        offsets = {place.physical_offset for place in lookup.by_key(opened, query.key, query.topic)}
        answered = {offset for offset in query.physical_offsets if offset in digests}
        assert offsets >= {
            offset
            for offset in answered
            if query.key in digests[offset].properties.get("KEYS", "").split()
            or query.key == digests[offset].properties.get("UNIQ_KEY")
        }
    for sent in store.truth.sent[::11]:
        places = [
            place.physical_offset for place in lookup.by_message_id(opened, sent.offset_msg_id)
        ]
        assert places == [int(sent.offset_msg_id[-16:], 16)]

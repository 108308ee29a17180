"""Messages of real stores in the form in which they are sent once more."""

from pathlib import Path

import pytest

from rocketwire.wire.message.properties import decode_properties
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.replaying.outgoing import (
    NO_BATCH,
    ReplayMessage,
    choose_properties,
    messages_of,
)
from rocketwire_tools.store.selecting import select_rows
from tests.peers.peers import CURRENT
from tests.support.stores import BrokerStore
from tests.support.stores.fixtures import OpenStore
from tests.support.stores.truth import digest


def messages(root: Path, *topics: str) -> list[ReplayMessage]:
    store = OpenedStore([root])
    return [
        message
        for scan in store.scans()
        for rows in select_rows(scan, Selection(topics=frozenset(topics)), TopicNames())
        for message in messages_of(rows)
        if message is not None
    ]


def test_body_born_time_flag_and_place_are_those_of_the_broker(intact: BrokerStore) -> None:
    by_offset = {message.physical_offset: message for message in messages(intact.root)}

    for pulled in intact.truth.pulled:
        message = by_offset.pop(pulled.physical_offset)
        place = message.topic, message.queue_id, message.queue_offset, message.batch_index
        assert place == (pulled.topic, pulled.queue_id, pulled.queue_offset, NO_BATCH)
        assert (message.flag, message.born) == (pulled.flag, pulled.born_timestamp)
        assert digest(message.body) == pulled.body_digest
        assert message.sys_flag == pulled.sys_flag & 0x703
        assert message.unique_key == pulled.properties.get("UNIQ_KEY", "")
        assert decode_properties(message.properties) == {
            name: value
            for name, value in pulled.properties.items()
            if name not in {"CLUSTER", "MSG_REGION", "TRACE_ON"}
        }

    assert by_offset == {}


def test_each_message_of_a_batch_that_stayed_one_is_sent_for_itself(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "inner")
    sent = {
        (message.topic, message.queue_id, message.queue_offset): message
        for message in store.truth.sent
    }

    for message in messages(store.root, *store.truth.topics):
        original = sent.pop((message.topic, message.queue_id, message.queue_offset))
        properties = decode_properties(message.properties)
        assert properties.pop("UNIQ_KEY") == message.unique_key  # the truth has the batch's
        assert properties.items() >= original.properties.items()
        assert digest(message.body) == original.body_digest
        assert (message.batch_index >= 0) == (original.how == "inner")
    assert sent == {}


@pytest.mark.parametrize(
    ("properties", "names"),
    [
        ({"DELAY": "3", "TAGS": "a"}, {"TAGS"}),
        ({"TRAN_MSG": "true", "PGROUP": "g"}, {"PGROUP"}),
        ({"TIMER_DELIVER_MS": "9", "TIMER_DELAY_SEC": "1", "k": "v"}, {"k"}),
        (
            {"TIMER_DELIVER_MS": "9", "TIMER_OUT_MS": "8", "DELAY": "1"},
            {"TIMER_DELIVER_MS", "TIMER_OUT_MS"},
        ),
        (
            {"INNER_MULTI_DISPATCH": "%LMQ%a", "INNER_MULTI_QUEUE_OFFSET": "4"},
            {"INNER_MULTI_DISPATCH"},
        ),
        ({"__CRC32#": "1234567890", "REAL_TOPIC": "t", "WAIT": "false"}, {"REAL_TOPIC", "WAIT"}),
    ],
)
def test_reserved_properties_are_left_out(properties: dict[str, str], names: set[str]) -> None:
    assert choose_properties(properties) == {name: properties[name] for name in names}

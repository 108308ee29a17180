"""Each kind of store that a real broker wrote is read as the broker itself answered."""

import shutil
from pathlib import Path

import pytest

from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire_tools.store import lookup
from rocketwire_tools.store.opened import OpenedStore
from tests.peers.peers import CURRENT
from tests.support.stores import BrokerStore
from tests.support.stores.comparison import wrong_messages
from tests.support.stores.fixtures import PACKED, OpenStore, unpack


@pytest.fixture(params=PACKED, ids=[f"{kind}-{release}" for release, kind in PACKED])
def store(request: pytest.FixtureRequest, open_store: OpenStore) -> BrokerStore:
    return open_store(*request.param)


def test_every_message_is_read_as_the_broker_answers_it(store: BrokerStore) -> None:
    assert list(wrong_messages(store)) == []


def test_every_place_in_a_queue_leads_to_its_message(store: BrokerStore) -> None:
    opened = OpenedStore([store.root])

    for queue in store.truth.queues:
        offsets = [message.queue_offset for message in queue.messages]
        if queue.topic.startswith(LMQ_PREFIX):  # the messages have the offsets of their own queue
            offsets = list(range(queue.min_offset, queue.max_offset))
        places = list(zip(offsets, queue.messages, strict=True))
        for offset, message in places[:: max(1, len(places) // 5)]:
            messages = lookup.at_queue_offset(opened, queue.topic, queue.queue_id, offset)
            assert [message.physical_offset for message in messages] == [message.physical_offset]


def test_keys_and_ids_lead_to_what_the_broker_answers(store: BrokerStore) -> None:
    opened = OpenedStore([store.root])
    messages = {message.physical_offset: message for message in store.truth.pulled}

    for query in store.truth.lookups[::7]:
        offsets = {place.physical_offset for place in lookup.by_key(opened, query.key, query.topic)}
        assert offsets >= {
            offset
            for offset in query.physical_offsets
            if offset in messages
            and query.index != "T"
            and query.key
            in (
                *messages[offset].properties.get("KEYS", "").split(),
                messages[offset].properties.get("UNIQ_KEY"),
            )
        }
    for sent in store.truth.sent[::11]:
        places = [
            place.physical_offset for place in lookup.by_message_id(opened, sent.offset_msg_id)
        ]
        assert places == [int(sent.offset_msg_id[-16:], 16)]


@pytest.mark.parametrize(
    ("kind", "key", "unindexed_key"),
    [("killed", b"order-1", b"late-12"), ("plain", b"order-12", b"ledger-9")],
)
def test_key_leads_to_messages_outside_of_index_files(
    kind: str, key: bytes, unindexed_key: bytes, tmp_path: Path
) -> None:
    store = unpack(CURRENT, kind, tmp_path)
    if kind != "killed":
        max((store.root / "index").iterdir()).unlink()
    for file in (store.root / "commitlog").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\1%b\2" % unindexed_key, b"\1%b\2" % key))
    places = {
        name: [int(sent.offset_msg_id[-16:], 16) for sent in store.truth.sent if name in sent.keys]
        for name in (key.decode(), unindexed_key.decode())
    }

    messages = list(lookup.by_key(OpenedStore([store.root]), key.decode(), None))

    assert [(message.source, message.physical_offset) for message in messages] == [
        *(("index file", place) for place in places[key.decode()]),
        *(("scan of the log", place) for place in places[unindexed_key.decode()]),
    ]
    assert len(messages) == 2


def test_whole_index_leaves_nothing_of_the_log_to_search(tmp_path: Path) -> None:
    store = unpack(CURRENT, "plain", tmp_path)
    opened = OpenedStore([store.root])

    parts = list(lookup.find_unindexed_parts(opened))

    unindexed = [
        place
        for start, stop in parts
        for scan in opened.scans(start=start, stop=stop)
        for block in scan
        for place in block.messages.positions.tolist()
    ]
    assert 1 <= len(unindexed) <= len(opened.folder.index)


def test_index_in_rocksdb_finds_what_the_broker_answers(tmp_path: Path) -> None:
    store = unpack(CURRENT, "rocksv2", tmp_path)
    shutil.rmtree(store.root / "index")
    opened = OpenedStore([store.root])
    queries = [query for query in store.truth.lookups if query.index != "T"]

    for query in queries:
        offsets = set(lookup.find_indexed_offsets(opened, [query.topic], query.key))
        assert offsets == set(query.physical_offsets)
    assert any(query.physical_offsets for query in queries)

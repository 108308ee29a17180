"""Names that are kept from a broker's last body make its next one cheaper and mean nothing else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

from rocketwire_namesrv.registration import json_reader, packed_reader, reader
from rocketwire_namesrv.registration.json_topics import JsonTopics
from rocketwire_namesrv.registration.parsed import BodyRecord
from rocketwire_namesrv.routes import topic_names
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.steps import drained
from rocketwire_namesrv.routes.topic_batches import TopicBatch, TopicBatches
from rocketwire_namesrv.routes.topic_names import SharedNames, is_plain, use_keys
from tests.support.fakes.sansio_server import Server, identity
from tests.unit.namesrv.registration.test_reader import body_of, named, packed
from tests.unit.namesrv.registration.test_unchanged import seen

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.topic_names import TopicNames

SETTINGS = QueueSettings(4, 4, 6, 0)
NAMES = ("Alpha", "B", "C,{[c", "D\u00e9", "E" * 80, "F", "%RETRY%G", "H")


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 120)
        patch.setattr(json_reader, "CHUNK_BYTES", 300)
        patch.setattr(packed_reader, "CHUNK_BYTES", 60)
        yield


def register(server: Server, body: bytes, *, name: str = "b1", broker_id: int = 0) -> None:
    fields = identity(name, address=f"{name}:{broker_id}", broker_id=str(broker_id))
    assert server.ask(103, fields, body).code == 0


def batches(server: Server, *, name: str = "b1", broker_id: int = 0) -> list[list[str]]:
    return [batch.names for batch in kept(server, name=name, broker_id=broker_id)]


def kept(server: Server, *, name: str = "b1", broker_id: int = 0) -> list[TopicNames]:
    record = server.state.table.body_record("C", f"{name}:{broker_id}")
    assert isinstance(record, BodyRecord)
    return [batch for batch in record.names if batch is not None]


def of(names: list[str], queues: int) -> dict[str, int]:
    return dict.fromkeys(names, queues)


ALL = list(named(12))


def test_the_names_of_a_broker_are_those_of_the_table() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    names = [name for each in batches(server) for name in each]

    assert names == ALL
    assert set(map(id, names)) == set(map(id, server.state.table.topics.entries))


def test_brokers_with_the_same_topics_share_their_names() -> None:
    server = Server()
    for name in ("b1", "b2"):
        register(server, body_of(of(ALL, 8)), name=name)
    register(server, body_of(of(ALL, 8)), name="b1", broker_id=1)

    first = kept(server)
    assert len(first) == len(server.state.table.topics.shared_names) > 1
    for name, number in (("b2", 0), ("b1", 1)):
        others = kept(server, name=name, broker_id=number)
        assert all(one is other for one, other in zip(first, others, strict=True))


@pytest.mark.parametrize("make", [body_of, packed])
def test_names_of_which_the_table_has_others_are_replaced_by_those(
    make: Callable[..., bytes],
) -> None:
    server = Server()
    register(server, body_of(of(ALL[:6], 8)))
    register(server, body_of(of(ALL[5:], 8)), name="b2")
    register(server, make(of(ALL[::-1], 8)), name="b3")
    names = [name for each in batches(server, name="b3") for name in each]

    assert names == ALL[::-1][: len(names)]
    assert len(names) > 6
    assert set(map(id, names)) <= set(map(id, server.state.table.topics.entries))


def test_names_of_which_the_table_has_none_are_not_kept() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    register(server, body_of(of(["U1", "U2"], 8)), name="b1", broker_id=1)

    assert not any(batches(server, name="b1", broker_id=1))


def test_a_table_that_changes_meanwhile_gives_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_names, "KEYS_PER_STEP", 2)
    table = dict.fromkeys("abcdef", 0)
    names = SharedNames().shared(["a", "b"], "ab")
    steps = use_keys([names], table)
    next(steps)
    del table["f"]

    assert list(steps) == []
    assert not names.are_keys
    assert len(list(use_keys([names], table))) == 3
    assert names.are_keys


def test_names_are_replaced_eight_batches_at_a_time_and_foreign_ones_are_left() -> None:
    shared_names = SharedNames()
    batches = [shared_names.shared([name], name) for name in "abcdefgh"]

    steps = list(use_keys(batches, dict.fromkeys("abcdefg", 0)))

    assert len(steps) == 2  # after the table's names, and after eight batches
    assert [batch.are_keys for batch in batches] == [True] * 7 + [False]


def test_names_are_given_up_with_the_last_broker_that_has_them() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    server.session.lost(server.now, "closed")
    gc.collect()

    assert len(server.state.table.topics.shared_names) == 0


@pytest.mark.parametrize("changed", [ALL, ALL[3:4], ALL[:1], ALL[-1:], ALL[2:9]])
@pytest.mark.parametrize("make", [body_of, packed])
def test_a_broker_whose_topics_change_keeps_its_names(
    make: Callable[..., bytes], changed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    register(server, make(of(ALL, 8)))
    names = batches(server)
    register(server, make(of(ALL, 8) | of(changed, 6), counter=2))
    assert batches(server) == names

    searching = (
        (JsonTopics, "take") if make is body_of else (packed_reader.PackedTopics, "take_alike")
    )
    monkeypatch.delattr(*searching)
    register(server, make(of(ALL, 4), counter=3))
    # the last topic of a packed body is followed by something else
    assert batches(server)[: len(names)] == names[: len(batches(server))]
    assert {name: server.perms(name) for name in ALL} == {name: {"b1": 6} for name in ALL}
    assert {
        each.read_queue_nums
        for layout in server.state.table.topics.entries.values()
        for each in layout.queues
    } == {4}


@pytest.mark.parametrize("make", [body_of, packed])
@pytest.mark.parametrize("changed", [[*ALL[:4], "New", *ALL[4:]], ALL[:4] + ALL[5:], ["New", *ALL]])
def test_after_a_topic_has_come_or_gone_the_names_of_the_others_are_still_known(
    make: Callable[..., bytes], changed: list[str]
) -> None:
    server = Server()
    register(server, make(of(ALL, 8)))
    before = batches(server)
    register(server, make(of(changed, 8), counter=2))
    after = batches(server)

    assert sum(map(len, after)) >= len(changed) - 5  # the batches that changed are read one by one
    assert len([names for names in after if names in before]) >= len(before) - 2


def test_names_that_occur_twice_are_not_kept() -> None:
    body = body_of(of(ALL, 8))
    topics = body[body.index(b'"Topic-') : body.index(b'},"topicQueueMapping')]
    server = Server()
    for counter, queues in enumerate((b"8", b"9"), 1):
        again = topics.replace(b'Nums":8', b'Nums":' + queues)
        doubled = body.replace(topics, topics + b"," + again).replace(
            b'"counter":1', b'"counter":%d' % counter, 1
        )
        register(server, doubled)
        assert kept(server) == []
        layout = server.state.table.topics.entries[ALL[0]]
        assert [each.read_queue_nums for each in layout.queues] == [int(queues)]


def test_names_that_begin_to_occur_twice_are_not_kept() -> None:
    server = Server()
    register(server, body_of(of(ALL[:2], 8)))
    assert batches(server) == [ALL[:2]]
    body = body_of(of(ALL[:1], 8) | of(ALL[1:2], 9), counter=2)
    topics = body[body.index(b'"Topic-') : body.index(b'},"topicQueueMapping')]
    register(server, body.replace(topics, b",".join([topics, topics])))

    assert kept(server) == []


Told = tuple[str, list[tuple[str, int]], int, bool, bool]
"""Which broker, its topics, their version, whether all have the same queues, and whether packed."""
TOLD = st.tuples(
    st.sampled_from(["b1", "b2"]),
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.integers(1, 12)),
        min_size=2,
        max_size=len(NAMES),
        unique_by=lambda topic: topic[0],
    ).map(lambda topics: sorted(topics)),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)


@pytest.mark.slow
@configured(deadline=None)
@given(st.lists(TOLD, min_size=2, max_size=6), st.booleans())
def test_with_kept_names_everything_is_as_without(told: list[Told], full: bool) -> None:
    quick, slow = Server(), Server()
    slow.state.table.body_record = lambda *_: None  # type: ignore[method-assign]  # the fast path is off
    for name, topics, counter, alike, zipped in told:
        make = packed if zipped else body_of
        table: dict[str, int] = dict.fromkeys(NAMES, counter) if full else {}
        table |= {topic: counter if alike else queues for topic, queues in topics}
        for server in (quick, slow):
            register(server, make(table, counter=counter), name=name)
        assert seen(quick) == seen(slow)


def chunk_and_names() -> tuple[bytes, TopicNames]:
    """A part of a table, and the names of its topics as they are kept."""
    body = body_of(of(["T1", "T2"], 8))
    text = body[body.index(b'"T1"') : body.index(b'},"topicQueueMapping')].decode()
    topics = JsonTopics(SharedNames())
    assert drained(topics.take(text.encode()))
    (names,) = topics.kept_names()
    assert names is not None
    return text.encode(), names


@pytest.mark.parametrize(
    "change",
    [
        (b'"T2":', b'"T3":'),  # another name
        (b"T1", b"X1"),
        (b'"T2":', b'"T\\u0032":'),
        (b'"attributes":{}', b'"attributes":{"\\\\":"x"}'),
        (b'"attributes":{}', b'"attributes":{"$ref":"x"}'),
        (b'"attributes":{}', b'"attributes":{"x":"\xff"}'),
        (b'"perm":6', b'"perm":"6"'),
        (b'"topicName":"T1"', b'"topicName":"T2"'),
        (b"}", b""),
        (b"}}", b"}]"),  # neither a comma nor the end of the table follows
        (b"}}", b"}"),
    ],
)
def test_what_is_not_the_same_topics_is_not_read_by_their_names(
    change: tuple[bytes, bytes],
) -> None:
    text, names = chunk_and_names()
    topics = JsonTopics(SharedNames())

    assert topics.take_named((text + b"}").replace(*change), 0, names) is None
    assert len(topics.by_key) == 0
    assert topics.take_named(text + b"}", 0, names) == len(text)
    assert JsonTopics(SharedNames()).take_named(text + b",more", 0, names) == len(text)
    assert JsonTopics(SharedNames()).take_named(text + b",more", 0, None) is None


def test_a_comma_after_the_last_topic_is_not_ordinary() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    data = body_of(of(ALL, 9), counter=2).replace(
        b'},"topicQueueMappingDetail', b',},"topicQueueMappingDetail'
    )
    register(server, data)

    assert server.state.table.body_record("C", "b1:0") is None
    layouts = server.state.table.topics.entries.values()
    assert {queue.read_queue_nums for layout in layouts for queue in layout.queues} == {9}


def test_names_of_many_topics_are_gathered_when_somebody_asks_for_them() -> None:
    shared_names = SharedNames()
    topics = TopicBatches()
    for names in (["a", "b"], ["c", "d"]):
        shared = shared_names.shared(names, "".join(names))
        topics.add_unique(TopicBatch(names, [SETTINGS], shared))
    lazy = topics.lazy_names

    assert len(topics) == len(lazy) == 4
    assert not topics.has_repeated()
    assert ("c" in lazy, "x" in lazy) == (True, False)
    assert set(lazy) == topics.names == set("abcd")
    assert topics.lazy_names is topics.names
    topics.add(TopicBatch(["d", "e"], [SETTINGS]))
    assert topics.has_repeated()
    assert [len(batch.names) for batch in topics.batches] == [2, 2, 2]


def packed_part(text: str) -> bytes:
    """Topics one behind another, as a packed body has them."""
    items = [item.encode() for item in text.split("|")]
    return b"".join(len(item).to_bytes(4, "big") + item for item in items)


REST = " 8 8 6 SINGLE_TAG {}"


@pytest.mark.parametrize(
    ("names", "part", "count"),
    [
        (["T1", "T2"], f"T1{REST}|T3{REST}", 2),
        (["T1", "T2"], f"T1{REST}|T2{REST}1", 2),
        (["T1", "T2"], f"T1{REST}", 2),
        (["T1", "T2"], f"T1{REST}|T2{REST}", 1),
        (["T1", "T2"], "T1", 2),
        (["T1", "T2"], "T1-8 8 6|T2-8 8 6", 2),
        (["T1", "T2"], f"T1 \u00e9{REST}|T2 \u00e9{REST}", 2),
        (["T1", "T" * 125], f"T1{REST}|{'T' * 125}{REST}", 2),
        ([], f"T1{REST}", 1),
    ],
)
def test_what_is_not_the_same_topics_is_not_unpacked_by_their_names(
    names: list[str], part: str, count: int
) -> None:
    shared = SharedNames().shared(names, "".join(names))
    data = packed_part(part)
    topics = packed_reader.PackedTopics(SharedNames())

    assert topics.take_named(data, 0, count, shared) is None
    assert topics.take_named(b"", 0, count, shared) is None
    assert topics.take_named(data, 0, count, None) is None
    assert len(topics.by_name) == 0


@pytest.mark.parametrize("name", ['a"', "a\\", "a\n", "a,", "{a", "a[", "a b", "\u00e9", "\x7f"])
def test_names_that_java_refuses_for_topics_are_not_kept(name: str) -> None:
    assert not is_plain(name)
    assert is_plain("%RETRY%a-B_9|")


def test_the_same_names_are_kept_once() -> None:
    shared_names = SharedNames()
    first = shared_names.shared(["ab", "c"], "abc")

    assert shared_names.shared(["ab", "c"], "abc") is first
    assert shared_names.shared(["a", "bc"], "abc") is not first
    first.drop_foreign()
    assert first.names == []
    assert sys.getrefcount(first) <= 2  # Python 3.14 does not count the argument


def test_a_chunk_without_a_topic_is_not_read() -> None:
    assert not drained(JsonTopics(SharedNames()).take(b" " * 100))

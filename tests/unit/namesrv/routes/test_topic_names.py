"""Names that are kept from a broker's last body make its next one cheaper and mean nothing else."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st

from rocketwire_namesrv.registration import json_reader, packed_reader, reader
from rocketwire_namesrv.registration.json_reader import JsonImage
from rocketwire_namesrv.registration.json_topics import JsonTopics
from rocketwire_namesrv.registration.packed_reader import PackedImage
from rocketwire_namesrv.routes import topic_names as names_module
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.steps import drained
from rocketwire_namesrv.routes.topic_batches import Run, TopicRuns
from rocketwire_namesrv.routes.topic_names import NamesInUse, adopt, marks_in
from tests.support.fakes.sansio_server import Server
from tests.unit.namesrv.registration.test_reader import body_of, named, packed
from tests.unit.namesrv.registration.test_unchanged import seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_namesrv.routes.topic_names import KnownNames

SETTINGS = QueueSettings(4, 4, 6, 0)
NAMES = ("Alpha", "B", "C,{[c", "D\u00e9", "E" * 80, "F", "%RETRY%G", "H")


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 120)
        patch.setattr(json_reader, "PIECE_BYTES", 300)
        patch.setattr(packed_reader, "PIECE_BYTES", 60)
        yield


def register(server: Server, body: bytes, *, name: str = "b1", broker_id: int = 0) -> None:
    fields = {
        "brokerAddr": f"{name}:{broker_id}",
        "brokerId": str(broker_id),
        "brokerName": name,
        "clusterName": "C",
    }
    assert server.ask(103, fields, body).code == 0


def pieces(server: Server, *, name: str = "b1", broker_id: int = 0) -> list[list[str]]:
    return [known.names for known in kept(server, name=name, broker_id=broker_id)]


def kept(server: Server, *, name: str = "b1", broker_id: int = 0) -> list[KnownNames]:
    image = server.state.table.image("C", f"{name}:{broker_id}")
    assert isinstance(image, JsonImage | PackedImage)
    return [piece.known for piece in image.pieces if piece.known is not None]


def of(names: list[str], queues: int) -> dict[str, int]:
    return dict.fromkeys(names, queues)


ALL = list(named(12))


def test_the_names_of_a_broker_are_those_of_the_table() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    names = [name for each in pieces(server) for name in each]

    assert names == ALL
    assert set(map(id, names)) == set(map(id, server.state.table.topics.entries))


def test_brokers_with_the_same_topics_share_their_names() -> None:
    server = Server()
    for name in ("b1", "b2"):
        register(server, body_of(of(ALL, 8)), name=name)
    register(server, body_of(of(ALL, 8)), name="b1", broker_id=1)

    first = kept(server)
    assert len(first) == len(server.state.table.topics.names) > 1
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
    names = [name for each in pieces(server, name="b3") for name in each]

    assert names == ALL[::-1][: len(names)]
    assert len(names) > 6
    assert set(map(id, names)) <= set(map(id, server.state.table.topics.entries))


def test_names_of_which_the_table_has_none_are_not_kept() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    register(server, body_of(of(["U1", "U2"], 8)), name="b1", broker_id=1)

    assert not any(pieces(server, name="b1", broker_id=1))


def test_a_table_that_changes_meanwhile_gives_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "KEYS_PER_STEP", 2)
    table = dict.fromkeys("abcdef", 0)
    known = NamesInUse().shared(["a", "b"], "ab", 0)
    steps = adopt([known], table)
    next(steps)
    del table["f"]

    assert list(steps) == []
    assert not known.are_keys
    assert len(list(adopt([known], table))) == 3
    assert known.are_keys


def test_names_are_adopted_eight_batches_at_a_time_and_unknown_ones_are_left() -> None:
    names = NamesInUse()
    batches = [names.shared([name], name, 0) for name in "abcdefgh"]

    steps = list(adopt(batches, dict.fromkeys("abcdefg", 0)))

    assert len(steps) == 2  # after the table's names, and after eight batches
    assert [batch.are_keys for batch in batches] == [True] * 7 + [False]


def test_names_are_given_up_with_the_last_broker_that_has_them() -> None:
    server = Server()
    register(server, body_of(of(ALL, 8)))
    server.session.lost(server.now, "closed")
    gc.collect()

    assert len(server.state.table.topics.names) == 0


@pytest.mark.parametrize("changed", [ALL, ALL[3:4], ALL[:1], ALL[-1:], ALL[2:9]])
@pytest.mark.parametrize("make", [body_of, packed])
def test_a_broker_whose_topics_change_keeps_its_names(
    make: Callable[..., bytes], changed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    register(server, make(of(ALL, 8)))
    names = pieces(server)
    register(server, make(of(ALL, 8) | of(changed, 6), counter=2))
    assert pieces(server) == names

    searching = (
        (JsonTopics, "take") if make is body_of else (packed_reader.PackedTopics, "take_alike")
    )
    monkeypatch.delattr(*searching)
    register(server, make(of(ALL, 4), counter=3))
    # the last topic of a packed body is followed by something else
    assert pieces(server)[: len(names)] == names[: len(pieces(server))]
    assert {name: server.perms(name) for name in ALL} == {name: {"b1": 6} for name in ALL}
    assert {
        each.read_queue_nums
        for shape in server.state.table.topics.entries.values()
        for each in shape.queues
    } == {4}


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
        shape = server.state.table.topics.entries[ALL[0]]
        assert [each.read_queue_nums for each in shape.queues] == [int(queues)]


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
    slow.state.table.image = lambda *_: None  # type: ignore[method-assign]
    for name, topics, counter, alike, zipped in told:
        make = packed if zipped else body_of
        table: dict[str, int] = dict.fromkeys(NAMES, counter) if full else {}
        table |= {topic: counter if alike else queues for topic, queues in topics}
        for server in (quick, slow):
            register(server, make(table, counter=counter), name=name)
        assert seen(quick) == seen(slow)


def frames(text: str) -> tuple[bytes, JsonTopics, KnownNames]:
    """A part of a table, and the names of its topics as they are kept."""
    body = body_of(of(["T1", "T2"], 8))
    text = body[body.index(b'"T1"') : body.index(b'},"topicQueueMapping')].decode()
    topics = JsonTopics(NamesInUse())
    piece = drained(topics.take(text.encode()))
    assert piece is not None
    assert piece.known is not None
    return text.encode(), topics, piece.known


@pytest.mark.parametrize(
    ("change", "stop"),
    [
        ((b'"T2":', b'"T3":'), 0),  # another name
        ((b"T1", b"X1"), 0),
        ((b'"T2":', b'"T\\u0032":'), 0),
        ((b'"attributes":{}', b'"attributes":{"\\\\":"x"}'), 0),
        ((b'"attributes":{}', b'"attributes":{"$ref":"x"}'), 0),
        ((b'"attributes":{}', b'"attributes":{"x":"\xff"}'), 0),
        ((b'"perm":6', b'"perm":"6"'), 0),
        ((b'"topicName":"T1"', b'"topicName":"T2"'), 0),
        ((b"}", b""), 0),
        ((b"x", b"x"), 1),  # something follows, which is no comma
        ((b"x", b"x"), -1),  # it ends earlier
    ],
)
def test_what_is_not_the_same_topics_is_not_read_by_their_names(
    change: tuple[bytes, bytes], stop: int
) -> None:
    text, _, known = frames("")
    other = text.replace(*change) + b"}}"
    topics = JsonTopics()

    assert topics.take_known(other, 0, len(other) - 2 + stop, known) is None
    assert len(topics.by_key) == 0
    assert topics.take_known(text + b"}}", 0, len(text), known) is not None
    assert topics.take_known(text + b",more", 0, len(text) + 4, known) is not None
    assert topics.take_known(text + b",", 0, len(text) + 1, known) is None


def test_names_of_many_topics_are_gathered_when_somebody_asks_for_them() -> None:
    in_use = NamesInUse()
    topics = TopicRuns()
    for names in (["a", "b"], ["c", "d"]):
        topics.add_known(Run(names, [SETTINGS], in_use.shared(names, "".join(names), 0)))
    each = topics.each_name

    assert len(topics) == len(each) == 4
    assert not topics.has_repeated()
    assert ("c" in each, "x" in each) == (True, False)
    assert set(each) == topics.names == set("abcd")
    assert topics.each_name is topics.names
    assert topics.add(Run(["d", "e"], [SETTINGS])) == 1
    assert topics.has_repeated()
    assert [len(run.names) for run in topics.runs] == [2, 2, 2]


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
        (["T 1", "T2"], f"T 1{REST}|T2{REST}", 2),  # of which the first is T to others
        (["T1", "T" * 125], f"T1{REST}|{'T' * 125}{REST}", 2),
        ([], f"T1{REST}", 1),
    ],
)
def test_what_is_not_the_same_topics_is_not_unpacked_by_their_names(
    names: list[str], part: str, count: int
) -> None:
    known = NamesInUse().shared(names, "".join(names), 0)
    plain = packed_part(part)
    topics = packed_reader.PackedTopics(None)

    assert topics.take_known(plain, 0, count, known) is None
    assert topics.take_known(b"", 0, count, known) is None
    assert topics.take_known(plain, 0, count, None) is None
    assert len(topics.by_name) == 0


def test_names_that_are_written_otherwise_in_json_are_not_kept() -> None:
    assert marks_in("a,b{[\u00e9") == 3
    assert [marks_in(name) for name in ('a"', "a\\", "a\n")] == [None] * 3


def test_names_are_known_by_what_they_are() -> None:
    in_use = NamesInUse()
    first = in_use.shared(["ab", "c"], "abc", 0)

    assert in_use.shared(["ab", "c"], "abc", 0) is first
    assert in_use.shared(["a", "bc"], "abc", 0) is not first
    first.settle()
    assert first.names == []
    assert sys.getrefcount(first) == 2


def test_a_piece_without_a_topic_is_not_read() -> None:
    assert drained(JsonTopics().take(b" " * 100)) is None

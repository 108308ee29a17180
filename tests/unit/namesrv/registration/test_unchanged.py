"""A server that skips unchanged topics responds like one that registers all topics each time."""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketwire.codes import RequestCode as Code
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.registration import json_reader, packed_reader, reader
from tests.support.fakes.sansio_server import Server, identity, replies, request
from tests.unit.namesrv.registration.test_reader import body_of, pack

NAMES = tuple(f"T{number}" for number in range(8))
BROKERS = (("a:0", 0, "b1"), ("a:1", 1, "b1"), ("a:9", 0, "b1"), ("b:0", 0, "b2"))


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 120)
        patch.setattr(json_reader, "CHUNK_BYTES", 200)
        patch.setattr(packed_reader, "CHUNK_BYTES", 40)
        yield


Event = tuple[str, int, dict[str, int], int, bool]
"""A request: its kind, broker, topics and version, in one of two forms."""


def send_event(server: Server, sessions: Sequence[Session], event: Event) -> list[int]:
    operation, number, topics, counter, flag = event
    address, broker_id, name = BROKERS[number]
    session = sessions[number]
    if operation in ("json", "zip"):
        fields = identity(name, address, str(broker_id), enableActingMaster=str(flag).lower())
        encode_body = body_of if operation == "json" else pack
        data = request(Code.REGISTER_BROKER, fields, encode_body(topics, counter=counter))
    elif operation == "leave":
        data = request(Code.UNREGISTER_BROKER, identity(name, address))
    elif operation == "perm":
        data = request(
            Code.WIPE_WRITE_PERM_OF_BROKER if flag else Code.ADD_WRITE_PERM_OF_BROKER,
            {"brokerName": name},
        )
    elif operation == "delete":
        cluster = {"clusterName": "C"} if flag else {}
        data = b"".join(
            request(Code.DELETE_TOPIC_IN_NAMESRV, {"topic": topic, **cluster})
            for topic in list(topics)[:2]
        )
    else:
        queue = {"brokerName": name, "perm": 2, "readQueueNums": 3, "writeQueueNums": 3}
        body = json.dumps({"queueDatas": [queue]}).encode()
        data = request(Code.REGISTER_TOPIC_IN_NAMESRV, {"topic": next(iter(topics))}, body)
    return [reply.code for reply in replies(server.receive(data, session).send)]


def responses_of(server: Server) -> dict[str, Any]:
    entries = server.state.table.topics.entries
    routes = {topic: sorted(map(repr, layout.queues)) for topic, layout in entries.items()}
    brokers = {topic: server.route(topic)["brokerDatas"] for topic in routes}
    return {"routes": routes, "brokers": brokers, "clusters": server.cluster_info()}


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["json"] * 5 + ["zip"] * 3 + ["leave", "perm", "delete", "route"]),
        st.integers(0, len(BROKERS) - 1),
        st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2), min_size=5),
        st.integers(1, 3),
        st.booleans(),
    ),
    max_size=12,
)


@pytest.mark.full
@settings(deadline=None)
@given(EVENTS, st.booleans(), st.booleans())
def test_skipping_changes_no_response(events: list[Event], acting: bool, repeated: bool) -> None:
    config = Config(support_acting_master=acting)
    quick, slow = Server(config), Server(config)
    slow.state.table.body_record = lambda *_: None  # type: ignore[method-assign]  # the fast path is off
    links = [[server.connect() for _ in BROKERS] for server in (quick, slow)]
    for event in events:
        for _ in range(2 if repeated else 1):
            assert send_event(quick, links[0], event) == send_event(slow, links[1], event)
        assert responses_of(quick) == responses_of(slow)


def register(server: Server, counter: int, **topics: int) -> None:
    send_event(server, [server.session] * len(BROKERS), ("json", 0, topics, counter, False))


ALL = dict.fromkeys(NAMES, 1)
BODY = body_of(ALL)
FIELDS = identity(address="a:0")


def test_a_kept_answer_survives_a_registration_that_changes_nothing(server: Server) -> None:
    register(server, 1, **ALL)
    server.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "T1"})
    layout = server.state.table.topics.entries["T1"]
    kept, revision = layout.standard, server.state.table.topics.revision
    register(server, 2, **ALL)

    assert kept is not None
    assert layout.standard is kept
    assert server.state.table.topics.revision == revision


def test_where_absent_topics_are_removed_every_body_is_read_whole() -> None:
    server = Server(Config(delete_topic_with_broker_registration=True))
    register(server, 1, **ALL)
    register(server, 2, **ALL)
    assert server.perms("T7") == {"b1": 6}
    register(server, 3, **dict.fromkeys(NAMES[:6], 1))

    assert server.route("T7") is None


def test_change_between_two_steps_is_noticed(server: Server) -> None:
    topics = {f"M{number:04}": 1 for number in range(700)}
    server.session.receive(request(Code.REGISTER_BROKER, FIELDS, body_of(topics)), server.now)
    while "M0255" not in server.state.table.topics.entries:
        server.session.proceed(server.now)
    server.receive(request(Code.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b1"}), server.connect())
    while server.session.busy:
        server.session.proceed(server.now)
    assert server.perms("M0000") == {"b1": 4}
    server.receive(request(Code.REGISTER_BROKER, FIELDS, body_of(topics, counter=2)))

    assert server.perms("M0000") == {"b1": 6}


@pytest.mark.parametrize("is_unchanged", [False, True], ids=["changed", "unchanged"])
def test_broker_that_leaves_meanwhile_is_registered(server: Server, *, is_unchanged: bool) -> None:
    body = body_of(ALL | {f"M{number:04}": 1 for number in range(100)})
    assert server.ask(Code.REGISTER_BROKER, FIELDS, body if is_unchanged else BODY).code == 0
    server.session.receive(request(Code.REGISTER_BROKER, FIELDS, body), server.now)
    server.session.proceed(server.now)
    server.receive(request(Code.UNREGISTER_BROKER, FIELDS), server.connect())
    while server.session.busy:
        server.session.proceed(server.now)

    assert server.perms("T1") == {"b1": 6}


def send_in_parts(server: Server, data: bytes, *, in_place: bool) -> None:
    """Send a large body in pieces; ``in_place``: write them into the buffer of the body."""
    session = server.session
    session.receive(data[:1000], server.now)
    for place in range(1000, len(data), 50_000):
        part = data[place : place + 50_000]
        while in_place and part:
            assert session.filling
            with session.room() as room:
                count = min(len(part), len(room))
                room[:count] = part[:count]
            session.receive_filled(count, server.now)
            part = part[count:]
        session.receive(part, server.now)
    while session.busy:
        session.proceed(server.now)
    assert not session.filling
    assert len(session.room()) == 0
    session.receive_filled(0, server.now)


@pytest.mark.parametrize("in_place", [True, False])
def test_packed_body_of_the_same_length_is_read(server: Server, *, in_place: bool) -> None:
    for counter, queues in enumerate((1, 2, 3), 1):
        body = pack(dict.fromkeys(map(str, range(5000)), queues), counter=counter)
        fields = FIELDS | {"compressed": "true"}
        frame = request(Code.REGISTER_BROKER, fields, zlib.compress(zlib.decompress(body), 0))
        send_in_parts(server, frame, in_place=in_place)

        (layout,) = set(server.state.table.topics.entries.values())
        assert [queue.read_queue_nums for queue in layout.queues] == [queues]


DELETE = (216, {"topic": "T1"}, b"")
WIPE = (205, {"brokerName": "b1"}, b"")


TIMELESS = pack(ALL | {f"{number}-{hash(number)}": 8 for number in range(50)}, timestamp=None)


def register_as(
    name: str = "b1", address: str = "a:0", broker_id: str = "0", *, acting: str = "false"
) -> tuple[int, dict[str, str], bytes]:
    return 103, identity(name, address, broker_id, enableActingMaster=acting), BODY


MASTER = register_as(acting="true")
SLAVE = register_as(address="a:1", broker_id="1", acting="true")
FEWER = (103, register_as()[1], body_of({"T0": 1, "T2": 1}))
LATER = body_of(ALL, counter=2)


@pytest.mark.parametrize(
    ("requests", "perms"),
    [
        ([register_as(), DELETE, register_as()], {"b1": 6}),
        ([register_as(), WIPE, register_as()], {"b1": 4}),
        ([register_as(), WIPE, (103, register_as()[1], LATER)], {"b1": 6}),
        ([register_as(), DELETE, register_as(broker_id="3", acting="true")], {"b1": 4}),
        ([register_as(broker_id="3"), WIPE, register_as()], {"b1": 6}),
        ([(103, FEWER[1], TIMELESS), WIPE, (103, FEWER[1], TIMELESS)], {"b1": 6}),
        ([MASTER, SLAVE, DELETE, (104, MASTER[1], b""), SLAVE], {"b1": 4}),
        (
            [FEWER, *((103, register_as(name)[1], LATER) for name in ("b2", "b1"))],
            {"b1": 6, "b2": 6},
        ),
        ([register_as(), register_as("b2")], {"b1": 6, "b2": 6}),
    ],
    ids=[
        *("deleted topic", "wiped permission", "next version", "another role", "another id"),
        *("no time", "slave that begins to speak for its group", "two names", "a new name"),
    ],
)
def test_a_body_is_registered_whole_unless_nothing_has_changed_since(
    server: Server, requests: list[tuple[int, dict[str, str], bytes]], perms: dict[str, int]
) -> None:
    for number, (code, fields, body) in enumerate(requests):
        server.now = 1000.0 + number
        assert server.ask(code, fields, body).code == 0

    assert server.perms("T1") == perms

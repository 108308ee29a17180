"""Limits of the tables: a topic beyond one is left out; any other request beyond one changes nothing."""

import json
import zlib
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages.registration import (
    decode_register_broker_body,
    encode_register_broker_body,
)
from rocketwire.serving.events import ExceededAgain, LimitExceeded
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.protocol.register_broker import REPEAT_SECONDS
from rocketwire_namesrv.protocol.session import Effects
from tests.support.fakes.sansio_server import (
    BROKER,
    SLAVE,
    Reply,
    Server,
    identity,
    registration_body,
    replies,
    request,
    topic,
)
from tests.support.fakes.sansio_server import version as data_version

MANY = tuple(f"Topic-{number:03}" for number in range(100))


def assert_refused(reply: Reply, limit: str) -> None:
    assert reply.code == ResponseCode.SYSTEM_ERROR
    assert f"this name server's {limit} is " in (reply.remark or "")


def names(server: Server) -> set[str]:
    return set(server.state.table.topics.entries)


def register(server: Server, topics: dict[str, Any], *, packed: bool) -> None:
    body = registration_body(topics)
    if packed:
        typed = decode_register_broker_body(body, compressed=False, version=513)
        assert typed is not None
        body = encode_register_broker_body(typed, compressed=True)
    fields = identity(compressed=str(packed).lower())
    assert server.ask(Code.REGISTER_BROKER, fields, body).code == 0


PACKED = request(Code.REGISTER_BROKER, identity(compressed="true"), zlib.compress(bytes(20_000)))
FILTERS = registration_body(("TA", "TB"), filter_servers=["a", "b"])
REFUSED: dict[Limit, tuple[dict[str, Any], bytes]] = {
    Limit.BODY_LENGTH: ({"body_max_length": 9}, request(Code.QUERY_DATA_VERSION, {}, b" " * 10)),
    Limit.INFLATED_LENGTH: ({"inflated_max_length": 10_000}, PACKED),
    Limit.FILTER_SERVERS: (
        {"max_filter_servers": 1},
        request(Code.REGISTER_BROKER, identity(), FILTERS),
    ),
    Limit.KV_VALUE_LENGTH: (
        {"max_kv_value_length": 2},
        request(Code.PUT_KV_CONFIG, {"namespace": "n", "key": "k", "value": "abc"}),
    ),
}


@pytest.mark.parametrize("limit", REFUSED)
def test_a_request_beyond_a_limit_is_refused_and_changes_nothing(limit: Limit) -> None:
    changes, data = REFUSED[limit]
    server = Server(Config(**changes))

    outcome = server.receive(data)

    (reply,) = replies(outcome.send)
    assert_refused(reply, limit)
    assert list_exceeded_limits(outcome) == [limit]
    assert (names(server), dict(server.state.table.live), server.state.kv.entries) == (set(), {}, 0)


def mapping(queues: int, broker: str = "b1", scope: str = "s") -> dict[str, Any]:
    ids = {str(number): number for number in range(queues)}
    return {"bname": broker, "currIdMap": ids, "epoch": 1, "scope": scope, "totalQueues": queues}


def list_exceeded_limits(outcome: Effects) -> list[str]:
    return [event.limit for event in outcome.events if isinstance(event, LimitExceeded)]


TWO = ("TA", "TB")
UNEVEN = {"TA": topic("TA", queues=7), "TB": topic("TB")}
BOTH = registration_body(TWO)
MAPPED = {"TB": mapping(4)}


@pytest.mark.parametrize(
    ("limit", "setting", "body"),
    [
        (Limit.NAME_LENGTH, {"max_name_length": 20}, registration_body(("TA", "T" * 21))),
        (Limit.TOPICS_PER_REGISTRATION, {"max_topics_per_registration": 1}, BOTH),
        (Limit.TOPICS_PER_BROKER, {"max_topics_per_broker": 1}, BOTH),
        (Limit.TOPICS, {"max_topics": 1}, BOTH),
        (Limit.QUEUES, {"max_queues_per_topic": 7}, registration_body(UNEVEN)),
        (Limit.MAPPED_QUEUES, {"max_mapped_queues": 2}, registration_body(TWO, mappings=MAPPED)),
    ],
)
def test_topic_beyond_a_limit_is_left_out(
    limit: Limit, setting: dict[str, Any], body: bytes
) -> None:
    server = Server(Config(**setting))
    outcome = server.receive(request(Code.REGISTER_BROKER, identity(), body))

    assert [reply.code for reply in replies(outcome.send)] == [0]
    assert list_exceeded_limits(outcome) == [limit]
    assert names(server) == {"TA"}


def test_topics_of_a_broker_have_a_limit_over_all_its_registrations() -> None:
    server = Server(Config(max_topics_per_broker=3))
    assert server.register(topics=("TA", "TB")).code == 0
    assert server.register(topics=("TB", "TC"), data_version=data_version(1)).code == 0
    assert server.register(topics=("TC", "TD"), data_version=data_version(2)).code == 0
    assert server.register(topics=("TA", "TB", "TC"), data_version=data_version(3)).code == 0
    assert server.register(SLAVE, topics=("TX", "TY", "TZ"), name="b2").code == 0

    assert names(server) == {"TA", "TB", "TC", "TX", "TY", "TZ"}


def test_a_broker_that_names_all_its_topics_anew_is_judged_by_these() -> None:
    config = Config(max_topics_per_broker=3, delete_topic_with_broker_registration=True)
    server = Server(config)
    assert server.register(topics=("TA", "TB", "TC")).code == 0
    assert server.register(topics=("TD", "TE"), data_version=data_version(1)).code == 0

    assert names(server) == {"TD", "TE"}


def test_topics_have_a_limit_whoever_brings_them() -> None:
    server = Server(Config(max_topics=3))
    assert server.register(topics=("TA", "TB")).code == 0
    assert server.register(SLAVE, topics=("TC", "TD"), name="b2").code == 0
    assert names(server) == {"TA", "TB", "TC"}
    assert server.register(SLAVE, topics=("TA", "TC"), name="b2").code == 0
    assert_refused(add_route(server, "TD"), "rocketwire.maxTopics")
    assert add_route(server, "TC").code == 0
    assert server.register(topics=("TA", "TB"), data_version=data_version(1)).code == 0

    assert names(server) == {"TA", "TB", "TC"}


def add_route(server: Server, name: str, queues: int = 4) -> Reply:
    queue = {"brokerName": "b1", "perm": 6, "topicSysFlag": 0}
    queue |= {"readQueueNums": queues, "writeQueueNums": 4}
    body = json.dumps({"queueDatas": [queue]}).encode()
    return server.ask(Code.REGISTER_TOPIC_IN_NAMESRV, {"topic": name}, body)


@pytest.mark.parametrize("count", [2, 100])
def test_queues_of_a_topic_have_a_limit(count: int) -> None:
    server = Server(Config(max_queues_per_topic=16))
    table: dict[str, Any] = {name: topic(name, queues=16) for name in MANY[:count]}
    table["Z"] = {**topic("Z"), "readQueueNums": 17}
    assert server.register(topics=table).code == 0
    assert names(server) == {*MANY[:count]}
    assert_refused(add_route(server, "Z", 17), "rocketwire.maxQueuesPerTopic")
    assert add_route(server, "Z", 16).code == 0

    assert "Z" in names(server)


BAD: dict[str, Any] = {"Z": topic("Z", queues=17), "x" * 65: topic("x" * 65)}
STRICT = Config(max_queues_per_topic=16, max_name_length=64)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("count", [2, 100])
def test_bad_topic_costs_no_broker_its_registration(count: int, *, packed: bool) -> None:
    server = Server(STRICT)
    good = {name: topic(name) for name in MANY[:count]}
    for _ in range(2):
        register(server, {**good, **BAD}, packed=packed)

    assert server.state.table.live.keys() == {("C", BROKER)}
    assert names(server) == {*good}


def test_topic_that_is_left_out_is_warned_of_once_in_a_while() -> None:
    server = Server(STRICT)
    data = request(
        Code.REGISTER_BROKER, identity(), registration_body({"TA": topic("TA"), "Z": BAD["Z"]})
    )
    text = "limit rocketwire.maxQueuesPerTopic=16 exceeded: topic 'Z' of broker 'b1' left out"
    for seconds, event_type in (
        (0, LimitExceeded),
        (0, ExceededAgain),
        (REPEAT_SECONDS, LimitExceeded),
    ):
        server.now += seconds
        events = [e for e in server.receive(data).events if isinstance(e, LimitExceeded)]
        assert [(type(event), event.text) for event in events] == [(event_type, text)]


LONG = "x" * 11


@pytest.mark.parametrize(
    "changes",
    [
        {"name": LONG},
        {"cluster": LONG},
        {"address": BROKER},
        {"haServerAddr": LONG},
        {"filter_servers": [LONG]},
        {"__ZONE_NAME": LONG},
    ],
)
def test_name_of_any_kind_has_a_limit(changes: dict[str, Any]) -> None:
    server = Server(Config(max_name_length=10))
    members: dict[str, Any] = {"address": "1.1.1.1:99", "haServerAddr": ""}

    assert_refused(server.register(**{**members, **changes}), "rocketwire.maxNameLength")
    assert not server.state.table.live
    assert server.register(**members).code == 0
    assert_refused(add_route(server, LONG), "rocketwire.maxNameLength")


def test_groups_and_their_clusters_have_the_limit_of_brokers() -> None:
    server = Server(Config(max_brokers=2))
    for name, cluster in (("b1", "C"), ("b2", "C")):
        reply = server.register("a:1", topics=("T",), name=name, cluster=cluster)
        assert reply.remark == "register broker failed"
    assert_refused(server.register("a:1", topics=("T",), name="b3"), "rocketwire.maxBrokers")
    assert_refused(
        server.register("a:1", topics=("T",), name="b1", cluster="D"), "rocketwire.maxBrokers"
    )


def test_brokers_that_come_and_go_over_one_connection_have_a_limit() -> None:
    server = Server(Config(max_brokers=2))
    for number in range(3):
        assert server.register(f"a:{number}").code == 0
        assert server.ask(Code.UNREGISTER_BROKER, identity(address=f"a:{number}")).code == 0
    assert_refused(server.register("a:9"), "rocketwire.maxBrokers")

    assert server.register("a:9", session=server.connect()).code == 0


def test_static_topics_have_a_limit_in_queues() -> None:
    server = Server(Config(max_mapped_queues=10))
    assert server.register(mappings={"TA": mapping(4), "TB": mapping(4)}).code == 0
    for mappings in ({"TC": mapping(1)}, {"TA": mapping(0, "b9")}):
        assert server.register(mappings=mappings, data_version=data_version(2)).code == 0
        assert server.state.table.topics.mapped == 10
    smaller = {"TA": mapping(2), "TB": mapping(4)}
    assert server.register(mappings=smaller, data_version=data_version(1)).code == 0
    assert server.state.table.topics.mapped == 8
    server.register(mappings={"TC": mapping(0, scope="s" * 640)}, data_version=data_version(3))
    assert server.state.table.topics.mapped == 8


def put(server: Server, namespace: str, key: str, value: str | None) -> Reply:
    ext = {"namespace": namespace, "key": key}
    return server.ask(Code.PUT_KV_CONFIG, ext if value is None else {**ext, "value": value})


def test_namespaces_items_and_characters_have_limits() -> None:
    server = Server(Config(max_kv_namespaces=2, max_kv_entries=3, max_kv_length=20))
    for namespace, key in (("n", "a"), ("n", "b"), ("m", "a")):
        assert put(server, namespace, key, "v").code == 0
    assert_refused(put(server, "o", "a", "v"), "rocketwire.maxKvNamespaces")
    assert_refused(put(server, "n", "c", "v"), "rocketwire.maxKvEntries")
    assert put(server, "n", "a", "v" * 13).code == 0
    assert_refused(put(server, "n", "a", "v" * 14), "rocketwire.maxKvLength")
    assert put(server, "n", "a", None).code == 0
    assert server.ask(Code.DELETE_KV_CONFIG, {"namespace": "n", "key": "a"}).code == 0
    assert put(server, "n", "c", "v").code == 0

    assert (server.state.kv.namespaces, server.state.kv.entries) == (2, 3)
    assert server.state.kv.length == sum(map(len, ("n", "m", "b", "v", "c", "v", "a", "v")))


def test_a_limit_of_zero_is_none() -> None:
    limits: dict[str, Any] = {
        name: 0
        for name in Config.__dataclass_fields__
        if name.startswith("max_") or name.endswith("_max_length")
    }
    limits["frame_max_length"] = 1 << 24
    server = Server(Config(**limits))
    reply = server.register(topics=MANY, filter_servers=["a:1"], mappings={"TA": mapping(1)})
    assert reply.code == 0
    assert put(server, "n", "k", "v").code == 0
    assert add_route(server, "Z", 1 << 30).code == 0
    packed = zlib.compress(b"{}")
    response = server.ask(Code.REGISTER_BROKER, identity(compressed="true"), packed)
    assert response.code == ResponseCode.SYSTEM_ERROR

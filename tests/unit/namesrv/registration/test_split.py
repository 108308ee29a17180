"""Registrations in parts of three topics, by brokers with enableSplitRegistration."""

import zlib
from itertools import chain
from typing import Any, TypeAlias

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.registration import split
from tests.support.fakes.sansio_server import (
    BROKER,
    SLAVE,
    Server,
    identity,
    registration_body,
    topic,
    version,
)

FIRST = ("T1", "T2", "T3")
SECOND = ("T4", "T5", "T6")
LAST = ("T7",)
Parts: TypeAlias = tuple[tuple[str, ...], ...]


def split_server(**settings: Any) -> Server:
    return Server(Config(split_registration_size=3, **settings))


@pytest.fixture
def server() -> Server:
    return split_server()


def register_parts(server: Server, *parts: tuple[str, ...]) -> None:
    for part in parts:
        server.register(topics=part)


def list_topics(server: Server) -> list[str]:
    return sorted(server.state.table.topics.entries)


def test_a_broker_is_seen_with_all_its_topics_or_not_at_all(server: Server) -> None:
    tables: list[object] = []
    for part in (FIRST, SECOND, LAST):
        reply = server.register(topics=part)
        assert (reply.code, reply.remark, reply.ext, reply.body) == (0, None, {}, b"")
        tables.append((list_topics(server), list(server.cluster_info()["brokerAddrTable"])))

    assert tables == [([], []), ([], []), ([*FIRST, *SECOND, *LAST], ["b1"])]


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        ((FIRST, ()), 0.0),
        ((("T1", "T2"),), 0.0),
        ((("T1", "T2", "T3", "T4"),), 0.0),
        ((FIRST, SECOND, FIRST, SECOND, LAST), 0.0),
        ((FIRST,), split.FIRST_PART_SECONDS),
        ((FIRST, SECOND), split.NEXT_PART_SECONDS),
    ],
)
def test_parts_appear_together(server: Server, parts: Parts, seconds: float) -> None:
    for part in parts:
        assert list_topics(server) == []
        server.register(topics=part)
    assert_parts_appear(server, parts, seconds)


def assert_parts_appear(server: Server, parts: Parts, seconds: float) -> None:
    if seconds:
        server.now += seconds - 0.1
        assert server.state.complete_parts(server.now) == ()
        assert list_topics(server) == []
        server.now += 0.1
        server.state.complete_parts(server.now)

    assert list_topics(server) == sorted({*chain(*parts)})
    assert len(server.state.parts) == 0


@pytest.mark.parametrize(("size", "broker_version"), [(0, 513), (3, 401)])
def test_without_a_size_or_from_a_4x_broker_each_part_is_seen_as_it_comes(
    size: int, broker_version: int
) -> None:
    server = Server(Config(split_registration_size=size))

    server.register(topics=FIRST, version=broker_version)

    assert list_topics(server) == [*FIRST]


def test_a_change_in_a_later_part_counts_though_all_parts_have_one_version(server: Server) -> None:
    """Java compares the second part's version with the first one's, and skips what it knows."""
    register_parts(server, FIRST, SECOND, LAST)
    changed = {"T4": topic("T4", queues=2), "T5": topic("T5"), "T6": topic("T6")}

    for topics in ({name: topic(name) for name in FIRST}, changed, {"T7": topic("T7", queues=3)}):
        server.register(topics=topics, data_version=version(1))

    queues = {
        name: server.route(name)["queueDatas"][0]["readQueueNums"] for name in ("T3", "T4", "T7")
    }
    assert queues == {"T3": 8, "T4": 2, "T7": 3}


def test_an_unchanged_registration_brings_deleted_topics_back(server: Server) -> None:
    register_parts(server, FIRST, LAST)
    server.ask(Code.DELETE_TOPIC_IN_NAMESRV, {"topic": "T2"})

    register_parts(server, FIRST, LAST)

    assert list_topics(server) == [*FIRST, *LAST]


def test_topics_of_other_parts_are_not_absent() -> None:
    """deleteTopicWithBrokerRegistration: Java deletes the topics that are not in the last part."""
    server = split_server(delete_topic_with_broker_registration=True)
    register_parts(server, FIRST, SECOND, LAST)

    register_parts(server, ("T1", "T2", "T4"), ("T5",))

    assert list_topics(server) == ["T1", "T2", "T4", "T5"]


def test_static_mappings_of_the_last_part_are_taken(server: Server) -> None:
    server.register(topics=FIRST)
    info = {"bname": "b1", "topic": "T1", "totalQueues": 8, "epoch": 5, "currIdMap": {"0": 1}}
    server.register(topics=LAST, mappings={"T1": info})

    assert list(server.route("T1")["topicQueueMappingByBroker"]) == ["b1"]


def test_every_part_gives_a_slave_its_master(server: Server) -> None:
    server.register(topics=("M1", "M2"))
    slave = server.connect()
    answers = [server.register(SLAVE, 1, part, session=slave).ext for part in (FIRST, LAST)]

    assert answers == [{"haServerAddr": f"ha-{BROKER}", "masterAddr": BROKER}] * 2


def test_parts_are_signs_of_life(server: Server) -> None:
    register_parts(server, FIRST, LAST)
    server.now += 100
    server.register(topics=FIRST)
    server.now += 100

    assert server.state.expire(server.now) == ((), ())


def test_parts_of_two_brokers_over_one_connection(server: Server) -> None:
    for address, name in ((BROKER, "b1"), (SLAVE, "b2")):
        server.register(address, topics=FIRST, name=name)
    server.register(topics=LAST)

    assert list(server.cluster_info()["brokerAddrTable"]) == ["b1"]


def test_a_lost_connection_takes_its_parts_along(server: Server) -> None:
    session = server.connect()
    server.register(topics=FIRST, session=session)
    server.register(SLAVE, topics=SECOND, name="b2")
    session.connection_lost(server.now, "closed")

    server.register(topics=LAST)

    assert len(server.state.parts) == 1
    response = server.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "T1"})
    assert response.code == ResponseCode.TOPIC_NOT_EXIST
    assert list_topics(server) == []  # one topic of a broker that is not registered is refused


def test_a_broker_that_unregisters_takes_its_parts_along(server: Server) -> None:
    server.register(topics=FIRST)

    server.ask(Code.UNREGISTER_BROKER, identity())
    server.now += split.FIRST_PART_SECONDS

    assert server.state.complete_parts(server.now) == ()
    assert list_topics(server) == []


JAVAS = ("b1", "C", *split.OWN_TOPICS)


def register_as_java(server: Server, topics: tuple[str, ...]) -> int:
    checksum = zlib.crc32(registration_body(topics)) & 0x7FFFFFFF
    return server.register(topics=topics, bodyCrc32=str(checksum)).code


def test_a_java_broker_is_not_seen_before_the_topics_that_each_of_them_has() -> None:
    server = split_server()
    assert register_as_java(server, ("T1",)) == 1
    for topics in (("T1", JAVAS[3]), JAVAS[:3], ("T2", "T3")):
        assert register_as_java(server, topics) == 0
        assert list_topics(server) == []
    register_as_java(server, JAVAS[4:])

    assert list_topics(server) == sorted({"T1", "T2", "T3", *JAVAS})


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        (((*JAVAS, "T1"),), 0.0),
        ((("T1", "T2"),), 0.0),
        ((("T1", JAVAS[-1]), ("T1", JAVAS[-1])), 0.0),
        ((("T1", JAVAS[-1]),), split.MISSING_PART_SECONDS),
    ],
)
def test_java_parts_appear_together(server: Server, parts: Parts, seconds: float) -> None:
    for part in parts:
        assert list_topics(server) == []
        register_as_java(server, part)
    assert_parts_appear(server, parts, seconds)
    register_as_java(server, ("T2", "T3"))

    assert {"T2", "T3"} < set(list_topics(server))


def test_broker_of_one_full_part_waits_once(server: Server) -> None:
    server.register(topics=FIRST)
    server.now += split.FIRST_PART_SECONDS
    *_, last_event = server.state.complete_parts(server.now)
    assert last_event.text == (
        "registration of 3 topics taken as it is, no other part came, BrokerAddrInfo [clusterName=C,"
        f" brokerAddr={BROKER}] brokerName: b1"
    )

    server.register(topics=SECOND, data_version=version(1))
    server.register(topics=FIRST, data_version=version(2), session=server.connect())

    assert list_topics(server) == [*FIRST, *SECOND]
    assert len(server.state.parts) == 1


def test_nothing_is_completed_while_a_registration_is_on_its_way(server: Server) -> None:
    server.register(topics=FIRST)
    server.now += split.FIRST_PART_SECONDS
    server.state.stepping = True
    assert server.state.complete_parts(server.now) == ()

    server.state.stepping = False
    server.state.complete_parts(server.now)

    assert list_topics(server) == [*FIRST]


def test_there_is_an_end_to_the_parts_of_one_broker(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split, "MAX_PARTS", 2)

    register_parts(server, FIRST, SECOND)

    assert list_topics(server) == [*FIRST, *SECOND]


def test_a_first_part_that_repeats_is_kept_once_and_not_for_ever(server: Server) -> None:
    for _ in range(4):
        server.register(topics=FIRST)
        server.now += 1
        assert server.state.parts.topics == 3
        assert list_topics(server) == []

    server.state.complete_parts(server.now)

    assert list_topics(server) == [*FIRST]

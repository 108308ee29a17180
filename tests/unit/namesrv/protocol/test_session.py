"""A connection's requests and answers, as literal bytes; requests beyond its limits wait."""

from struct import pack

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode, SerializeType
from rocketwire.connection.guards import Guard
from rocketwire.serving.events import Event, ExceededAgain, LimitExceeded
from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.events import RequestFailed
from rocketwire_namesrv.protocol import handlers, session
from rocketwire_namesrv.protocol.handlers import Peer, Response
from rocketwire_namesrv.protocol.session import NOTHING
from rocketwire_namesrv.protocol.state import State
from tests.support.fakes.sansio_server import (
    BROKER,
    Server,
    identity,
    registration_body,
    replies,
    request,
    version,
)

REQUEST_106 = bytes.fromhex("0000006700000063") + (
    b'{"code":106,"flag":0,"language":"PYTHON","opaque":1,'
    b'"serializeTypeCurrentRPC":"JSON","version":513}'
)
EMPTY = b'{"brokerAddrTable":{},"clusterAddrTable":{}}'
ANSWER_106 = (
    bytes.fromhex("0000008f0000005f")
    + b'{"code":0,"flag":1,"language":"JAVA","opaque":1,'
    + b'"serializeTypeCurrentRPC":"JSON","version":513}'
    + EMPTY
)


def raw(header: bytes) -> bytes:
    return pack(">II", 4 + len(header), len(header)) + header


def test_a_started_frame_is_known_to_be_one(server: Server) -> None:
    server.receive(REQUEST_106[:20])

    assert server.session.frame_started
    server.receive(REQUEST_106[20:])
    assert not server.session.frame_started


def test_a_server_configured_for_binary_headers_answers_in_them() -> None:
    server = Server(Config(serialize_type=SerializeType.ROCKETMQ))
    server.receive(request(Code.PUT_KV_CONFIG, {"namespace": "n", "key": "k", "value": "v"}))
    ask = bytes.fromhex(
        "00000033 0100002f 0065 03 0201 00000002 00000000 00000000 0000001a"
        " 0009 6e616d657370616365 00000001 6e 0003 6b6579 00000001 6b"
    )
    answer = bytes.fromhex(
        "00000025 01000021 0000 00 0201 00000002 00000001 00000000 0000000c"
        " 0005 76616c7565 00000001 76"
    )

    assert server.receive(ask).send == answer
    header = bytes.fromhex("01000015 0000 00 0201 fffffffe 00000001 00000000 00000000")
    outcome = server.receive(request(Code.GET_BROKER_CLUSTER_INFO, opaque=-2))
    assert outcome.send == pack(">I", 25 + len(EMPTY)) + header + EMPTY


def test_shutdown_refuses_waiting_requests(server: Server) -> None:
    server.register("a:1")
    # reads the whole table, so that the next request waits
    topics = request(Code.GET_TOPICS_BY_CLUSTER, {"cluster": "C"})
    route = request(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"})
    outcome = server.session.receive(topics + route, server.now)
    assert server.session.busy
    server.state.shutting_down = True
    later = server.session.proceed(server.now)

    assert [reply.code for reply in (*replies(outcome.send), *replies(later.send))] == [0, 1]


def test_broken_handler_is_a_system_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_handler(state: State, request: RemotingCommand, peer: Peer, now: float) -> Response:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(session, "HANDLERS", {**handlers.HANDLERS, 206: fail_handler})
    outcome = Server().receive(request(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) + REQUEST_106)
    broken_reply, good = replies(outcome.send)

    assert (broken_reply.code, broken_reply.remark) == (ResponseCode.SYSTEM_ERROR, "system error")
    assert good.code == 0
    (happened,) = outcome.events
    assert isinstance(happened, RequestFailed)
    assert happened.error == "ZeroDivisionError: secret"


def test_an_answer_too_large_for_a_frame_is_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MAX_FRAME_LENGTH", 100)
    (reply,) = replies(Server().receive(request(Code.GET_BROKER_CLUSTER_INFO)).send)

    assert reply.code == ResponseCode.SYSTEM_ERROR
    assert reply.body == b""


def test_expired_broker_and_its_connection_are_named(server: Server) -> None:
    server.register(heartbeatTimeoutMillis="10000")
    happened, connections = server.state.expire(server.now + 10.1)

    assert connections == (1,)
    assert [event.text for event in happened] == [
        "The broker channel expired, BrokerAddrInfo [clusterName=C, brokerAddr=10.0.0.1:10911]"
        " 10000ms",
        "unregisterBroker, remove from brokerLiveTable OK,"
        " BrokerAddrInfo [clusterName=C, brokerAddr=10.0.0.1:10911]"
        " brokerName: b1 reason: expired",
        "unregisterBroker, remove name from brokerAddrTable OK, b1, removed from 2 topics",
        "unregisterBroker, remove cluster from clusterAddrTable C",
    ]


NAMES = tuple(f"Topic-{number:04}" for number in range(700))


def large(name: str = "b1", address: str = BROKER) -> bytes:
    body = registration_body(NAMES, data_version=version(1))
    return request(Code.REGISTER_BROKER, identity(name, address), body)


def test_a_large_registration_is_done_in_steps_and_answered_in_order(server: Server) -> None:
    connection = server.session
    outcome = connection.receive(REQUEST_106 + large() + REQUEST_106, server.now)

    assert (outcome.send, outcome.commands) == (ANSWER_106, 1)
    assert (connection.busy, connection.stepping) == (True, True)
    steps = 0
    while (outcome := connection.proceed(server.now)) is NOTHING:
        steps += 1
    assert steps > 3
    assert [reply.code for reply in replies(outcome.send)] == [0, 0]
    assert outcome.commands == 2
    assert not connection.busy
    assert server.perms(NAMES[-1]) == {"b1": 6}


def test_one_registration_at_a_time_goes_through_its_steps(server: Server) -> None:
    first, second, third = server.session, server.connect(), server.connect()
    first.receive(large(), server.now)
    first.proceed(server.now)
    second.receive(large("b2", "b:2"), server.now)
    small = request(Code.REGISTER_BROKER, identity("small", "s:1"), registration_body(("TA",)))
    third.receive(small, server.now)

    for waiting in (second, third):
        assert waiting.stepping
        assert waiting.proceed(server.now) is NOTHING
    while first.busy:
        first.proceed(server.now)
    assert third.proceed(server.now).commands == 1
    while second.busy:
        second.proceed(server.now)
    assert server.perms(NAMES[0]) == {"b1": 6, "b2": 6}


def test_a_connection_lost_amid_a_registration_leaves_nothing(server: Server) -> None:
    connection = server.connect()
    server.session.receive(large(), server.now)
    while not server.state.table.topics.entries:
        server.session.proceed(server.now)
    assert len(server.state.table.topics.entries) < len(NAMES)
    server.session.connection_lost(server.now, "closed")

    assert len(server.state.table.topics.entries) == 0
    assert not server.session.busy
    assert not server.state.stepping
    assert replies(server.receive(large(), connection).send)[0].code == 0


def test_a_registration_that_is_given_up_before_its_first_step_is_none(server: Server) -> None:
    server.session.receive(large(), server.now)
    server.session.abandon()

    assert not server.session.busy
    assert server.cluster_info()["brokerAddrTable"] == {}


def test_a_large_registration_that_cannot_be_read_is_code_1(server: Server) -> None:
    data = large().replace(b'"perm":6', b'"perm":x', 1)
    outcome = server.receive(data + REQUEST_106)

    assert [reply.code for reply in replies(outcome.send)] == [ResponseCode.SYSTEM_ERROR, 0]
    assert not server.state.stepping


def test_commands_are_counted_answered_or_not(server: Server) -> None:
    data = (
        REQUEST_106
        + request(Code.GET_BROKER_CLUSTER_INFO, flag=1)
        + request(Code.GET_BROKER_CLUSTER_INFO, flag=2)
        + REQUEST_106[:9]
    )

    assert server.receive(data).commands == 3
    assert server.receive(REQUEST_106[9:]).commands == 1


CLUSTER_INFO = request(Code.GET_BROKER_CLUSTER_INFO)
ROUTE = request(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"})


def limits(events: tuple[Event, ...]) -> list[tuple[type[Event], str, int]]:
    return [
        (type(event), event.limit, event.allowed)
        for event in events
        if isinstance(event, LimitExceeded)
    ]


def test_requests_beyond_a_limit_are_reported() -> None:
    server = Server(Config(max_requests_in_flight=3))
    first = server.receive(CLUSTER_INFO * 7)
    second = server.receive(CLUSTER_INFO * 4)
    within = server.receive(CLUSTER_INFO * 3, server.connect())

    assert [len(replies(outcome.send)) for outcome in (first, second, within)] == [7, 4, 3]
    limit = (Limit.REQUESTS_IN_FLIGHT, 3)
    assert limits(first.events) == [(LimitExceeded, *limit), (ExceededAgain, *limit)]
    assert limits(second.events) == [(ExceededAgain, *limit)]
    assert limits(within.events) == []


def test_answers_beyond_a_limit_are_reported() -> None:
    server = Server(Config(max_unsent_bytes=200))
    server.register()
    for data, count in ((CLUSTER_INFO, 4), (ROUTE, 4)):
        outcome = server.receive(data * count, server.connect())

        assert len(replies(outcome.send)) == count
        types = [event_type for event_type, _, _ in limits(outcome.events)]
        assert types[:2] == [LimitExceeded, ExceededAgain]
        assert {event[1:] for event in limits(outcome.events)} == {(Guard.UNSENT_BYTES, 200)}


def test_a_scan_lets_others_go_first_and_is_no_limit(server: Server) -> None:
    outcome = server.receive(request(Code.GET_TOPICS_BY_CLUSTER, {"cluster": "C"}) * 3)

    assert len(replies(outcome.send)) == 3
    assert limits(outcome.events) == []


# made by a Java broker: topics U and TopicTest, one static mapping, bodyCrc32 799000593
PACKED = bytes.fromhex(
    "78da554f4dabc230108cfe0fa1ec51aa54786ac9cd834ac10f1eaf7a1109695cb5d83625491129fdef6fdb83e22eb387"
    "d9d961963116d6a074553834c0031fac930e8f686caa8b8e70698e44e625f0c93cf854c318eb1306b12e531593c60ba9"
    "67de5fb45b6f96225eacbdba150d0fde0ff5f702c8d4ca1b8eddab44e0b08a567be82c4f679a3dc2b386a49079bb4d8c"
    "7ea01949f04155c64497ada43875c0278d0f97d4b817f0abcc2cfa80a55677e053fa44e9ce5a885ba613990941e7ae0d"
    "4be43b74c73999fd5658a1051e36ff1d724fd0"
)

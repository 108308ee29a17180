"""The fast path of a route request returns the response of the general path, or none.

It learns the headers of requests; a request with a known header is answered from its bytes alone.
"""

import json
from struct import pack, unpack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode, SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol import route_fast_path
from rocketwire_namesrv.protocol.session import Effects, Session
from tests.support.fakes.sansio_server import Server, identity, registration_body, replies, request
from tests.support.values import require


def start_server(config: Config | None = None) -> Server:
    server = Server(config)
    mapping = {"bname": "b1", "currIdMap": {"0": 0}, "epoch": 1, "totalQueues": 1}
    server.register(topics=("TA", "TB", "TC"), mappings={"TC": mapping}, __ZONE_NAME="z1")
    return server


@pytest.fixture
def server() -> Server:
    return start_server()


def route(
    topic: str = "TA", opaque: int = 7, *, fields: dict[str, str] | None = None, **members: Any
) -> bytes:
    return request(
        Code.GET_ROUTEINFO_BY_TOPIC, {"topic": topic, **(fields or {})}, opaque=opaque, **members
    )


def binary(topic: str, opaque: int = 7, *, text: str = "", **members: Any) -> bytes:
    members = {"code": 105, "serialize_type": SerializeType.ROCKETMQ, **members}
    fields = {"topic": topic, "x": text}
    return encode(RemotingCommand(opaque=opaque, ext_fields=fields, **members))


def lengthen(frame: bytes) -> bytes:
    length, header = unpack(">II", frame[:8])
    return pack(">II", length + 1, header + 1) + frame[8:] + b"x"


def answer_fast(server: Server, data: bytes) -> bytes | None:
    return server.session.answer_routes(data, server.now)


def answer_known(session: Session, data: bytes, now: float) -> bytes | None:
    answer = session.answer_one_route(data, now)
    if answer is None:
        return None
    size, parts = answer
    data = b"".join(parts)
    assert len(data) == size
    return data


def answer_slowly(server: Server, data: bytes) -> Effects:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.state, "can_use_fast_path", lambda _now: False)
        return server.receive(data, server.connect())


def assert_same_outcome(fast: Effects, slow: Effects) -> None:
    assert (fast.send, str(fast.close), fast.commands) == (
        slow.send,
        str(slow.close),
        slow.commands,
    )
    assert len(fast.events) == len(slow.events)


@pytest.mark.parametrize("topic", ["TA", "TB", "TC"])
@pytest.mark.parametrize("version", [0, 513])
def test_fast_path_of_binary_requests(server: Server, topic: str, version: int) -> None:
    for opaque in (0, 1, -1, 7, 7, 2**31 - 1, -(2**31)):
        data = binary(topic, opaque)
        data = data[:11] + pack(">h", version) + data[13:]
        assert answer_fast(server, data + data) == answer_slowly(server, data + data).send


@pytest.mark.parametrize("version", [0, 513])
def test_similar_request_is_answered_from_its_header(server: Server, version: int) -> None:
    session = server.session
    assert answer_known(session, route("TA", 5, version=version), server.now) is None
    for opaque in (5, 1, 123456789):
        data = route("TA", opaque, version=version)
        answer = answer_fast(server, data)
        routes = server.state.counters.routes
        assert answer_known(session, data, server.now) == answer is not None
        assert server.state.counters.routes == routes + 1
        for bad_data in (data + data, data[:-1], data[:8]):
            assert answer_known(session, bad_data, server.now) is None
    for opaque in (0, -1, 1234567890):
        assert answer_known(session, route("TA", opaque, version=version), server.now) is None
    session.receive(data[:9], server.now)

    assert answer_known(session, data, server.now) is None


def test_cached_answer_fits_a_frame(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = require(answer_fast(server, route("TA")))
    for spare, expected in ((0, answer), (-1, None)):
        monkeypatch.setattr(route_fast_path, "MAX_FRAME_LENGTH", len(answer) + spare)

        assert answer_known(server.session, route("TA"), server.now) == expected


@pytest.mark.parametrize(
    "data",
    [
        route("unknown"),
        request(Code.GET_ROUTEINFO_BY_TOPIC, {}),
        route("TA", -1),
        route("TA", 1234567890),
        route("TA", flag=1),
        route("TA", flag=2),
        route("TA", fields={"__ZONE_NAME": "z1", "__ZONE_MODE": "true"}),
        route("TA", fields={"x": "y" * 600}),
        request(Code.GET_BROKER_CLUSTER_INFO, {"topic": "TA"}),
        request(Code.GET_ROUTEINFO_BY_TOPIC),
        binary("unknown"),
        binary("TA", code=Code.GET_BROKER_CLUSTER_INFO),
        binary("TA", flag=2),
        binary("TA", text="y" * 600),
        binary("TA")[:-1],
        pack(">II", 4, 1 << 24),
        pack(">II", 14, (1 << 24) + 10) + bytes(10),
        pack(">II", 13, (1 << 24) + 9) + bytes(9),
        pack(">II", 4, 2 << 24),
        lengthen(binary("TA")),
        route()[:-1],
        route() + b"\0",
        b"\0\0\0\x04\0\0\0\0" * 2,
        pack(">II", 4, 5) + bytes(8),
        pack(">iI", -5, 5) + bytes(8),
        pack(">II", 1 << 24, 5) + bytes(8),
    ],
)
def test_other_requests_are_left_alone(server: Server, data: bytes) -> None:
    assert answer_fast(server, data) is None
    fast, slow = server.receive(data), answer_slowly(server, data)
    assert fast._replace(close=None, events=()) == slow._replace(close=None, events=())
    assert_same_outcome(fast, slow)


HEADER = b'{"code":105,"extFields":{"topic":"TA"},"flag":0,"opaque":%b,"version":513}'


def frame_of(header: bytes, body: bytes = b"") -> bytes:
    return pack(">II", 4 + len(header) + len(body), len(header)) + header + body


@pytest.mark.parametrize(
    "opaque", [b"007", b"01", b"", b"-1", b"1.0", b"1e3", b"+1", b"null", b'"1"', b"12345678901"]
)
def test_other_opaques_are_left_alone(server: Server, opaque: bytes) -> None:
    assert answer_fast(server, frame_of(HEADER % b"5")) is not None

    data = frame_of(HEADER % opaque)
    for learnt in (server, start_server()):
        assert answer_fast(learnt, data) is None
        assert_same_outcome(learnt.receive(data), answer_slowly(learnt, data))


@pytest.mark.parametrize(
    "header",
    [
        b'{"code":105,"extFields":{"opaque":5,"topic":"TA"},"flag":0,"version":513}',
        b'{"code":105,"extFields":{"topic":"TA"},"opaque":5,"flag":0,"version":513}',
        b'\0"opaque":5,',
    ],
)
def test_learnt_header_knows_its_opaque(server: Server, header: bytes) -> None:
    assert answer_fast(server, frame_of(HEADER % b"7")) is not None
    data = frame_of(header)

    slow = answer_slowly(server, data)
    assert answer_known(server.session, data, server.now) is None
    assert_same_outcome(server.receive(data), slow)


def test_a_request_with_a_body_is_answered_like_one_without(server: Server) -> None:
    data = frame_of(route("TA")[8:], b"x")

    assert answer_fast(server, data) is None
    assert server.receive(data).send == answer_fast(server, route("TA"))


def test_learnt_header_has_no_route(server: Server) -> None:
    assert answer_fast(server, route()) is not None
    server.ask(Code.DELETE_TOPIC_IN_NAMESRV, {"topic": "TA"})

    assert answer_fast(server, route()) is None
    response = server.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"})
    assert response.code == ResponseCode.TOPIC_NOT_EXIST
    server.register(topics=("TA", "TB"))
    answer = require(answer_fast(server, route()))
    server.ask(Code.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b1"})
    assert answer != answer_fast(server, route())


@pytest.mark.parametrize(
    "config",
    [
        Config(order_message_enable=True),
        Config(need_wait_for_service=True),
        Config(serialize_type=SerializeType.ROCKETMQ),
    ],
)
def test_settings_turn_the_fast_path_off(config: Config) -> None:
    server = Server(config, started=999.0)
    server.receive(request(Code.REGISTER_BROKER, identity(), registration_body(("TA", "TB"))))

    assert answer_fast(server, route()) is None
    server.now += 46
    assert (answer_fast(server, route()) is not None) == config.need_wait_for_service


def test_update_turns_the_fast_path_off_and_on(server: Server) -> None:
    config = server.state.config
    for changed, expected in (
        (config, True),
        (config.update({"orderMessageEnable": "true"}), False),
        (config.update({"needWaitForService": "true"}), False),
        (config, True),
    ):
        server.state.started = server.now
        server.state.configure(changed)

        assert (answer_fast(server, route()) is not None) == expected
        assert (answer_known(server.session, route(), server.now) is not None) == expected


def test_shutdown_turns_the_fast_path_off(server: Server) -> None:
    server.state.shutting_down = True

    assert answer_fast(server, route()) is None


def test_fast_route_has_an_acting_master() -> None:
    server = Server(Config(support_acting_master=True))
    server.register("a:1", 1, enableActingMaster="true")
    answer = require(answer_fast(server, route()))

    assert answer == answer_slowly(server, route()).send
    assert b'{"0":"a:1"}' in answer


def test_what_is_learnt_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route_fast_path, "MAX_HEADERS", 2)
    server = start_server()
    learnt: dict[bytes, dict[bytes, object]] = vars(server.state.route_fast_path)["_headers"]
    for version in range(400, 405):
        for topic in ("TA", "TB"):
            assert answer_fast(server, route(topic, version=version)) is not None
            assert answer_fast(server, binary(topic, version)) is not None

            assert 1 <= sum(map(len, learnt.values())) <= 2


def test_many_answers_come_in_rounds() -> None:
    server = start_server(Config(max_unsent_bytes=1000))
    data = b"".join(route(opaque=opaque) for opaque in range(20))
    outcome = server.session.receive(data, server.now)
    assert server.session.busy
    assert not server.session.stepping
    sent, rounds = outcome.send, 0
    while server.session.busy:
        outcome = server.session.proceed(server.now)
        assert len(outcome.send) < 2000
        sent += outcome.send
        rounds += 1

    assert [reply.header["opaque"] for reply in replies(sent)] == list(range(20))
    assert rounds > 2


HEADERS = st.fixed_dictionaries(
    {"code": st.sampled_from([105, 105, 105, 106, 9999])},
    optional={
        "flag": st.sampled_from([0, 0, 0, 1, 2, 4]),
        "language": st.sampled_from(["JAVA", "CPP", "x", None]),
        "opaque": st.one_of(st.integers(0, 30), st.integers(-(1 << 33), 1 << 33), st.just("5")),
        "remark": st.sampled_from([None, "r"]),
        "version": st.sampled_from([0, 400, 401, 513]),
        "extFields": st.one_of(
            st.none(),
            st.dictionaries(
                st.sampled_from(
                    ["topic"] * 2 + ["acceptStandardJsonOnly", "__ZONE_NAME", "opaque"]
                ),
                st.sampled_from(["TA", "TB", "TC", "TX", "true", '"opaque":3,']),
            ),
        ),
    },
)
SHARED = start_server()


@given(
    st.lists(st.tuples(HEADERS, st.booleans(), st.binary(max_size=3)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2),
)
def test_requests_have_the_general_outcome(
    commands: list[tuple[dict[str, Any], bool, bytes]], changes: list[tuple[int, int]]
) -> None:
    data = bytearray()
    for header, tight, body in commands:
        text = json.dumps(header, separators=(",", ":") if tight else None).encode()
        data += frame_of(text, body)
    for place, byte in changes:
        data[place % len(data)] = byte
    quick, slow = SHARED.connect(), SHARED.connect()
    answer = answer_known(quick, bytes(data), SHARED.now)
    answers = quick.answer_routes(bytes(data), SHARED.now)
    quick_outcome = SHARED.receive(bytes(data), quick)
    SHARED.state.config = Config(order_message_enable=True)  # turns the fast path off
    slow_outcome = SHARED.receive(bytes(data), slow)
    SHARED.state.config = Config()

    assert answers in (None, slow_outcome.send)
    assert answer in (None, answers)
    assert_same_outcome(quick_outcome, slow_outcome)
    assert quick.frame_started == slow.frame_started

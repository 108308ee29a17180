"""The fast path of a route request gives the same response as the general one, or none."""

from __future__ import annotations

import json
from struct import pack, unpack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol import route_fast_path
from rocketwire_namesrv.protocol.session import Effects, Session
from tests.support.fakes.sansio_server import Server, registration_body, replies, request


def serving(config: Config | None = None) -> Server:
    server = Server(config)
    mapping = {"bname": "b1", "currIdMap": {"0": 0}, "epoch": 1, "totalQueues": 1}
    server.register(topics=("TA", "TB", "TC"), mappings={"TC": mapping}, __ZONE_NAME="z1")
    return server


@pytest.fixture
def server() -> Server:
    return serving()


def route(topic: str | None = "TA", opaque: int = 7, **more: Any) -> bytes:
    ext = more.pop("ext", {}) if topic is None else {"topic": topic, **more.pop("ext", {})}
    return request(105, ext, opaque=opaque, **more)


def binary(topic: str, opaque: int = 7, *, code: int = 105, flag: int = 0, more: str = "") -> bytes:
    return encode(
        RemotingCommand(
            code=code,
            opaque=opaque,
            flag=flag,
            ext_fields={"topic": topic, "x": more},
            serialize_type=SerializeType.ROCKETMQ,
        )
    )


def longer(frame: bytes) -> bytes:
    """The same with a byte after the entries of a binary header."""
    length, header = unpack(">II", frame[:8])
    return pack(">II", length + 1, header + 1) + frame[8:] + b"x"


def registration(*topics: str) -> bytes:
    fields = {"brokerAddr": "a:1", "brokerId": "0", "brokerName": "b1", "clusterName": "C"}
    return request(103, fields, registration_body(topics))


def short(server: Server, data: bytes) -> bytes | None:
    return server.session.answer_routes(data, server.now)


def shortest(session: Session, data: bytes, now: float) -> bytes | None:
    """The way of a request that is known, if it is one."""
    answered = session.answer_one_route(data, now)
    if answered is None:
        return None
    size, parts = answered
    answer = b"".join(parts)
    assert len(answer) == size
    return answer


def never(now: float) -> bool:
    return False


def general(server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch) -> Effects:
    with monkeypatch.context() as patch:
        patch.setattr(server.state, "can_use_fast_path", never)
        return server.receive(data, server.connect())


@pytest.mark.parametrize("topic", ["TA", "TB", "TC"])
@pytest.mark.parametrize("version", [0, 513])
def test_fast_path_of_binary_requests(
    server: Server, topic: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for opaque in (0, 1, -1, 7, 7, 2**31 - 1, -(2**31)):
        data = binary(topic, opaque)
        data = data[:11] + pack(">h", version) + data[13:]
        assert short(server, data + data) == general(server, data + data, monkeypatch).send


@pytest.mark.parametrize("version", [0, 513])
def test_similar_request_is_answered_from_its_header(server: Server, version: int) -> None:
    session = server.session
    assert shortest(session, route("TA", 5, version=version), server.now) is None
    for opaque in (5, 1, 123456789):
        data = route("TA", opaque, version=version)
        answer = short(server, data)
        routes = server.state.counters.routes
        assert shortest(session, data, server.now) == answer is not None
        assert server.state.counters.routes == routes + 1
        assert shortest(session, data + data, server.now) is None
        assert shortest(session, data[:-1], server.now) is None
        assert shortest(session, data[:8], server.now) is None
    for other in (0, -1, 1234567890):
        assert shortest(session, route("TA", other, version=version), server.now) is None
    session.receive(data[:9], server.now)

    assert shortest(session, data, server.now) is None


def test_cached_answer_fits_a_frame(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = short(server, route("TA"))
    assert answer is not None
    for spare, expected in ((0, answer), (-1, None)):
        monkeypatch.setattr(route_fast_path, "MAX_FRAME_LENGTH", len(answer) + spare)

        assert shortest(server.session, route("TA"), server.now) == expected


@pytest.mark.parametrize(
    "data",
    [
        route("unknown"),
        route(None),
        route("TA", -1),
        route("TA", 1234567890),
        route("TA", flag=1),
        route("TA", flag=2),
        route("TA", ext={"__ZONE_NAME": "z1", "__ZONE_MODE": "true"}),
        route("TA", ext={"x": "y" * 600}),
        request(106, {"topic": "TA"}),
        request(105),
        binary("unknown"),
        binary("TA", code=106),
        binary("TA", flag=2),
        binary("TA", more="y" * 600),
        binary("TA")[:-1],
        pack(">II", 4, 1 << 24),
        pack(">II", 14, (1 << 24) + 10) + bytes(10),
        pack(">II", 13, (1 << 24) + 9) + bytes(9),
        pack(">II", 4, 2 << 24),
        longer(binary("TA")),
        route()[:-1],
        route() + b"\0",
        b"\0\0\0\x04\0\0\0\0" * 2,
        pack(">II", 4, 5) + bytes(8),
        pack(">iI", -5, 5) + bytes(8),
        pack(">II", 1 << 24, 5) + bytes(8),
    ],
)
def test_other_requests_are_left_alone(
    server: Server, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert short(server, data) is None
    mine, its = server.receive(data), general(server, data, monkeypatch)
    assert mine._replace(close=None, events=()) == its._replace(close=None, events=())
    assert (str(mine.close), len(mine.events)) == (str(its.close), len(its.events))


def frame_of(header: bytes) -> bytes:
    return pack(">II", 4 + len(header), len(header)) + header


@pytest.mark.parametrize(
    "opaque", [b"007", b"01", b"", b"-1", b"1.0", b"1e3", b"+1", b"null", b'"1"', b"12345678901"]
)
def test_other_opaques_are_left_alone(
    server: Server, opaque: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = b'{"code":105,"extFields":{"topic":"TA"},"flag":0,"opaque":%b,"version":513}'
    assert short(server, frame_of(pattern % b"5")) is not None

    for learnt in (server, serving()):
        data = frame_of(pattern % opaque)
        assert short(learnt, data) is None
        mine, its = learnt.receive(data), general(learnt, data, monkeypatch)
        assert (mine.send, str(mine.close)) == (its.send, str(its.close))


@pytest.mark.parametrize(
    "header",
    [
        b'{"code":105,"extFields":{"opaque":5,"topic":"TA"},"flag":0,"version":513}',
        b'{"code":105,"extFields":{"topic":"TA"},"opaque":5,"flag":0,"version":513}',
        b'\0"opaque":5,',
    ],
)
def test_learnt_header_knows_its_opaque(
    server: Server, header: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = b'{"code":105,"extFields":{"topic":"TA"},"flag":0,"opaque":7,"version":513}'
    assert short(server, frame_of(pattern)) is not None
    data = frame_of(header)
    expected = general(server, data, monkeypatch)

    assert shortest(server.session, data, server.now) is None
    mine = server.receive(data)
    assert (mine.send, str(mine.close)) == (expected.send, str(expected.close))


def test_a_request_with_a_body_is_answered_like_one_without(server: Server) -> None:
    header = route("TA")[8:]
    data = pack(">II", 5 + len(header), len(header)) + header + b"x"

    assert short(server, data) is None
    assert server.receive(data).send == short(server, route("TA"))


def test_learnt_header_has_no_route(server: Server) -> None:
    assert short(server, route()) is not None
    server.ask(216, {"topic": "TA"})

    assert short(server, route()) is None
    assert server.ask(105, {"topic": "TA"}).code == 17
    server.register(topics=("TA", "TB"))
    before = short(server, route())
    server.ask(205, {"brokerName": "b1"})
    assert before is not None
    assert before != short(server, route())


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
    server.receive(registration("TA", "TB"))

    assert short(server, route()) is None
    server.now += 46
    waited = config.need_wait_for_service
    assert (short(server, route()) is not None) == waited


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

        assert (short(server, route()) is not None) == expected
        assert (shortest(server.session, route(), server.now) is not None) == expected


def test_shutdown_turns_the_fast_path_off(server: Server) -> None:
    server.state.shutting_down = True

    assert short(server, route()) is None


def test_fast_route_has_an_acting_master(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(Config(support_acting_master=True))
    server.register("a:1", 1, enableActingMaster="true")
    answer = short(server, route())

    assert answer == general(server, route(), monkeypatch).send
    assert b'{"0":"a:1"}' in (answer or b"")


def test_what_is_learnt_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route_fast_path, "MAX_HEADERS", 2)
    server = serving()
    learnt: dict[bytes, dict[bytes, object]] = vars(server.state.route_fast_path)["_headers"]
    for version in range(400, 405):
        for topic in ("TA", "TB"):
            assert short(server, route(topic, version=version)) is not None
            assert short(server, binary(topic, version)) is not None

            assert 1 <= sum(map(len, learnt.values())) <= 2


def test_answer_beyond_a_frame_is_not_fast(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route_fast_path, "MAX_FRAME_LENGTH", 100)

    assert short(server, route()) is None


def test_many_answers_come_in_rounds() -> None:
    server = serving(Config(max_unsent_bytes=1000))
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
                    ["topic", "topic", "acceptStandardJsonOnly", "__ZONE_NAME", "opaque"]
                ),
                st.sampled_from(["TA", "TB", "TC", "TX", "true", '"opaque":3,']),
            ),
        ),
    },
)
SHARED = serving()


@given(
    st.lists(st.tuples(HEADERS, st.booleans(), st.binary(max_size=3)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2),
)
def test_any_requests_have_the_general_outcome(
    commands: list[tuple[dict[str, Any], bool, bytes]], changes: list[tuple[int, int]]
) -> None:
    data = bytearray()
    for header, tight, body in commands:
        text = json.dumps(header, separators=(",", ":") if tight else None).encode()
        data += pack(">II", 4 + len(text) + len(body), len(text)) + text + body
    for at, byte in changes:
        data[at % len(data)] = byte
    quick, slow = SHARED.connect(), SHARED.connect()
    answer = shortest(quick, bytes(data), SHARED.now)
    answers = quick.answer_routes(bytes(data), SHARED.now)
    mine = SHARED.receive(bytes(data), quick)
    SHARED.state.config = Config(order_message_enable=True)  # no order is known: the same answers
    its = SHARED.receive(bytes(data), slow)
    SHARED.state.config = Config()

    assert answers in (None, its.send)
    assert answer in (None, answers)
    assert (mine.send, str(mine.close), mine.commands) == (its.send, str(its.close), its.commands)
    assert len(mine.events) == len(its.events)
    assert isinstance(quick, Session)
    assert quick.frame_started == slow.frame_started

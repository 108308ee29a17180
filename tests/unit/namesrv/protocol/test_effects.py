"""Requests beyond a limit of a connection wait, and the log has one line for each connection."""

from rocketwire.codes import RequestCode as Code
from rocketwire.connection.guards import Guard
from rocketwire.serving.events import Event, ExceededAgain, LimitExceeded
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.protocol.effects import EffectsBuilder
from tests.support.fakes.sansio_server import Server, replies, request

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


def test_unsaved_answers_are_replaced() -> None:
    work = EffectsBuilder()
    assert work.frames_if_unsaved() == b""
    work.send = [b"a", b"b", b"c"]
    work.unsaved[1] = b"not saved"

    assert work.frames_if_unsaved() == b"anot savedc"

"""Limits of frames and of what connections hold, and when others get their turn."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire_namesrv.config.config import Config
from tests.support.fakes.sansio_server import Server, identity, registration_body, replies, request

TOPICS = registration_body(tuple(f"T{number}" for number in range(100)))
BIG = request(Code.REGISTER_BROKER, identity(), TOPICS)


def test_requests_that_are_not_whole_are_accounted_for(server: Server) -> None:
    holdings = server.state.holdings
    server.session.receive(BIG[:5000], server.now)
    assert holdings.total == 5000
    server.session.receive(BIG[5000:6000], server.now)
    assert holdings.total == 6000
    server.session.receive(BIG[6000:], server.now)
    assert len(BIG) - 500 < holdings.total < len(BIG)  # it takes several steps
    while server.session.busy:
        server.session.proceed(server.now)

    assert (holdings.total, len(holdings)) == (0, 0)


@pytest.mark.parametrize("data", [BIG[:5000], BIG])
def test_a_connection_that_is_lost_holds_nothing(server: Server, data: bytes) -> None:
    server.session.receive(data, server.now)
    server.session.connection_lost(server.now, "closed")

    assert (server.state.holdings.total, len(server.state.holdings)) == (0, 0)


def count_answers(server: Server, data: bytes) -> list[int]:
    session = server.session
    counts = [len(replies(session.receive(data, server.now).send))]
    while session.busy:
        counts.append(len(replies(session.proceed(server.now).send)))
    return counts


def test_without_limits_all_is_answered_at_once() -> None:
    server = Server(Config(max_requests_in_flight=0, max_unsent_bytes=0, header_max_length=0))

    assert count_answers(server, request(Code.GET_BROKER_CLUSTER_INFO) * 1000) == [1000]

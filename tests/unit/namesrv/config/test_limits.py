"""Limits of frames and of what connections hold, and when others get their turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_namesrv.config.config import Config
from tests.support.fakes.sansio_server import Server, registration_body, replies, request

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.session import Effects, Session

FIELDS = {"brokerAddr": "10.0.0.1:10911", "brokerId": "0", "brokerName": "b1", "clusterName": "C"}
BIG = request(103, FIELDS, registration_body(tuple(f"T{number}" for number in range(100))))


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


@pytest.mark.parametrize("begun", [BIG[:5000], BIG])
def test_a_connection_that_is_lost_holds_nothing(server: Server, begun: bytes) -> None:
    server.session.receive(begun, server.now)
    server.session.connection_lost(server.now, "closed")

    assert (server.state.holdings.total, len(server.state.holdings)) == (0, 0)


def rounds(session: Session, outcome: Effects, now: float) -> list[int]:
    """How many answers came in each round."""
    counts = [len(replies(outcome.send))]
    while session.busy:
        counts.append(len(replies(session.proceed(now).send)))
    return counts


def test_after_a_look_at_the_whole_table_others_have_their_turn(server: Server) -> None:
    requests = request(205, {"brokerName": "b"}) * 3 + request(106)
    outcome = server.session.receive(requests, server.now)
    assert rounds(server.session, outcome, server.now) == [1, 1, 1, 1]
    server.session.receive(request(205, {"brokerName": "b"}), server.now)

    assert not server.session.busy


def test_without_limits_all_is_answered_at_once() -> None:
    server = Server(Config(max_requests_in_flight=0, max_unsent_bytes=0, header_max_length=0))
    outcome = server.session.receive(request(106) * 1000, server.now)

    assert rounds(server.session, outcome, server.now) == [1000]

"""Counts of requests, by sessions and by the fast path of routes."""

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_namesrv.protocol.counters import (
    UNKNOWN,
    Counters,
    RequestKind,
)
from tests.support.fakes.sansio_server import Server, request

ROUTE = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)
REGISTER = int(RequestCode.REGISTER_BROKER)
CLUSTERS = int(RequestCode.GET_BROKER_CLUSTER_INFO)
FOUND = RequestKind(ROUTE, 0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.010
        return self.now


@pytest.mark.parametrize("is_fast", [True, False])
def test_bytes_are_counted_on_either_path(server: Server, is_fast: bool) -> None:
    server.register()
    counters = server.state.counters
    first_sent = counters.all_sent()
    data = request(ROUTE, {"topic": "TA"}) * 3
    if is_fast:
        sent = server.session.answer_routes(data, server.now)
    else:
        server.state.config = server.state.config.update({"orderMessageEnable": "true"})
        sent = server.receive(data).send

    assert sent is not None
    assert counters.all_sent()[ROUTE] == len(sent)
    assert first_sent[REGISTER] == counters.sent[REGISTER] > 0
    assert counters.receive_filled[REGISTER] > 0
    assert counters.routes == (3 if is_fast else 0)


def test_request_that_leaves_the_fast_path_counts_once(server: Server) -> None:
    server.register()
    data = request(ROUTE, {"topic": "TA"}) + request(CLUSTERS)

    assert server.session.answer_routes(data, server.now) is None
    server.receive(data)

    assert server.state.counters.all_requests()[FOUND] == 1


def test_a_batch_of_routes_that_is_timed_stands_for_all_since_the_last_one() -> None:
    counters = Counters()
    counters.clock = Clock()

    def work(routes: int) -> int:
        counters.routes += routes
        return routes

    work(98)
    assert counters.time_call(work, 2) == 2
    histogram = counters.durations[FOUND]
    assert (100, 500.0) == pytest.approx((sum(histogram.counts), histogram.total_ms))

    counters.time_call(work, 10)
    assert (110, 510.0) == pytest.approx((sum(histogram.counts), histogram.total_ms))


def test_mixed_batch_has_no_duration_of_routes() -> None:
    counters = Counters()
    counters.clock = Clock()

    def count_kinds() -> None:
        counters.routes += 1
        counters.count_answer(RequestKind(CLUSTERS, 0), 0, 1, counters.begin())

    counters.time_call(count_kinds)
    counters.time_call(lambda: None)

    assert list(counters.durations) == [RequestKind(CLUSTERS, 0)]


def test_unknown_codes_are_counted_together(server: Server) -> None:
    for code in range(40_000, 40_100):
        server.ask(code)

    assert server.state.counters.requests == {
        RequestKind(UNKNOWN, int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)): 100
    }

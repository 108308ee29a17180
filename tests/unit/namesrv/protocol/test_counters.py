"""Counts of requests, by sessions and by the fast path of routes."""

from __future__ import annotations

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire_namesrv.protocol.counters import (
    BUCKETS_MS,
    ONEWAY,
    UNKNOWN,
    Counters,
    Histogram,
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


def test_every_request_is_counted_once_with_the_code_of_its_answer(server: Server) -> None:
    server.register()
    server.ask(ROUTE, {"topic": "TA"})
    server.ask(ROUTE, {"topic": "nowhere"})
    server.receive(request(CLUSTERS, flag=2))
    server.receive(request(ROUTE, {"topic": "TA"}) * 2 + request(CLUSTERS))

    assert server.state.counters.all_requests() == {
        RequestKind(REGISTER, 0): 1,
        FOUND: 3,
        RequestKind(ROUTE, int(ResponseCode.TOPIC_NOT_EXIST)): 1,
        RequestKind(CLUSTERS, ONEWAY): 1,
        RequestKind(CLUSTERS, 0): 1,
    }


def test_codes_that_nobody_handles_are_counted_together(server: Server) -> None:
    for code in range(40_000, 40_100):
        server.ask(code)

    assert server.state.counters.requests == {
        RequestKind(UNKNOWN, int(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)): 100
    }


@pytest.mark.parametrize("short", [True, False])
def test_bytes_are_counted_on_either_way(server: Server, short: bool) -> None:
    server.register()
    counters = server.state.counters
    before = counters.all_sent()
    data = request(ROUTE, {"topic": "TA"}) * 3
    if short:
        sent = server.session.answer_routes(data, server.now)
    else:
        server.state.config = server.state.config.update({"orderMessageEnable": "true"})
        sent = server.receive(data).send

    assert sent is not None
    assert counters.all_sent()[ROUTE] == len(sent)
    assert before[REGISTER] == counters.sent[REGISTER] > 0
    assert counters.receive_filled[REGISTER] > 0
    assert counters.routes == (3 if short else 0)


def test_bytes_that_the_short_way_gives_up_on_are_counted_once(server: Server) -> None:
    server.register()
    data = request(ROUTE, {"topic": "TA"}) + request(CLUSTERS)

    assert server.session.answer_routes(data, server.now) is None
    server.receive(data)

    assert server.state.counters.all_requests()[FOUND] == 1


def test_durations_are_of_interest_only_with_a_clock(server: Server) -> None:
    server.ask(CLUSTERS)
    assert server.state.counters.durations == {}

    server.state.counters.clock = Clock()
    server.ask(CLUSTERS)
    histogram = server.state.counters.durations[RequestKind(CLUSTERS, 0)]

    assert (1, 10.0) == pytest.approx((sum(histogram.counts), histogram.total_ms))


def test_a_duration_is_counted_in_the_first_class_that_holds_it() -> None:
    histogram = Histogram()
    for seconds in (0.0, 0.00001, 0.0031, 3.1):
        histogram.add(seconds)

    result = dict(zip((*BUCKETS_MS, None), histogram.counts, strict=True))
    assert {bound: count for bound, count in result.items() if count} == {0.01: 2, 5.0: 1, None: 1}


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


def test_a_batch_without_routes_or_with_others_says_nothing_of_routes() -> None:
    counters = Counters()
    counters.clock = Clock()

    def count_kinds() -> None:
        counters.routes += 1
        counters.count_answer(RequestKind(CLUSTERS, 0), 0, 1, counters.begin())

    counters.time_call(count_kinds)
    counters.time_call(lambda: None)

    assert list(counters.durations) == [RequestKind(CLUSTERS, 0)]


def test_without_a_clock_nothing_is_timed() -> None:
    counters = Counters()

    def work() -> str:
        counters.routes += 1
        return "done"

    assert counters.time_call(work) == "done"
    assert counters.durations == {}


def test_nothing_that_was_not_asked_is_counted() -> None:
    assert (Counters().all_requests(), Counters().all_sent()) == ({}, {})

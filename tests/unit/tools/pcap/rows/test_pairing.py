"""Requests and the responses that answer them."""

from __future__ import annotations

import numpy as np
import pytest

from rocketwire_tools.pcap.rows.pairing import EARLY_NS, Paired, Pairing
from rocketwire_tools.spark import correlation

CLIENT, SERVER = 2, 3
REQUEST, RESPONSE, ONEWAY = 0, 1, 2
Frame = tuple[int, int, int, int, str | None]
"""Stream, opaque, flag, time, topic."""
BOTH_WAYS: list[Frame] = [
    (CLIENT, 7, REQUEST, 100, "asked"),
    (SERVER, 7, REQUEST, 110, "called back"),
    (CLIENT, 7, RESPONSE, 150, None),
    (SERVER, 7, RESPONSE, 190, None),
]


def pair(pairing: Pairing, frames: list[Frame]) -> Paired:
    number, opaque, flag, time_ns, topic = zip(*frames, strict=True)
    return pairing.pair(
        np.array(number), np.array(opaque), np.array(flag), np.array(number) * 100,
        np.array(time_ns), np.array(topic, np.object_),
    )  # fmt: skip


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_both_ends_may_ask_with_the_same_number(parts: int) -> None:
    pairing = Pairing()
    size = len(BOTH_WAYS) // parts
    found = [pair(pairing, BOTH_WAYS[at : at + size]) for at in range(0, len(BOTH_WAYS), size)]
    topics = [topic for one in found for topic in one.topic.tolist()]
    codes = [code for one in found for code in one.code.tolist()]
    assert [None, None, "called back", "asked"] == topics
    assert [0, 0, 300, 200] == codes
    assert [0, 0, 40, 90] == [latency for one in found for latency in one.latency_ns.tolist()]


def test_a_response_finds_its_request_in_a_later_chunk() -> None:
    pairing = Pairing()
    first = pair(pairing, [(SERVER, 1, RESPONSE, 90, None), (SERVER, 2, RESPONSE, 95, None)])
    assert not first.is_paired.any()
    assert 95 + EARLY_NS == first.until
    # one was captured after its answer; only the last segment of the other was captured
    second = pair(pairing, [(CLIENT, 1, REQUEST, 100, "late"), (CLIENT, 2, REQUEST, 80, "slow")])
    assert ["late", "slow"] == first.topic.tolist()
    assert [-10, 15] == first.latency_ns.tolist()
    assert (0, 0, 0) == (pairing.waiting, pairing.unanswered, second.until)


def test_response_finds_its_request_right_behind_it() -> None:
    pairing = Pairing()
    pairs = pair(pairing, [(SERVER, 1, RESPONSE, 90, None), (CLIENT, 1, REQUEST, 100, "late")])
    assert ["late", None] == pairs.topic.tolist()
    assert (0, 0) == (pairing.waiting, pairing.unanswered)


def test_response_does_not_wait_for_a_request_for_ever() -> None:
    pairing = Pairing()
    first = pair(pairing, [(SERVER, 1, RESPONSE, 90, None)])
    pair(pairing, [(CLIENT, 1, REQUEST, 90 + EARLY_NS, None)])
    assert not first.is_paired.any()
    assert pairing.now >= first.until
    assert 1 == pairing.waiting


@pytest.mark.parametrize("parts", [1, 2])
def test_request_that_has_an_answer_behind_it_is_not_that_of_one_before(parts: int) -> None:
    frames: list[Frame] = [
        (SERVER, 1, RESPONSE, 90, None),
        (CLIENT, 1, REQUEST, 100, "asked"),
        (SERVER, 1, RESPONSE, 110, None),
    ]
    pairing = Pairing()
    found = [pair(pairing, each) for each in (frames[: parts - 1], frames[parts - 1 :]) if each]
    assert [None, None, "asked"] == [topic for one in found for topic in one.topic.tolist()]


@pytest.mark.parametrize("parts", [1, 3])
def test_of_two_requests_with_one_number_the_second_is_answered(parts: int) -> None:
    frames: list[Frame] = [
        (CLIENT, 1, REQUEST, 1, "forgotten"),
        (CLIENT, 1, REQUEST, 2, "answered"),
        (SERVER, 1, RESPONSE, 3, None),
        (SERVER, 1, RESPONSE, EARLY_NS, None),
    ]
    pairing = Pairing()
    found = [pair(pairing, [frame]) for frame in frames] if parts > 1 else [pair(pairing, frames)]
    assert [None, None, "answered", None] == [
        topic for one in found for topic in one.topic.tolist()
    ]
    assert (1, 0) == (pairing.unanswered, pairing.waiting)


def test_who_wants_no_topics_gets_none() -> None:
    column = np.array([CLIENT, SERVER]), np.array([5, 5]), np.array([REQUEST, RESPONSE])
    found = Pairing().pair(*column, np.array([10, 0]), np.array([1, 2]))
    assert [None, None] == found.topic.tolist()
    assert [False, True] == found.is_paired.tolist()


def test_spark_waits_as_long() -> None:
    assert correlation.EARLY_NS == EARLY_NS


def test_oneway_requests_wait_for_nothing() -> None:
    pairing = Pairing()
    found = pair(pairing, [(CLIENT, 1, ONEWAY, 1, "x"), (SERVER, 1, RESPONSE, 2, None)])
    assert not found.is_paired.any()
    assert 0 == pairing.waiting


def test_the_oldest_requests_are_forgotten() -> None:
    pairing = Pairing(2)
    pair(pairing, [(CLIENT, opaque, REQUEST, opaque, None) for opaque in range(5)])
    assert (2, 3) == (pairing.waiting, pairing.unanswered)
    found = pair(pairing, [(SERVER, opaque, RESPONSE, 10, None) for opaque in range(5)])
    assert [False, False, False, True, True] == found.is_paired.tolist()

"""Requests and the responses that answer them."""

from __future__ import annotations

import numpy as np
import pytest

from rocketwire_tools.pcap.pairing import Paired, Pairing

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


def test_a_response_captured_before_its_request_has_the_topic_too() -> None:
    found = pair(Pairing(), [(SERVER, 1, RESPONSE, 90, None), (CLIENT, 1, REQUEST, 100, "late")])
    assert ["late", None] == found.topic.tolist()
    assert [-10, 0] == found.latency_ns.tolist()


def test_who_wants_no_topics_gets_none() -> None:
    column = np.array([CLIENT, SERVER]), np.array([5, 5]), np.array([REQUEST, RESPONSE])
    found = Pairing().pair(*column, np.array([10, 0]), np.array([1, 2]))
    assert [None, None] == found.topic.tolist()
    assert [False, True] == found.found.tolist()


def test_oneway_requests_wait_for_nothing() -> None:
    pairing = Pairing()
    found = pair(pairing, [(CLIENT, 1, ONEWAY, 1, "x"), (SERVER, 1, RESPONSE, 2, None)])
    assert not found.found.any()
    assert 0 == pairing.waiting


def test_the_oldest_requests_are_forgotten() -> None:
    pairing = Pairing(2)
    pair(pairing, [(CLIENT, opaque, REQUEST, opaque, None) for opaque in range(5)])
    assert (2, 3) == (pairing.waiting, pairing.unanswered)
    found = pair(pairing, [(SERVER, opaque, RESPONSE, 10, None) for opaque in range(5)])
    assert [False, False, False, True, True] == found.found.tolist()

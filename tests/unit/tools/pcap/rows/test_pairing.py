"""Requests and the responses that answer them."""

from typing import Any

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


def pair_in_parts(pairing: Pairing, *parts: list[Frame]) -> list[tuple[Any, ...]]:
    """Topic, code and latency of the request of each frame."""
    rows: list[tuple[Any, ...]] = []
    for pairs in [pair(pairing, part) for part in parts if part]:
        columns = (pairs.topic, pairs.code, pairs.latency_ns)
        rows += zip(*(column.tolist() for column in columns), strict=True)
    return rows


@pytest.mark.parametrize("size", [1, 2, 4])
def test_both_ends_may_use_the_same_number(size: int) -> None:
    parts = [BOTH_WAYS[start : start + size] for start in range(0, len(BOTH_WAYS), size)]
    rows = pair_in_parts(Pairing(), *parts)

    assert rows == [(None, 0, 0), (None, 0, 0), ("called back", 300, 40), ("asked", 200, 90)]


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


def test_response_finds_the_request_right_after_it() -> None:
    pairing = Pairing()
    pairs = pair(pairing, [(SERVER, 1, RESPONSE, 90, None), (CLIENT, 1, REQUEST, 100, "late")])
    assert ["late", None] == pairs.topic.tolist()
    assert (0, 0) == (pairing.waiting, pairing.unanswered)


def test_response_waits_for_a_request_for_a_limited_time() -> None:
    pairing = Pairing()
    first = pair(pairing, [(SERVER, 1, RESPONSE, 90, None)])
    pair(pairing, [(CLIENT, 1, REQUEST, 90 + EARLY_NS, None)])
    assert not first.is_paired.any()
    assert pairing.now >= first.until
    assert 1 == pairing.waiting


@pytest.mark.parametrize("size", [0, 1])
def test_request_with_a_later_answer_has_no_earlier_one(size: int) -> None:
    frames: list[Frame] = [
        (SERVER, 1, RESPONSE, 90, None),
        (CLIENT, 1, REQUEST, 100, "asked"),
        (SERVER, 1, RESPONSE, 110, None),
    ]
    rows = pair_in_parts(Pairing(), frames[:size], frames[size:])
    assert [topic for topic, *_ in rows] == [None, None, "asked"]


@pytest.mark.parametrize("is_in_parts", [False, True])
def test_second_of_two_requests_with_one_number_is_answered(is_in_parts: bool) -> None:
    frames: list[Frame] = [
        (CLIENT, 1, REQUEST, 1, "forgotten"),
        (CLIENT, 1, REQUEST, 2, "answered"),
        (SERVER, 1, RESPONSE, 3, None),
        (SERVER, 1, RESPONSE, EARLY_NS, None),
    ]
    pairing = Pairing()
    rows = pair_in_parts(pairing, *([[frame] for frame in frames] if is_in_parts else [frames]))
    assert [topic for topic, *_ in rows] == [None, None, "answered", None]
    assert (1, 0) == (pairing.unanswered, pairing.waiting)


def test_topics_are_paired_only_if_given() -> None:
    column = np.array([CLIENT, SERVER]), np.array([5, 5]), np.array([REQUEST, RESPONSE])
    pairs = Pairing().pair(*column, np.array([10, 0]), np.array([1, 2]))
    assert [None, None] == pairs.topic.tolist()
    assert [False, True] == pairs.is_paired.tolist()


def test_spark_waits_for_the_same_time() -> None:
    assert correlation.EARLY_NS == EARLY_NS


def test_oneway_requests_wait_for_nothing() -> None:
    pairing = Pairing()
    pairs = pair(pairing, [(CLIENT, 1, ONEWAY, 1, "x"), (SERVER, 1, RESPONSE, 2, None)])
    assert not pairs.is_paired.any()
    assert 0 == pairing.waiting


def test_the_oldest_requests_are_forgotten() -> None:
    pairing = Pairing(2)
    pair(pairing, [(CLIENT, opaque, REQUEST, opaque, None) for opaque in range(5)])
    assert (2, 3) == (pairing.waiting, pairing.unanswered)
    pairs = pair(pairing, [(SERVER, opaque, RESPONSE, 10, None) for opaque in range(5)])
    assert [False, False, False, True, True] == pairs.is_paired.tolist()

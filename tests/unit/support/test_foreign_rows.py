"""The comparison of rows with the truth notices each missing, changed and invented row."""

from __future__ import annotations

from typing import Any

from tests.support.foreign.captures import Capture
from tests.support.foreign.rows import PAIRS, differences
from tests.support.foreign.tcp import Truth

REQUEST = Truth(
    "10.0.0.1", 50_000, "10.0.0.2", 10_911, 1_000, 1_000, "request", 11, None, 7, 0, "JAVA", 401,
    None, "orders", "shop", 3, 300, 292, 0, "JSON", None, True, False, certain=False,
    pair_certain=True,
)  # fmt: skip
RESPONSE = REQUEST._replace(
    kind="response", code=0, request_code=11, latency_ns=500, certain=True, pair_certain=False
)
UNPAIRED = RESPONSE._replace(request_code=None, latency_ns=None)
TRUTH = [REQUEST, RESPONSE]


def compare(*rows: Truth, **options: Any) -> tuple[int, int]:
    """Numbers of missing and of invented rows."""
    missing, invented = differences(TRUTH, [row._asdict() for row in rows], **options)
    return missing.total(), invented.total()


def test_a_response_to_an_uncertain_request_may_have_a_pair_or_none() -> None:
    assert (0, 0) == compare(REQUEST, RESPONSE)
    assert (0, 0) == compare(REQUEST, UNPAIRED)
    assert (0, 0) == compare(UNPAIRED)


def test_a_response_to_an_uncertain_request_has_one_row() -> None:
    assert (1, 0) == compare(REQUEST)
    assert (0, 1) == compare(REQUEST, RESPONSE, UNPAIRED)
    assert (0, 1) == compare(RESPONSE, RESPONSE)
    assert (0, 1) == compare(UNPAIRED, UNPAIRED, but=PAIRS)


def test_a_pair_of_another_request_is_a_difference() -> None:
    assert (1, 1) == compare(REQUEST, RESPONSE._replace(request_code=310))


def test_a_frame_whose_pair_alone_is_uncertain_counts_as_a_row() -> None:
    assert (1, 2) == Capture([], TRUTH).frame_counts

"""The cases for brokers: addresses, words and evidence; and our broker meets them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.conformance.broker_cases import ALL
from rocketwire_tools.conformance.model.case import Profile, Severity, VerdictKind
from tests.integration.conformance.broker_runs import our_broker, play_at_ours

if TYPE_CHECKING:
    from trio.testing import MockClock

WORDS = {Severity.MUST: "MUST", Severity.SHOULD: "SHOULD", Severity.NOTE: "MAY"}


def test_an_address_belongs_to_one_case() -> None:
    twice = [address for address, count in Counter(case.id for case in ALL).items() if count > 1]

    assert twice == []
    assert [one.id for one in ALL if not re.fullmatch(r"broker/[a-z0-9]+/[0-9]+", one.id)] == []


def test_a_requirement_is_a_sentence_with_the_word_of_its_severity() -> None:
    wrong = [
        case.requirement
        for case in ALL
        if not re.search(rf"\b{WORDS[case.severity]}\b.*\.$", case.requirement, re.DOTALL)
    ]

    assert wrong == []


def test_the_evidence_names_something_of_javas_and_a_release() -> None:
    wrong = [case.id for case in ALL if not re.search(r"\w+.* @ \d\.\d\.\d", case.evidence)]

    assert wrong == []


def test_a_case_needs_no_started_server() -> None:
    assert [case.id for case in ALL if case.needs_start] == []


@pytest.mark.process  # the limit of CPU time is for tests in one process
async def test_our_broker_meets_every_requirement(jumping_clock: MockClock) -> None:
    async with our_broker() as server:
        played = await play_at_ours(server)

    assert played.bad() == []
    skipped = {one.reason for one in played.verdicts if one.kind is VerdictKind.SKIP}
    assert skipped == {f"not in profile {Profile.JAVA_5_5.value}"}

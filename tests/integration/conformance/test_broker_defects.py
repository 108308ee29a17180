"""The cases for brokers can fail: each seeded defect of our broker is noticed by the case that names it."""

import pytest
from trio.testing import MockClock

from rocketwire_tools.conformance.broker_cases import ALL
from rocketwire_tools.conformance.model.case import VerdictKind
from tests.integration.conformance.broker_defects import DEFECTS, Defect, present
from tests.integration.conformance.broker_runs import our_broker, play_at_ours

CASES = {case.id: case for case in ALL}


@pytest.mark.parametrize("defect", DEFECTS, ids=str)
async def test_a_defect_is_noticed_by_its_case(defect: Defect, jumping_clock: MockClock) -> None:
    case = CASES[f"broker/{defect.case}"]

    with present(defect):
        async with our_broker() as server:
            [verdict] = (await play_at_ours(server, [case], patience=1.0)).verdicts

    assert verdict.kind is VerdictKind.FAIL, verdict.reason


def test_there_are_forty_defects_and_no_two_are_the_same() -> None:
    assert len({(defect.function, defect.line) for defect in DEFECTS}) == len(DEFECTS) >= 40

"""Our broker meets the cases for brokers, none of which needs a start."""

import pytest
from trio.testing import MockClock

from rocketwire_tools.conformance.broker_cases import ALL
from rocketwire_tools.conformance.model.case import Profile, VerdictKind
from tests.integration.conformance.broker_runs import our_broker, play_at_ours


def test_a_case_needs_no_started_server() -> None:
    assert [case.id for case in ALL if case.needs_start] == []


@pytest.mark.process  # the limit of CPU time is for tests in one process
async def test_our_broker_meets_every_requirement(jumping_clock: MockClock) -> None:
    async with our_broker() as server:
        played = await play_at_ours(server)

    assert played.bad() == []
    skipped = {verdict.reason for verdict in played.verdicts if verdict.kind is VerdictKind.SKIP}
    assert skipped == {f"not in profile {Profile.JAVA_5_5.value}"}

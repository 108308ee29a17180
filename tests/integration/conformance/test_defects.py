"""The suite can fail: each seeded defect is noticed by the case that names it, which passes without the defect."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from rocketwire_tools.conformance import broker_cases
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.run.runner import Settings, random_word, run_case
from rocketwire_tools.conformance.run.target import Address, Target
from rocketwire_tools.conformance.run.verdict import Verdict
from tests.integration.conformance.broker_runs import our_broker, play_at_ours
from tests.integration.conformance.defects import BROKER, NAME_SERVER, Defect, present
from tests.support import running_server

CASES = {case.id: case for case in (*ALL, *broker_cases.ALL)}
LIST = "Response(body=state.views.cluster_info())"


async def play(case: Case, folder: Path) -> Verdict:
    config = running_server.settings(allow_config_update=True, kv_config_path="")
    async with running_server.running(config) as site:
        address = Address("127.0.0.1", int(site.server.listening[1]))
        settings = Settings(run=random_word(), destructive=True)
        return await run_case(case, Target(address), settings)


@pytest.mark.parametrize("defect", NAME_SERVER, ids=str)
async def test_a_defect_of_a_name_server_is_noticed_by_its_case(
    defect: Defect, tmp_path: Path, jumping_clock: MockClock
) -> None:
    with present(defect, "rocketwire_namesrv"):
        verdict = await play(CASES[defect.case], tmp_path)

    assert verdict.kind is VerdictKind.FAIL, verdict.reason


@pytest.mark.parametrize("case", sorted({defect.case for defect in NAME_SERVER}))
async def test_a_case_passes_without_a_defect(
    case: str, tmp_path: Path, jumping_clock: MockClock
) -> None:
    verdict = await play(CASES[case], tmp_path)

    assert verdict.kind is VerdictKind.PASS, verdict.reason


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("java.util.ConcurrentModificationException", VerdictKind.PASS),
        ("java.lang.NullPointerException", VerdictKind.FAIL),
    ],
)
async def test_only_a_list_that_another_case_disturbed_is_read_again(
    error: str, expected: VerdictKind, tmp_path: Path, jumping_clock: MockClock
) -> None:
    # Java's name servers answer so if a broker registers while they write the list.
    failure = f"Response(1, '{error}, HashMap.java:1597')"
    first = f"{failure} if vars(state).setdefault('first', request) is request else {LIST}"
    defect = Defect("protocol.handlers:get_broker_cluster_info", LIST, first, "ns/103/1")
    with present(defect, "rocketwire_namesrv"):
        verdict = await play(CASES[defect.case], tmp_path)

    assert verdict.kind is expected, verdict.reason


@pytest.mark.parametrize("defect", BROKER, ids=str)
async def test_a_defect_of_a_broker_is_noticed_by_its_case(
    defect: Defect, jumping_clock: MockClock
) -> None:
    case = CASES[f"broker/{defect.case}"]

    with present(defect, "rocketwire_broker"):
        async with our_broker() as server:
            [verdict] = (await play_at_ours(server, [case], patience=1.0)).verdicts

    assert verdict.kind is VerdictKind.FAIL, verdict.reason


def test_no_two_defects_are_the_same() -> None:
    for defects in (BROKER, NAME_SERVER):
        assert len(set(defects)) == len(defects) >= 40

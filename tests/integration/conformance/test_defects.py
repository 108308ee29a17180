"""The suite can fail: every seeded defect is noticed by the case that names it, and the same case passes without it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import trio

from rocketwire.codes import RequestCode
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.run.runner import Settings, random_word, run_case
from rocketwire_tools.conformance.run.target import Address, Target
from rocketwire_tools.conformance.run.verdict import Verdict
from tests.integration.conformance.defects import DEFECTS as PLAIN
from tests.integration.conformance.proxy import Defect, Memory, run_proxy
from tests.integration.conformance.subtle_defects import FRAMES, STATE
from tests.support.name_servers import OurNameServer

CASES: dict[str, Case] = {case.id: case for case in ALL}
DEFECTS = (*PLAIN, *FRAMES, *STATE)
IMPATIENT = 0.3
"""Of the usual deadlines, where something is expected to be missing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    options = {"rocketwire.allowConfigUpdate": "true"}
    with OurNameServer(tmp_path_factory.mktemp("defects"), options) as running:
        yield Address("127.0.0.1", running.port)


async def play(case: Case, address: Address, patience: float) -> Verdict:
    settings = Settings(patience=patience, run=random_word(), destructive=True)
    return await run_case(case, Target(address), settings)


@pytest.mark.process
@pytest.mark.parametrize(
    "defect",
    [
        pytest.param(
            item, id=item.name, marks=[pytest.mark.full] * ("minute" in CASES[item.case].tags)
        )
        for item in DEFECTS
    ],
)
async def test_a_defect_is_noticed_by_its_case(defect: Defect, server: Address) -> None:
    async with run_proxy(defect, server) as address:
        verdict = await play(CASES[defect.case], address, IMPATIENT)

    assert verdict.kind is VerdictKind.FAIL, verdict.reason


@pytest.mark.process
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("java.util.ConcurrentModificationException", VerdictKind.PASS),
        ("java.lang.NullPointerException", VerdictKind.FAIL),
    ],
)
async def test_only_a_list_that_another_case_disturbed_is_read_again(
    error: str, expected: VerdictKind, server: Address
) -> None:
    # Java's name servers answer so if a broker registers while they write the list.

    def disturb_first(
        request: RemotingCommand, response: RemotingCommand, memory: Memory
    ) -> RemotingCommand:
        if request.code != RequestCode.GET_BROKER_CLUSTER_INFO or memory.kept:
            return response
        failure = replace(response, code=1, remark=f"{error}, HashMap.java:1597", body=None)
        return memory.kept.setdefault("first", failure)

    async with run_proxy(Defect("disturbed", "", answer=disturb_first), server) as address:
        verdict = await play(CASES["ns/103/1"], address, 3.0)

    assert verdict.kind is expected, verdict.reason


@pytest.mark.process
async def test_the_same_cases_pass_without_any_defect(server: Address) -> None:
    harmless = Defect("none", "")
    verdicts: list[Verdict] = []
    async with run_proxy(harmless, server) as address, trio.open_nursery() as nursery:

        async def item(case: str) -> None:
            verdicts.append(await play(CASES[case], address, 3.0))

        for case in {defect.case for defect in DEFECTS}:
            if "minute" not in CASES[case].tags:
                nursery.start_soon(item, case)

    bad = [
        f"{item.case.id}: {item.reason}" for item in verdicts if item.kind is not VerdictKind.PASS
    ]
    assert bad == []


def test_no_two_defects_have_a_name_and_none_needs_a_start() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) >= 100
    assert [defect.case for defect in DEFECTS if CASES[defect.case].needs_start] == []

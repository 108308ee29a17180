"""A live server can be asked again and again: nothing of one run is in the way of the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.conformance.arguments import NUMBERS
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.compare.diff import known_differences
from rocketwire_tools.conformance.model.case import VerdictKind
from rocketwire_tools.conformance.run.runner import Settings, SuiteRun
from rocketwire_tools.conformance.run.target import Address, Target
from tests.support.name_servers import name_server

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire_tools.conformance.run.verdict import Verdict

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.full]


async def details(port: int) -> dict[str, str]:
    """Run the suite as ``rocketwire-conformance HOST:PORT`` does; returns what came of each case, and why."""
    target = Target(Address("127.0.0.1", port))
    settings = Settings(patience=4.0)
    verdicts = await SuiteRun(settings, lambda _: None, target).cases(ALL, NUMBERS)
    return {verdict.case.id: _words(verdict) for verdict in verdicts}


def _words(verdict: Verdict) -> str:
    return f"{verdict.kind.value} {verdict.reason}".strip()


@pytest.mark.parametrize("kind", ["ours", pytest.param("java", marks=pytest.mark.java)])
async def test_two_runs_in_a_row_give_the_same_verdicts(kind: str, tmp_path: Path) -> None:
    with name_server(kind, tmp_path) as server:
        first = await details(server.port)
        second = await details(server.port)

    assert first == second
    passed = [case for case, words in first.items() if words == VerdictKind.PASS.value]
    assert len(passed) > 350
    different = {entry.case for entry in known_differences(["rocketwire"])}
    failed = {case for case, words in first.items() if words.split()[0] not in {"pass", "skip"}}
    assert failed <= (different if kind == "ours" else set())

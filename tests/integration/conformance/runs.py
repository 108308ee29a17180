"""Whole runs of the suite, as the tests of this folder share them: one for each server, all with the same names.

Each run is both the suite's verdict on that server and one side of the comparison with another.
"""

import os
import shlex
import sys
import tempfile
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import trio

from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case, Profile, VerdictKind
from rocketwire_tools.conformance.run.runner import Settings, SuiteRun
from rocketwire_tools.conformance.run.verdict import Verdict
from tests.peers import class_archive
from tests.peers.cache import INTEROP, ROOT
from tests.peers.peers import CURRENT, java, prepare, quick_start

NAMES = "tests0"
"""The word in all names: the same for every server, so that they get the same bytes."""

OURS = shlex.join(
    [
        *("env", f"PYTHONPATH={ROOT}{os.pathsep}{ROOT / 'namesrv'}"),
        *(sys.executable, "-m", "rocketwire_namesrv", "-c", "{config}"),
    ]
)
DRIVERS = ("portable", "reactor")
PROFILES = {"4.9.4": Profile.JAVA_4_9, "5.3.3": Profile.JAVA_5_3, "5.5.0": Profile.JAVA_5_5}


@dataclass(frozen=True, slots=True)
class Played:
    verdicts: Sequence[Verdict]  #: one for each case
    seconds: float  #: how long it took

    def bad(self, but_for: Container[str] = ()) -> list[str]:
        """The cases that did not pass, one line each, with the last of the evidence.

        Args:
            but_for: ids of cases that are left out.
        """
        return [
            f"{verdict.case.id} {verdict.kind.value}: {verdict.reason} <- {[str(x) for x in verdict.exchanges[-2:]]}"
            for verdict in self.verdicts
            if verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}
            and verdict.case.id not in but_for
        ]


def play(settings: Settings, cases: Sequence[Case] = ALL) -> Played:
    async def run() -> Played:
        started = trio.current_time()
        verdicts = await SuiteRun(settings, lambda _: None).cases(cases)
        return Played(verdicts, trio.current_time() - started)

    return trio.run(run)


def ours(driver: str) -> Settings:
    options = (("rocketwire.driver", driver), ("rocketwire.allowConfigUpdate", "true"))
    return Settings(start=OURS, options=options, run=NAMES, patience=10.0)


def javas(folder: Path, version: str = CURRENT) -> Settings:
    log = f"-Drmq.logback.configurationFile={INTEROP / 'conf' / 'quiet-5x.xml'}"
    class_archive.record_broker(version)
    command = java(
        version,
        "org.apache.rocketmq.namesrv.NamesrvStartup",
        *("-c", "{config}"),
        jvm=[*quick_start(version), log, "{jvm}"],
    )
    return Settings(
        start=shlex.join(command),
        home=prepare(folder),
        profile=PROFILES[version],
        run=NAMES,
        patience=4.0,
    )


QUICK = [case for case in ALL if "minute" not in case.tags]


@cache
def ours_played(driver: str, *, quick: bool = False) -> Played:
    # The suite on one of our drivers, or its cases of less than a minute; carried out once.
    return play(ours(driver), QUICK if quick else ALL)


@cache
def java_played(version: str = CURRENT, *, quick: bool = False) -> Played:
    # The suite on a release of Java's, or its quick cases that can share a server; carried out once.
    cases = [case for case in QUICK if not case.needs_start] if quick else ALL
    with tempfile.TemporaryDirectory() as folder:
        return play(javas(Path(folder), version), cases)

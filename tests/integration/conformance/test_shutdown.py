"""Cases that stop the server, on ours, on Java's, and on ours with a defect.

That of a later Java passes if routes are refused once a shutdown has begun, and fails on Java 5.5.0. There is no
release to run it on; the rule is that of the change that was merged after 5.5.1.
"""

import dataclasses
import os
import shlex
import sys
from pathlib import Path

import pytest

from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Profile, VerdictKind
from rocketwire_tools.conformance.run.runner import Settings
from tests.integration.conformance.runs import NAMES, javas, play
from tests.peers.cache import ROOT

pytestmark = pytest.mark.process

CASES = [case for case in ALL if case.id == "goaway/2"]
AS_BEFORE = """
import sys
from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.protocol.state import State
ready = State.is_ready
def is_ready(self, now):
    shutting_down, self.shutting_down = self.shutting_down, False
    try:
        return ready(self, now)
    finally:
        self.shutting_down = shutting_down
State.is_ready = is_ready
sys.exit(main(sys.argv[1:]))
"""


FORGETFUL = """
import sys
from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.runtime import storage
load = storage.load_kv
storage.load_kv = lambda path: {
    namespace: {key: value for key, value in entries.items() if KEPT}
    for namespace, entries in load(path).items()
}
sys.exit(main(sys.argv[1:]))
"""


def ours(driver: str, *words: str) -> Settings:
    places = f"PYTHONPATH={ROOT}{os.pathsep}{ROOT / 'namesrv'}"
    command = shlex.join(["env", places, sys.executable, *words, "-c", "{config}"])
    options = (("rocketwire.driver", driver),)
    return Settings(
        start=command, options=options, run=NAMES, patience=4.0, profile=Profile.JAVA_NEXT
    )


@pytest.mark.parametrize("driver", ["portable", "auto"])
def test_our_server_refuses_routes_during_its_shutdown_and_passes(driver: str) -> None:
    assert play(ours(driver, "-m", "rocketwire_namesrv"), CASES).bad() == []


def test_a_server_that_still_gives_routes_fails() -> None:
    (verdict,) = play(ours("portable", "-c", AS_BEFORE), CASES).verdicts

    assert verdict.kind is VerdictKind.FAIL
    assert verdict.reason.startswith("not within")


@pytest.mark.parametrize(
    "kept",
    [
        "namespace.islower()",
        pytest.param("False", marks=pytest.mark.full),
        pytest.param("len(value) < 32768", marks=pytest.mark.full),
        pytest.param("key == key.strip()", marks=pytest.mark.full),
    ],
)
def test_a_server_that_forgets_kv_entries_in_a_restart_fails(kept: str) -> None:
    cases = [case for case in ALL if case.id == "ns/100/2"]
    (verdict,) = play(ours("portable", "-c", FORGETFUL.replace("KEPT", kept)), cases).verdicts

    assert verdict.kind is VerdictKind.FAIL


@pytest.mark.java
@pytest.mark.full
def test_java_5_5_0_still_gives_routes_and_fails(tmp_path: Path) -> None:
    settings = dataclasses.replace(javas(tmp_path), profile=Profile.JAVA_NEXT)
    (verdict,) = play(settings, CASES).verdicts

    assert verdict.kind is VerdictKind.FAIL
    assert verdict.reason.startswith("not within")
    assert not any("not ready" in exchange.text for exchange in verdict.exchanges)
    assert play(javas(tmp_path), CASES).verdicts[0].kind is VerdictKind.SKIP

"""Whatever happens during a write of the KV file, what was acknowledged is in it, and we and Java can read it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from rocketwire_namesrv.runtime import storage
from tests.chaos.dying import TABLES
from tests.chaos.failpoints import Countdown, failpoints
from tests.support import raw_call
from tests.support.java.cache import ROOT
from tests.support.name_servers import name_server

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.chaos, pytest.mark.full]

GET_KV_LIST = 219


class Death(NamedTuple):
    """What is left of a process that was killed at a point."""

    point: str
    saved: int
    path: Path


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> list[Death]:
    folder = tmp_path_factory.mktemp("deaths")
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.dying", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "namesrv")])},
        capture_output=True,
        text=True,
        check=True,
    )
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        Death(each["point"], each["saved"], folder / str(each["number"]) / "kvConfig.json")
        for each in reports
    ]


@pytest.mark.process
def test_a_process_was_killed_at_every_step(deaths: list[Death]) -> None:
    points = {each.point for each in deaths}

    assert points >= {"before write", "in the midst of write", "after write", "before fsync"}
    assert points >= {"before rename", "after rename", "before open", "before unlink", "all"}
    assert {0, 1, 2, 3} == {each.saved for each in deaths}
    assert len(deaths) > 60


@pytest.mark.process
def test_no_acknowledged_value_is_lost_when_the_process_is_killed(deaths: list[Death]) -> None:
    for death in deaths:
        found = storage.load_kv(str(death.path))

        assert found in TABLES[death.saved : death.saved + 2], death


@pytest.mark.process
def test_what_a_killed_process_left_is_no_obstacle(deaths: list[Death], tmp_path: Path) -> None:
    for number, death in enumerate(deaths):
        folder = tmp_path / str(number)
        shutil.copytree(death.path.parent, folder)
        path = str(folder / death.path.name)

        storage.save(path, storage.kv_document({"ns": {"new": "value"}}))

        assert storage.load_kv(path) == {"ns": {"new": "value"}}
        assert sorted(os.listdir(folder)) == ["kvConfig.json", "kvConfig.json.bak"]


def test_an_error_at_any_step_of_a_write_leaves_the_old_text_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "kvConfig.json"
    outcomes: set[tuple[bool, bool]] = set()
    for number in range(1, 200):
        code = (errno.ENOSPC, errno.EIO, errno.EDQUOT)[number % 3]
        storage.save(str(path), storage.kv_document(TABLES[1]))
        before = len(os.listdir("/proc/self/fd"))

        def fail(text: str, code: int = code) -> None:
            raise OSError(code, f"{os.strerror(code)}, {text}")

        countdown = Countdown(number, fail)
        failed = False
        try:
            with failpoints(countdown, at=_can_fail):
                storage.save(str(path), storage.kv_document(TABLES[2]))
        except OSError:
            failed = True
        found = storage.load_kv(str(path))
        assert found in TABLES[1:3]
        assert failed or found == TABLES[2]
        assert len(os.listdir("/proc/self/fd")) == before
        outcomes.add((failed, found == TABLES[2]))
        storage.save(str(path), storage.kv_document(TABLES[3]))
        assert storage.load_kv(str(path)) == TABLES[3]
        if countdown.left > 0:  # there are no more points
            break

    assert outcomes == {(True, False), (True, True), (False, True)}


def _can_fail(point: str) -> bool:
    """Whether a call can fail there; one that closes has closed, whatever it says."""
    return not point.startswith("after") and point != "before close"


@pytest.mark.process
@pytest.mark.java
def test_java_reads_what_any_killed_process_left(deaths: list[Death], tmp_path: Path) -> None:
    left = {death.path.read_bytes() for death in deaths}

    for number, content in enumerate(sorted(left)):
        folder = tmp_path / str(number)
        (folder / "conf").mkdir(parents=True)
        (folder / "conf" / "kvConfig.json").write_bytes(content)
        java = name_server("java", folder, {"kvConfigPath": "conf/kvConfig.json"})
        with java:
            answer = raw_call.ask(java.port, GET_KV_LIST, {"namespace": "ns"})
        assert json.loads(content)["configTable"]["ns"] == json.loads(answer.body)["table"]

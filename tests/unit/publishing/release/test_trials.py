"""Trials of an installed wheel, here of programs that stand for its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from publishing.release import trials

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


@pytest.fixture
def it(tmp_path: Path) -> trials.Installation:
    for name in ("bin", "work"):
        (tmp_path / name).mkdir()
    return trials.Installation(tmp_path, tmp_path / "work", tmp_path)


def program(it: trials.Installation, name: str, script: str) -> None:
    path = it.folder / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_program_runs_in_the_empty_folder_without_the_variables_of_the_shell(
    it: trials.Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "elsewhere:9876")
    program(it, "show", 'pwd; echo "$NAMESRV_ADDR"; cat')

    assert it.run("show", stdin="input") == f"{it.work}\n\ninput"


def test_a_failed_program_is_an_error_with_its_last_words(it: trials.Installation) -> None:
    program(it, "fail", "echo reason >&2; exit 3")

    with pytest.raises(trials.TrialError, match="fail --now: status 3\nreason"):
        it.run("fail", "--now")


def test_a_cluster_gives_its_address_and_ends(it: trials.Installation) -> None:
    ready = "ready: name server 127.0.0.1:1234, broker 127.0.0.1:5678"
    program(it, "rocketwire", f'echo "status page: none"; echo "{ready}"; exec sleep 600')
    log = it.work / "log"

    with it.cluster(log=log) as address:
        assert address == "127.0.0.1:1234"
    assert log.read_text() == f"status page: none\n{ready}\n"


def test_a_cluster_that_does_not_start_is_an_error(it: trials.Installation) -> None:
    program(it, "rocketwire", "echo the port is in use")

    with pytest.raises(trials.TrialError, match="did not start: the port is in use"), it.cluster():
        pytest.fail("it has not started")

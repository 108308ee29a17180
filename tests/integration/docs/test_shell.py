"""The shell in which the commands of pages run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from publishing.pages.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.process


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    for name in ("home", "scratch"):
        (tmp_path / name).mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    with Shell(tmp_path / "home", environment, tmp_path / "scratch") as running:
        yield running


def test_variables_and_the_folder_stay_from_one_command_to_the_next(shell: Shell) -> None:
    shell.run("mkdir sub && cd sub && export NAME='a b'")

    ended = shell.run('echo "$NAME"; basename "$PWD"')

    assert (ended.status, ended.output) == (0, "a b\nsub\n")


def test_the_first_command_that_fails_ends_the_block(shell: Shell) -> None:
    ended = shell.run("echo one\nfalse | cat\necho two")

    assert (ended.status, ended.output) == (1, "one\n")
    assert "false" in ended.failed or "cat" in ended.failed


def test_commands_in_the_background_are_interrupted_by_the_next(shell: Shell) -> None:
    first = shell.start(
        "trap 'echo ended > ended; exit' INT; echo up; read < <(tail -f /dev/null)", "up"
    )
    second = shell.start("echo again; exec tail -f /dev/null", "again")

    assert (first.status, second.status) == (0, 0)
    assert shell.run("cat ended").output == "ended\n"


def test_commands_that_end_before_they_are_ready_have_failed(shell: Shell) -> None:
    ended = shell.start("echo no; exit 0", "yes")

    assert (ended.status, ended.output) == (1, "no\n")

"""What ``make release-check`` tries, and what it says of failures."""

from __future__ import annotations

import re
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from publishing.release import check, trials

if TYPE_CHECKING:
    from pathlib import Path

RELEASING = (check.ROOT / "docs" / "releasing.md").read_text("utf-8")


def project() -> dict[str, Any]:
    values: dict[str, Any] = tomllib.loads((check.ROOT / "pyproject.toml").read_text("utf-8"))
    return dict(values["project"])


def test_each_extra_of_users_has_one_trial() -> None:
    assert sorted([*trials.TRIALS, *trials.IMPORTS]) == check.users_extras()
    assert set(project()["optional-dependencies"]) >= check.DEVELOPMENT


def test_the_programs_of_the_readme_are_python() -> None:
    examples = check.examples()

    assert examples
    for example in examples:
        compile(example, "README.md", "exec")


def test_the_classifiers_are_the_versions_that_the_page_calls_tested() -> None:
    rows = re.findall(r"^\| (3\.[\d., ]+?) \| (.+) \|$", RELEASING, re.MULTILINE)
    tested = {
        version: not how.startswith("not tested")
        for versions, how in rows
        for version in versions.split(", ")
    }
    prefix = "Programming Language :: Python :: 3."
    classifiers = {
        each.rpartition(" ")[2] for each in project()["classifiers"] if each.startswith(prefix)
    }

    assert set(tested) == set(check.PYTHONS)
    assert classifiers == {version for version, is_tested in tested.items() if is_tested}


@pytest.mark.process
def test_an_interpreter_of_each_version_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"

    assert check.interpreters([version, "3.99"]) == {version: sys.executable, "3.99": None}


def test_a_failure_does_not_end_the_check(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def install(*words: object) -> trials.Installation:
        raise trials.TrialError("no such package")

    monkeypatch.setattr(check, "install", install)
    one = check.Check(tmp_path / "x.whl", tmp_path)
    one.say("two builds are equal", [])
    one.base("3.11", sys.executable)
    one.with_extra("3.11", sys.executable, "tls")

    assert one.failures == [
        "Python 3.11, without extras: no such package",
        "Python 3.11, extra tls: no such package",
    ]
    assert capsys.readouterr().out.splitlines() == [
        "ok      two builds are equal",
        "FAILED  Python 3.11, without extras",
        "        no such package",
        "FAILED  Python 3.11, extra tls",
        "        no such package",
    ]


def test_an_extra_is_installed_with_those_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed: list[object] = []
    tried: list[str] = []

    def install(*words: object) -> None:
        installed.append(words[-1])

    def of_extra(_: object, name: str) -> None:
        tried.append(name)

    monkeypatch.setattr(check, "install", install)
    monkeypatch.setattr(trials, "of_extra", of_extra)
    one = check.Check(tmp_path / "x.whl", tmp_path)
    one.with_extra("3.11", sys.executable, "plot")

    assert (installed, tried, one.failures) == (["pcap,plot"], ["plot"], [])

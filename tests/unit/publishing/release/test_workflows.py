"""Workflows of a hosted CI: valid, and of commands that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from publishing.release.check import PYTHONS

ROOT = Path(__file__).parents[4]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps() -> list[dict[str, Any]]:
    """The steps of all jobs."""
    documents = (yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS)
    return [
        step for document in documents for job in document["jobs"].values() for step in job["steps"]
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_needs_jobs_that_exist_and_may_do_nothing_but_read(path: Path) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))

    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(document["jobs"])
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


def test_targets_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:(?!=)", makefile, re.MULTILINE))
    used = {
        word for step in steps() for word in re.findall(r"\bmake ([\w-]+)", step.get("run", ""))
    }

    assert used
    assert used <= targets


def test_each_supported_python_is_tried() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")

    assert set(re.findall(r'"(3\.\d+)"', text)) == set(PYTHONS)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_has_no_finding() -> None:
    command = ["actionlint", "-no-color", "-shellcheck=", "-pyflakes=", *map(str, WORKFLOWS)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stdout) == (0, "")

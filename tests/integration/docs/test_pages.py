"""The blocks of README, tutorials and guides work as written.

Each page is read by itself, in a network namespace, so that the ports it names are free.  Pages whose
readers have a cluster already are read in ``tests/java/docs``, with a Java broker.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from publishing.pages import namespace
from publishing.pages.blocks import has_cluster, runs
from publishing.pages.readers import PAGES, ROOT
from publishing.pages.reading import read
from publishing.pages.shell import Shell

pytestmark = pytest.mark.process

ALONE = [page for page in PAGES if runs(page) and not has_cluster(page)]
READ_FIRST = [page for page in ALONE if page.name == "README.md" or page.parent.name == "tutorials"]


@pytest.mark.parametrize(
    "page",
    [page if page in READ_FIRST else pytest.param(page, marks=pytest.mark.full) for page in ALONE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_what_a_page_shows_works(page: Path) -> None:
    if missing := namespace.missing():
        pytest.skip(missing)

    run = subprocess.run(
        [sys.executable, "-m", "publishing.pages", "--short", str(page)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, ""), run.stdout


def test_a_page_that_leaves_out_an_output_line_has_a_problem(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ printf 'one\\ntwo\\n'\none\n```\n")
    with Shell(tmp_path, dict(os.environ), tmp_path) as shell:
        problems = read(page, shell, tmp_path)

    assert ["two" in problem.text for problem in problems] == [True]

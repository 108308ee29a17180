"""Readers of pages: each has a folder and a shell, and some have a cluster."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from publishing.pages import folder, reading
from publishing.pages.blocks import has_cluster
from publishing.pages.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
# All pages with commands.
PAGES = (
    *sorted(ROOT.glob("README*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "zh").glob("*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    ROOT / "docs" / "deploy" / "README.md",
)

SOURCES = (".", "namesrv", "broker", "tools")


def environment(home: Path, scratch: Path) -> dict[str, str]:
    """The variables of a page's commands, in which ``pip`` has nothing to do.

    Args:
        home: the reader's folder.
        scratch: a folder for programs that stand in for others.
    """
    pip = scratch / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text("#!/bin/sh\nexit 0\n", "utf-8")
    pip.chmod(0o755)
    path = [str(pip.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "MPLCONFIGDIR": str(scratch),
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": os.pathsep.join(str(ROOT / source) for source in SOURCES),
    }


@contextlib.contextmanager
def reader() -> Generator[tuple[Shell, Path]]:
    with tempfile.TemporaryDirectory() as name:
        home, scratch = Path(name) / "home", Path(name) / "scratch"
        home.mkdir()
        scratch.mkdir()
        folder.copy_fixtures(home, FIXTURES)
        with Shell(home, environment(home, scratch), scratch) as shell:
            yield shell, home


@contextlib.contextmanager
def cluster() -> Generator[None]:
    """Run our name server and our broker for development at the default ports.

    Raises:
        RuntimeError: they do not start.
    """
    with reader() as (shell, _):
        started = shell.start("rocketwire dev", "ready:")
        if started.status != 0:
            raise RuntimeError(f"rocketwire dev does not start: {started.output}")
        yield


def read(page: Path, *, long: bool = True) -> list[reading.Problem]:
    with reader() as (shell, home):
        return reading.read(page, shell, home, long=long)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_all(pages: Iterable[Path], *, long: bool, clusters: bool = True) -> int:
    """Run pages, and print their problems.

    Args:
        pages: in their order.
        long: whether blocks that take long run.
        clusters: whether to start a cluster for each page whose readers have one.

    Returns:
        the number of problems.
    """
    number = 0
    for page in pages:
        start, cpu = time.monotonic(), _cpu_seconds()
        needs = clusters and has_cluster(page)
        with cluster() if needs else contextlib.nullcontext():
            problems = read(page, long=long)
        number += len(problems)
        for problem in problems:
            print(f"FAILED {problem}", flush=True)
        wall, cpu = time.monotonic() - start, _cpu_seconds() - cpu
        print(f"{page.relative_to(ROOT)}: {wall:.1f} s, {cpu:.1f} s of CPU time", flush=True)
    print(f"{number} problems")
    return number

"""Run pytest in several processes, each with its own share of the files: ``python -m tests.support.shares -n 2 -- -q``.

pytest-xdist lets every process collect every test, and reports five events of each test from one
process to another: a third of the CPU time of quick tests.  Here a process collects its own files
and prints its own results.  The shares have equal CPU time by the figures of the last run.

A folder belongs to one share: its tests import the same packages and use the same fixtures.
Options that ask for less than all tests (a path, ``--lf``, ``--pdb``) run in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".cache" / "shares"

SECONDS: Final = "ROCKETWIRE_TEST_SECONDS"
"""Environment: the file for the CPU time of each file of tests."""

NOTHING_CHOSEN: Final = 5
"""pytest's status if no test was chosen, which one share may well return."""

ALONE: Final = frozenset({"--lf", "--last-failed", "--ff", "--sw", "--stepwise", "--pdb"})
"""Options that need one process."""

LAST_FAILED: Final = Path("v", "cache", "lastfailed")
"""Below a cache folder of pytest: the tests that ``--lf`` runs."""


def test_files(root: Path) -> list[str]:
    """Every file of tests, relative to the root."""
    return sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))


def split(files: Iterable[str], seconds: Mapping[str, float], count: int) -> list[list[str]]:
    """Files in shares of about equal time; those of a folder stay together.

    Args:
        files: paths.
        seconds: what a file took the last time.  A new file counts like the average one.
        count: of shares.
    """
    average = sum(seconds.values()) / len(seconds) if seconds else 1.0
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(files):
        folders[str(Path(file).parent)].append(file)
    weights = {
        folder: sum(seconds.get(file, average) for file in members)
        for folder, members in folders.items()
    }
    shares: list[list[str]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for folder in sorted(folders, key=lambda each: (-weights[each], each)):
        place = loads.index(min(loads))
        shares[place] += folders[folder]
        loads[place] += weights[folder]
    return [share for share in shares if share]


def joined(before: Iterable[str], results: Sequence[Iterable[str]]) -> list[str]:
    """The failed tests after a run in shares, each of which began with the list of the last run."""
    earlier = set(before)
    counts = Counter(test for result in results for test in set(result))
    return sorted(test for test, n in counts.items() if n == len(results) or test not in earlier)


def status(statuses: Iterable[int]) -> int:
    """The status of a run from those of its shares: the first failure, or success."""
    different = set(statuses)
    failures = sorted(different - {0, NOTHING_CHOSEN})
    return failures[0] if failures else min(different, default=NOTHING_CHOSEN)


def is_alone(options: Iterable[str]) -> bool:
    """Whether pytest's options need one process."""
    return any(
        option in ALONE or (option[:1] != "-" and (ROOT / option.partition("::")[0]).exists())
        for option in options
    )


def _read(path: Path) -> dict[str, float]:
    try:
        return cast("dict[str, float]", json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=0), "utf-8")


class _Share:
    """One process with its files; the first one prints as it goes on, the others at their end."""

    def __init__(self, place: int, files: list[str], options: Sequence[str]) -> None:
        folder = CACHE / str(place)
        folder.mkdir(parents=True, exist_ok=True)
        self._seconds = folder / "seconds.json"
        self._cache = folder / "pytest"
        self._output = None if place == 0 else folder / "output.txt"
        self._seconds.unlink(missing_ok=True)
        _write(self._cache / LAST_FAILED, _read(ROOT / ".pytest_cache" / LAST_FAILED))
        (folder / "files.txt").write_text("\n".join(files), "utf-8")
        words = ["-p", "tests.support.shares", "-o", f"cache_dir={self._cache}", *options]
        output = None if self._output is None else self._output.open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *words, f"@{folder / 'files.txt'}"],
            cwd=ROOT,
            env=os.environ | {SECONDS: str(self._seconds)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
        )
        if output is not None:
            output.close()

    def wait(self) -> int:
        """Wait until it ends, and print what it has not printed itself."""
        ended = self._process.wait()
        if self._output is not None:
            sys.stdout.write(self._output.read_text("utf-8", "replace"))
            sys.stdout.flush()
        return ended

    @property
    def seconds(self) -> dict[str, float]:
        """What each of its files took."""
        return _read(self._seconds)

    @property
    def failed(self) -> list[str]:
        """The tests that ``--lf`` would run."""
        return list(_read(self._cache / LAST_FAILED))


def run(count: int, options: Sequence[str]) -> int:
    """Run the tests and return the status for the shell."""
    if count < 2 or is_alone(options):
        return subprocess.call([sys.executable, "-m", "pytest", *options], cwd=ROOT)
    known = _read(CACHE / "seconds.json")
    before = _read(ROOT / ".pytest_cache" / LAST_FAILED)
    files = split(test_files(ROOT), known, count)
    shares = [_Share(place, share, options) for place, share in enumerate(files)]
    outcome = status([share.wait() for share in shares])
    for share in shares:
        known |= share.seconds
    _write(CACHE / "seconds.json", known)
    failed = joined(before, [share.failed for share in shares])
    _write(ROOT / ".pytest_cache" / LAST_FAILED, dict.fromkeys(failed, True))
    return outcome


_spent: defaultdict[str, float] = defaultdict(float)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure a test with its fixtures: this module is the plugin of its own processes."""
    start = time.process_time()
    try:
        return (yield)
    finally:
        _spent[item.nodeid.partition("::")[0]] += time.process_time() - start


def pytest_sessionfinish() -> None:
    """Write what each file took."""
    if path := os.environ.get(SECONDS):
        _write(Path(path), _spent)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="of pytest")
    arguments = parser.parse_args()
    return run(arguments.n, arguments.options)


if __name__ == "__main__":
    sys.exit(main())

"""Run the checks and tests of ``make check``, ``make test`` and ``make test-all``: ``python -m tests.run check [PATH...]``.

At the end: what ran, how long each part took on the clock and in CPU time of all its processes, how to repeat what
failed, and one verdict.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT: Final = Path(__file__).parents[1]
BIN: Final = Path(sys.executable).parent
RUN: Final = "ROCKETWIRE_TEST_RUN"
"""Environment variable of all processes of a run: the id of the process that runs it."""
NOTHING_CHOSEN: Final = 5
"""pytest's exit status if no test matches the options."""


PROGRAMS: Final = {
    "rocketwire_namesrv": "namesrv",
    "rocketwire_broker": "broker",
    "rocketwire_tools": "tools",
}
"""Package of a program -> its folder in ``tests/unit``."""


class Step(NamedTuple):
    name: str  #: as the table at the end shows it
    command: str  #: of a program in the virtual environment, with its arguments
    environment: Mapping[str, str] = MappingProxyType({})  #: additions to the environment


class Result(NamedTuple):
    step: Step
    status: int
    wall: float
    cpu: float


LINT: Final = (
    Step("ruff", "ruff check ."),
    Step("format", "ruff format --check ."),
    Step("imports", "lint-imports"),
    Step("twins", "python -m tests.architecture.twins --check"),
    Step("mypy", "mypy"),
)
# Tests without processes leave no core idle; those with Java peers wait half of the time.
QUICK: Final = "python -m pytest -q -n 2 --durations=20"
PEERS: Final = "python -m pytest -q -n 4 --durations=20"

CHECK: Final = (
    *LINT,
    Step("tests without processes", f"{QUICK} -m 'not java and not process and not full'"),
)
TYPES: Final = Step("public types", "python -m tests.architecture.public_types")
BESIDE: Final = (*LINT, TYPES)
"""Steps that run during the tests, which leave a core idle while they start and end."""
TEST: Final = (*LINT, TYPES, Step("tests", f"{PEERS} -m 'not full'"))
LONG: Final = {
    "HYPOTHESIS_PROFILE": "deep",
    "ROCKETWIRE_KILLS": "long",
}
"""Environment that makes Hypothesis search, and Spark's drivers and executors be killed often."""
CODEC_TESTS: Final = "tests/unit/wire tests/unit/messages tests/unit/connection"
ALL: Final = (
    *LINT,
    TYPES,
    Step("types of everything", "pyright"),
    Step("all tests, with long faults", PEERS, LONG),
    Step("development broker", f"{PEERS} --cluster=dev tests/java/client tests/java/admin"),
    Step("tests of the codec", f"coverage run -m pytest -q -m 'not process' {CODEC_TESTS}"),
    Step("97 % of the codec's lines", "coverage report"),
    Step("mutants of the policies", "python -m tests.mutants"),
    Step("random values beside Java's", "python -m tests.fuzz.differential --cases 20000"),
    Step("damaged stores", "python -m tests.fuzz.damaged_stores --cases 300"),
    Step("every block of every page", "python -m publishing.pages"),
    Step("documentation", "make docs"),
    Step("packages", "make dist"),
)
GOALS: Final = {"lint": LINT, "check": CHECK, "test": TEST, "all": ALL}


def run(step: Step) -> Result:
    print(f"== {step.name}: {step.command}", flush=True)
    return _run(step, None)


def run_beside(steps: Sequence[Step], others: Sequence[Step]) -> list[Result]:
    # Run steps one after another, and others at the same time; print those when they end.
    with ThreadPoolExecutor(1) as thread:
        running = [thread.submit(_run_in_silence, step) for step in others]
        results = [run(step) for step in steps]
        return [*(future.result() for future in running), *results]


def _run_in_silence(step: Step) -> Result:
    with tempfile.TemporaryFile("w+") as output:
        result = _run(step, output)
        output.seek(0)
        print(f"\n== {step.name}: {step.command}\n{output.read()}", end="", flush=True)
    return result


def _run(step: Step, output: TextIO | None) -> Result:
    words = shlex.split(step.command)
    if (BIN / words[0]).exists():
        words[0] = str(BIN / words[0])
    start = time.monotonic()
    environment = os.environ | step.environment | {RUN: str(os.getpid())}
    process = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=output, stderr=output)
    _, ended, usage = os.wait4(process.pid, 0)
    status = process.returncode = os.waitstatus_to_exitcode(ended)
    return Result(step, status, time.monotonic() - start, usage.ru_utime + usage.ru_stime)


def end_processes() -> int:
    """Kill the processes of this run that are left, as Java peers of a run that was terminated.

    Returns:
        Their number; 0 where the system has no ``/proc``.
    """
    mark = f"{RUN}={os.getpid()}".encode()
    killed = 0
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is of another user
            if mark in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
                killed += 1
    return killed


def _terminate(number: int, frame: object) -> None:
    end_processes()
    os._exit(128 + number)


def print_verdict(results: Sequence[Result], elapsed: float) -> None:
    print(f"\n{'step':44} {'seconds':>8} {'CPU s':>8}")
    for step, status, wall, cpu in results:
        print(
            f"{step.name:44} {wall:8.0f} {cpu:8.0f}  {f'FAILED ({status})' if status else 'passed'}"
        )
    cpu = sum(result.cpu for result in results)
    failed = [r.step for r in results if r.status]
    print(f"{'together':44} {elapsed:8.0f} {cpu:8.0f}  {'FAILED' if failed else 'passed'}")
    for step in failed:
        print(f"repeat: {step.command}")


def changed_tests() -> list[str]:
    """Return the tests of the files that differ from the last commit.

    The tests of a module are in the folder of ``tests/unit`` that is named as the module's folder.
    """
    listed = ["git", "status", "--porcelain", "--no-renames", "--untracked-files=all"]
    lines = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted({str(tests) for line in lines.splitlines() for tests in tests_of(Path(line[3:]))})


def tests_of(path: Path) -> Iterable[Path]:
    # Yield the tests of a changed file; both paths are relative to the root.
    if path.suffix != ".py":
        return
    if path.parts[0] == "tests":
        if path.name.startswith("test_") and (ROOT / path).exists():
            yield path
        return
    rooms = list(path.with_suffix("").parts[1:])
    if rooms[0] in PROGRAMS:
        rooms[0] = PROGRAMS[rooms[0]]
    for end in range(len(rooms), 0, -1):
        folder = Path("tests", "unit", *rooms[:end])
        for candidate in (folder, folder.with_name(f"test_{folder.name.strip('_')}.py")):
            if (ROOT / candidate).exists():
                yield candidate
                return
    yield Path("tests", "unit", "connection")  # has the tests of the library's top modules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("goal", choices=GOALS)
    parser.add_argument(
        "--changed", action="store_true", help="run the tests beside what git shows as changed"
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="run these tests only, and no other step"
    )
    chosen = parser.parse_args()
    steps: Sequence[Step] = GOALS[chosen.goal]
    paths = [*chosen.paths, *(changed_tests() if chosen.changed else ())]
    if chosen.changed and not paths:
        print("no test stands beside a changed file")
        return 0
    if paths:
        chosen_tests = [step for step in steps if "pytest" in step.command][:1]
        steps = [
            step._replace(command=f"{step.command} {shlex.join(paths)}") for step in chosen_tests
        ]
    signal.signal(signal.SIGTERM, _terminate)
    start = time.monotonic()
    beside = [] if chosen.goal == "lint" else [step for step in steps if step in BESIDE]
    results = run_beside([step for step in steps if step not in beside], beside)
    if chosen.changed:  # the tests of a change may all be of other goals
        results = [r._replace(status=0) if r.status == NOTHING_CHOSEN else r for r in results]
    if left := end_processes():
        print(f"{left} processes were left by their tests, and are killed")
    print_verdict(results, time.monotonic() - start)
    return 1 if any(result.status for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

"""``python -m bench.soak [--seconds 600] [--driver auto]``: a table over time; the exit status is 1
if anything grows.

One process simulates all peers except the steady readers, which are the C load generator of
``bench.namesrv``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from bench.namesrv import candidates, machine, routes
from bench.soak.peers import TOPICS, Crowd
from bench.soak.watching import MIB, Watch, slope
from tests.support.java.peers import properties
from tests.support.processes import LOOPBACK, Child, free_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.soak.watching import Sample

BROKERS: Final = 20
CLIENTS: Final = 30
READERS: Final = 140
"""Connections of the load generator; with brokers, clients and hostile peers some 200."""
READS: Final = 500.0
"""A second, over all steady readers."""
LOOK_SECONDS: Final = 2.0
PRINT_SECONDS: Final = 30.0
WINDOW_SECONDS: Final = 20.0
WARM_UP: Final = 0.25
"""Share of the time at the start in which growth is ignored."""
MOST_GROWTH: Final = 1.0
"""MiB a minute."""
SETTLE_SECONDS: Final = 10.0


def started(folder: Path, driver: str) -> tuple[Child, int]:
    """Start the name server; return the process and its port."""
    port = free_ports()
    (folder / "conf").mkdir()
    settings = {"listenPort": port, "bindAddress": LOOPBACK, "rocketwire.driver": driver}
    (folder / "conf" / "namesrv.properties").write_text(properties(settings))
    root = Path(__file__).parents[2]
    paths = [str(root), str(root / "namesrv"), os.environ.get("PYTHONPATH", "")]
    child = Child(
        "namesrv",
        [sys.executable, "-m", "bench.soak.watched", "tasks", "-c", "conf/namesrv.properties"],
        folder,
        environment={
            "PYTHONPATH": os.pathsep.join(paths),
            "HOME": str(folder),
            "ROCKETWIRE_LOG": "file",
        },
    )
    child.wait_until(lambda: "boot success" in child.output, "boot success")
    return child, port


async def _read(port: int, pid: int, windows: list[dict[str, Any]], nursery: trio.Nursery) -> None:
    """The steady readers, whose latencies count from when each request was due."""
    words = ["-p", str(port), "-f", routes.WIDE.format, "-n", str(TOPICS), "-P", str(pid)]
    words += ["-c", str(READERS), "-r", str(READS), "-w", "0.5", "-t", str(WINDOW_SECONDS)]
    while True:
        completed = await trio.run_process(
            [str(candidates.PROGRAMS / "loadgen"), *words], capture_stdout=True
        )
        windows.append(json.loads(completed.stdout))


async def _look(watch: Watch, seconds: float, crowd: Crowd, windows: list[dict[str, Any]]) -> None:
    start = trio.current_time()
    due = PRINT_SECONDS
    print("seconds  RSS MiB  descriptors  tasks  reads p50/p99 ms  registrations", flush=True)
    while (elapsed := trio.current_time() - start) < seconds:
        sample = watch.look(elapsed)
        if elapsed >= due:
            due += PRINT_SECONDS
            print(_line(sample, crowd, windows), flush=True)
        await trio.sleep(LOOK_SECONDS)


def _line(sample: Sample, crowd: Crowd, windows: Sequence[dict[str, Any]]) -> str:
    latest = windows[-1] if windows else {"p50": 0.0, "p99": 0.0}
    return (
        f"{sample.time:7.0f}  {sample.resident / MIB:7.1f}  {sample.descriptors:11} "
        f" {sample.tasks:5}  "
        f"{latest['p50'] / 1e3:7.2f} / {latest['p99'] / 1e3:<6.2f} "
        f" {crowd.counts['registrations']:13}"
    )


async def soak(seconds: float, driver: str) -> list[str]:
    """Run it; returns what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        child, port = started(Path(name), driver)
        with child:
            watch = Watch(child.process.pid, Path(name) / "tasks")
            crowd = Crowd(port)
            windows: list[dict[str, Any]] = []
            await crowd.fill_what_is_bounded()
            await trio.sleep(SETTLE_SECONDS / 5)
            first = watch.look(0)
            async with trio.open_nursery() as nursery:
                crowd.everybody(nursery, brokers=BROKERS, clients=CLIENTS)
                await trio.sleep(SETTLE_SECONDS)  # all topics are there, the readers may come
                nursery.start_soon(_read, port, child.process.pid, windows, nursery)
                await _look(watch, seconds, crowd, windows)
                nursery.cancel_scope.cancel()
            await trio.sleep(SETTLE_SECONDS)
            last = watch.look(seconds + SETTLE_SECONDS)
            return _report(driver, watch, first, last, crowd, windows)


def _report(
    driver: str,
    watch: Watch,
    first: Sample,
    last: Sample,
    crowd: Crowd,
    windows: Sequence[dict[str, Any]],
) -> list[str]:
    under_load = watch.samples[1:-1]
    counted = [sample for sample in under_load if sample.time >= WARM_UP * under_load[-1].time]
    growth = slope(counted)
    print(f"\ndriver {driver}: {', '.join(machine.description()[:2])}")
    print(
        f"RSS {first.resident / MIB:.1f} MiB before, {counted[0].resident / MIB:.1f} after the"
        f" warm-up, "
        f"{counted[-1].resident / MIB:.1f} at the end of the load, {last.resident / MIB:.1f}"
        f" when all had left"
    )
    print(
        f"slope after the warm-up: {growth:+.3f} MiB/min over"
        f" {counted[-1].time - counted[0].time:.0f} s"
    )
    print(
        f"descriptors {first.descriptors} -> {max(s.descriptors for s in under_load)} ->"
        f" {last.descriptors}, "
        f"tasks {first.tasks} -> {max(s.tasks for s in under_load)} -> {last.tasks}"
    )
    print(
        f"reads: {sum(w['answers'] for w in windows)} answers, p50"
        f" {_median(windows, 'p50'):.2f} ms, "
        f"p99 {_median(windows, 'p99'):.2f} ms (medians of {len(windows)} windows), worst p99 "
        f"{max((w['p99'] for w in windows), default=0) / 1e3:.2f} ms"
    )
    for what, count in sorted(crowd.counts.items()):
        print(f"{what}: {count}")
    wrong: list[str] = []
    if growth >= MOST_GROWTH:
        wrong.append(f"memory grows by {growth:.2f} MiB a minute")
    if last.descriptors > first.descriptors:
        wrong.append(f"descriptors are left open: {watch.sockets()}")
    if last.tasks > first.tasks:
        wrong.append(f"{last.tasks - first.tasks} tasks are left")
    wrong += [f"{what}: {count}" for what, count in crowd.counts.items() if "lost" in what]
    if any(
        window[fault]
        for window in windows
        for fault in ("bad_opaque", "bad_flag", "bad_code", "bad_body")
    ):
        wrong.append("a reader was given a wrong answer or none")
    return wrong


def _median(windows: Sequence[dict[str, Any]], what: str) -> float:
    values = sorted(window[what] for window in windows)
    return values[len(values) // 2] / 1e3 if values else 0.0


def main() -> int:
    """Returns the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    options.add_argument(
        "--seconds", type=float, default=600.0, help="of load (default %(default)s)"
    )
    options.add_argument("--driver", choices=("auto", "reactor", "portable"), default="auto")
    chosen = options.parse_args()
    candidates.build_programs()
    wrong = trio.run(soak, chosen.seconds, chosen.driver)
    for problem in wrong:
        print(f"FAILED: {problem}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

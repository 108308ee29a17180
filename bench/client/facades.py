"""``python -m bench.client --facades``: threads, asyncio and uvloop beside trio and Java.

Rounds of all clients alternate at one Java broker, and the last round of each counts. A target is
the share of the trio client's rate per CPU second, or for blocking sends also of Java's.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.client.programs import (
    Program,
    Taken,
    facade_command,
    first_message,
    java_command,
    our_command,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DIALECTS: Final = ("threads", "asyncio", "uvloop")
OTHERS: Final = {"SDK": ("sync", "async"), "C++": ("sync",)}
"""Other Python clients, and what they can do here: Apache's SDK of the gRPC protocol, and the
binding of its C++ client."""
WORK: Final = {"sync": 10_000, "async": 60_000, "push": 240_000, "single": 120_000}
LEAST: Final = {"sync": 1_000, "async": 4_000, "push": 60_000, "single": 60_000}
NAMES: Final = {
    "sync": "sends, one after the other",
    "async": "sends, 16 in flight (threads: send_many)",
    "push": "consumption in batches of 32",
    "single": "consumption, message by message",
}
TARGETS: Final = {"sync": 0.6, "async": 0.8, "push": 0.85, "single": 0.3}
MEMORY_TARGET: Final = 45.0
COLD_TARGET: Final = 1.15
COLD_STARTS: Final = 9


class Target(NamedTuple):
    """A figure and what it has to be.

    Attributes:
        what: the work.
        who: the client.
        cpu: messages per second of CPU, or None.
        wall: messages per second, or None.
        share: the figure that has a target.
        target: its limit.
        is_upper: whether the limit is the largest value, not the smallest.
    """

    what: str
    who: str
    cpu: float | None
    wall: float | None
    share: float
    target: float | None
    is_upper: bool = False

    def __str__(self) -> str:
        rates = "".join(
            f"{'' if rate is None else f'{rate:.0f}':>10}" for rate in (self.cpu, self.wall)
        )
        if self.target is None:
            return f"{self.what:<44}{self.who:<9}{rates}{self.share:>9.2f}"
        holds = self.share <= self.target if self.is_upper else self.share >= self.target
        verdict = "met" if holds else "MISSED"
        return (
            f"{self.what:<44}{self.who:<9}{rates}{self.share:>9.2f}{self.target:>8.2f}  {verdict}"
        )


def measure(
    name_server: str,
    topics: Sequence[str],
    classes: Path,
    rounds: int,
    scale: float,
    others: Mapping[str, Sequence[str]] | None = None,
) -> list[Target]:
    """All comparisons, one set of clients for each topic.

    Args:
        others: commands of ``OTHERS`` without the topic.
    """
    counts = {verb: max(LEAST[verb], int(count * scale)) for verb, count in WORK.items()}
    runs: list[dict[tuple[str, str], Taken]] = []
    memory: dict[str, float] = {}
    for topic in topics:
        commands = _commands(name_server, topic, classes)
        commands |= {who: [*command, topic] for who, command in (others or {}).items()}
        taken, peaks = _run(commands, counts, rounds)
        runs.append(taken)
        memory = {who: max(peak, memory.get(who, 0.0)) for who, peak in peaks.items()}
    lines = [line for verb in WORK for line in _work(verb, runs)]
    what = "peak resident memory, MiB"
    lines += [
        Target(what, who, None, None, memory[who], MEMORY_TARGET, is_upper=True) for who in DIALECTS
    ]
    return [*lines, *_cold(_commands(name_server, topics[0], classes))]


def _commands(name_server: str, topic: str, classes: Path) -> dict[str, list[str]]:
    facades = {who: facade_command(name_server, topic, who) for who in DIALECTS}
    return {
        "trio": our_command(name_server, topic),
        **facades,
        "Java": java_command(classes, name_server, topic),
    }


def _run(
    commands: dict[str, list[str]], counts: dict[str, int], rounds: int
) -> tuple[dict[tuple[str, str], Taken], dict[str, float]]:
    """Run all rounds of one set of clients; returns the last ones, and peaks of memory."""
    programs = {who: Program(command) for who, command in commands.items()}
    taken: dict[tuple[str, str], Taken] = {}
    try:
        sends = len(programs) * (counts["sync"] + counts["async"])
        programs["trio"].run("async", max(1, counts["push"] - sends))
        for number in range(1, rounds + 1):
            for verb, count in counts.items():
                for who, program in programs.items():
                    if verb == "single" and who in ("trio", "Java"):
                        continue
                    if verb not in OTHERS.get(who, WORK):
                        continue
                    last = taken[verb, who] = program.run(verb, count)
                    print(
                        f"round {number}  {verb:<7}{who:<8}{last.rate:>9.0f} messages a CPU second,"
                        f" {count / last.wall:>9.0f} a second",
                        file=sys.stderr,
                    )
        peaks = {who: program.peak_memory() for who, program in programs.items()}
    finally:
        for program in programs.values():
            program.end()
    return taken, peaks


def _work(verb: str, runs: Sequence[dict[tuple[str, str], Taken]]) -> list[Target]:
    """The lines of one kind of work: medians of all sets."""
    base = "push" if verb == "single" else verb
    lines: list[Target] = []
    for who in ("trio", *DIALECTS, "Java", *OTHERS):
        if (verb, who) not in runs[0]:
            continue
        cpu = statistics.median(run[verb, who].rate for run in runs)
        wall = statistics.median(run[verb, who].messages / run[verb, who].wall for run in runs)
        share = statistics.median(run[verb, who].rate / run[base, "trio"].rate for run in runs)
        target = TARGETS[verb] if who in DIALECTS else None
        if verb == "sync" and who != "threads":
            target = None
        lines.append(Target(f"{NAMES[verb]}: share of trio's", who, cpu, wall, share, target))
    if verb == "sync":
        share = statistics.median(
            run[verb, "threads"].rate / run[verb, "Java"].rate for run in runs
        )
        lines.append(Target(f"{NAMES[verb]}: share of Java's", "threads", None, None, share, 1.0))
    return lines


def _cold(commands: dict[str, list[str]]) -> list[Target]:
    """The times of first messages, alternating."""
    everybody = ("trio", *DIALECTS)
    for who in everybody:
        first_message(commands[who])  # compiles modules that are not
    starts = [
        {who: first_message(commands[who]).wall for who in everybody} for _ in range(COLD_STARTS)
    ]
    return [
        Target(
            "first message, cold: times trio's",
            who,
            None,
            None,
            statistics.median(start[who] / start["trio"] for start in starts),
            COLD_TARGET,
            True,
        )
        for who in DIALECTS
    ]

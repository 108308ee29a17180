"""``python -m bench.client [--pairs 5]``: sends, consumption, memory and a cold start, compared
with Java's client, with targets.

Rounds of our client and of Java's alternate at a Java broker, and the last round of each counts:
Java's is warm then. The machine's clock varies between rounds, so there are several pairs of new
clients, each with a new topic, and the medians of all pairs count. Cold starts alternate in the
same way.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from bench.client import facades
from bench.client.programs import (
    Program,
    compiled,
    first_message,
    floor_command,
    java_command,
    other_command,
    our_command,
)
from rocketwire.client import ClientConfig, open_client
from tests.java.client.messages import create_topic
from tests.support.java.cluster import JavaCluster
from tests.support.java.proxy import JavaProxy

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

WORK: Final = {"sync": 10_000, "async": 60_000, "push": 240_000}
"""Messages of a round."""
LEAST: Final = {"sync": 1_000, "async": 4_000, "push": 60_000}
"""Messages of a round at any scale: with fewer, the cost before the first message dominates."""
NAMES: Final = {
    "sync": "synchronous sends",
    "async": "asynchronous sends, 16 in flight",
    "push": "push consumption",
}
TARGETS: Final = {"sync": 2.0, "async": 0.7, "push": 1.5}
MEMORY_TARGET: Final = 4.0
COLD_TARGET: Final = 5.0
COLD_STARTS: Final = 9
PAIR: Final = ("ours", "Java")
TOPIC: Final = "bench-client"


class Line(NamedTuple):
    """One comparison; ``times`` better than Java's we are."""

    what: str
    ours: str
    java: str
    times: float
    target: float

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.times >= self.target

    def __str__(self) -> str:
        verdict = "met" if self.holds else "MISSED"
        figures = f"{self.ours:>12}{self.java:>12}{self.times:>8.2f}x{self.target:>7.1f}x"
        return f"{self.what:<44}{figures}  {verdict}"


async def _create(name_server: str, topic: str) -> None:
    async with open_client(ClientConfig(namesrv_addr=name_server)) as client:
        await create_topic(client, topic)


class Pair(NamedTuple):
    """The results of a pair of clients.

    Attributes:
        rates: of the last round, messages per second of CPU, by kind of work and client.
        memory: peak resident memory, MiB, by client.
    """

    rates: dict[tuple[str, str], float]
    memory: dict[str, float]


def compare(commands: dict[str, list[str]], counts: dict[str, int], rounds: int) -> Pair:
    """Run all rounds of a pair of clients."""
    programs = {who: Program(command) for who, command in commands.items()}
    rates: dict[tuple[str, str], float] = {}
    try:
        # otherwise the first round would consume more messages than were sent
        programs["ours"].run(
            "async", max(1, counts["push"] - 2 * (counts["sync"] + counts["async"]))
        )
        for number in range(1, rounds + 1):
            for verb, count in counts.items():
                for who, program in programs.items():
                    taken = program.run(verb, count)
                    rates[verb, who] = taken.rate
                    print(
                        f"round {number}  {verb:<6}{who:<5}{taken.rate:>9.0f} messages a CPU"
                        f" second, {taken.wall:6.1f} s",
                        file=sys.stderr,
                    )
        memory = {who: program.peak_memory() for who, program in programs.items()}
    finally:
        for program in programs.values():
            program.end()
    return Pair(rates, memory)


def measure(
    name_server: str, topics: Sequence[str], classes: Path, rounds: int, scale: float
) -> list[Line]:
    """All comparisons, one pair of clients for each topic."""
    counts = {verb: max(LEAST[verb], int(count * scale)) for verb, count in WORK.items()}
    pairs: list[Pair] = []
    for topic in topics:
        commands = _commands(name_server, topic, classes)
        pairs.append(compare(commands, counts, rounds))
    lines = [_work(verb, pairs) for verb in WORK]
    _floors(name_server, topics[0], counts["sync"])
    ours, java = (max(pair.memory[who] for pair in pairs) for who in PAIR)
    lines.append(
        Line("peak resident memory, MiB", f"{ours:.0f}", f"{java:.0f}", java / ours, MEMORY_TARGET)
    )
    commands = _commands(name_server, topics[0], classes)
    first_message(commands["ours"])  # compiles modules that are not
    starts = [{who: first_message(commands[who]).wall for who in PAIR} for _ in range(COLD_STARTS)]
    ours, java = (statistics.median(start[who] for start in starts) for who in PAIR)
    times = statistics.median(start["Java"] / start["ours"] for start in starts)
    lines.append(
        Line(
            "first acknowledged message, cold, ms",
            f"{1000 * ours:.0f}",
            f"{1000 * java:.0f}",
            times,
            COLD_TARGET,
        )
    )
    return lines


def _commands(name_server: str, topic: str, classes: Path) -> dict[str, list[str]]:
    return dict(
        zip(
            PAIR,
            (our_command(name_server, topic), java_command(classes, name_server, topic)),
            strict=True,
        )
    )


def _floors(name_server: str, topic: str, count: int) -> None:
    """Say what the system and trio alone take for a synchronous send."""
    for how in ("socket", "trio"):
        program = Program(floor_command(name_server, topic, how))
        try:
            taken = program.run("sync", count)
        finally:
            program.end()
        print(
            f"floor    sync   {how:<7}{taken.rate:>7.0f} messages a CPU second,"
            f" {taken.wall:6.1f} s",
            file=sys.stderr,
        )


def _work(verb: str, pairs: Sequence[Pair]) -> Line:
    ours, java = (statistics.median(pair.rates[verb, who] for pair in pairs) for who in PAIR)
    times = statistics.median(pair.rates[verb, "ours"] / pair.rates[verb, "Java"] for pair in pairs)
    what = f"{NAMES[verb]}, per CPU second"
    return Line(what, f"{ours:.0f}", f"{java:.0f}", times, TARGETS[verb])


@contextmanager
def _others(
    sdk: str | None, cpp: str | None, folder: Path, name_server: str
) -> Generator[dict[str, Sequence[str]]]:
    """Start a proxy if necessary; the commands of other Python clients, without the topic."""
    commands: dict[str, Sequence[str]] = {}
    if cpp is not None:
        commands["C++"] = other_command(cpp, "cpp.py", name_server)
    if sdk is None:
        yield commands
        return
    with JavaProxy(folder / "proxy", [name_server]) as proxy:
        yield commands | {"SDK": other_command(sdk, "official.py", proxy.grpc_address)}


def main() -> None:
    """Start Java's broker, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.client", description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="pairs of clients; the median counts")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each, the last one counts")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the messages of a round")
    parser.add_argument(
        "--facades", action="store_true", help="compare threads, asyncio and uvloop with trio"
    )
    parser.add_argument(
        "--sdk",
        metavar="PYTHON",
        help="with --facades: Python of an environment with rocketmq-python-client, which is"
        " compared too, through Java's proxy",
    )
    parser.add_argument(
        "--cpp",
        metavar="PYTHON",
        help="with --facades: Python of an environment with rocketmq 0.4.4, a binding of Apache's"
        " C++ client, which is compared too",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as folder:
        classes = compiled(Path(folder))
        with JavaCluster(Path(folder)) as cluster:
            topics = [f"{TOPIC}-{number}" for number in range(1, options.pairs + 1)]
            for topic in topics:
                trio.run(_create, cluster.address, topic)
            if options.facades:
                with _others(options.sdk, options.cpp, Path(folder), cluster.address) as others:
                    targets = facades.measure(
                        cluster.address, topics, classes, options.rounds, options.scale, others
                    )
                print(
                    f"{'bodies of 1 KiB':<53}{'CPU s':>10}{'second':>10}{'share':>9}{'target':>8}"
                )
                print(*targets, sep="\n")
                return
            lines = measure(cluster.address, topics, classes, options.rounds, options.scale)
    print(f"{'bodies of 1 KiB':<44}{'ours':>12}{'Java 5.5.0':>12}{'better':>9}{'target':>8}")
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()

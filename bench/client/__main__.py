"""Compare our clients with Java's: ``python -m bench.client [--pairs 5] [--facades]``.

Rounds of all clients alternate at one Java broker, and the last round of each counts: Java's is
warm then. The machine's clock varies between rounds, so there are several sets of new clients, each
with a new topic; cells and ratios are medians of the sets. ``ours`` is the client for trio.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

import trio

from bench import machine
from bench.programs import Program, compile_java, first_message, java_command
from bench.table import Table
from rocketwire.client import ClientConfig, open_client
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic

WORK: Final = {"sync": 10_000, "async": 60_000, "push": 240_000}
"""Messages of a round."""
MIN_COUNTS: Final = {"sync": 1_000, "async": 4_000, "push": 60_000}
"""Messages of a round at any scale: with fewer, the cost before the first message dominates."""
NAMES: Final = {
    "sync": "sends of 1 KiB, one after the other, per CPU second",
    "async": "sends of 1 KiB, 16 in flight, per CPU second",
    "push": "consumed messages per CPU second",
}
COLD_STARTS: Final = 9
OURS, JAVA = "ours", "Java"
FACADES: Final = ("threads", "asyncio", "uvloop")


def commands_of(
    clients: tuple[str, ...], name_server: str, topic: str, classes: Path
) -> dict[str, list[str]]:
    python = [sys.executable, "-m"]
    commands = {
        OURS: [*python, "bench.client.ours", name_server, topic],
        JAVA: java_command(classes, "ClientBench", name_server, topic),
    }
    for facade in FACADES:
        commands[facade] = [*python, "bench.client.facade", name_server, topic, facade]
    return {client: commands[client] for client in clients}


def measure(
    table: Table, commands: dict[str, list[str]], counts: dict[str, int], rounds: int
) -> None:
    programs = {client: Program(command) for client, command in commands.items()}
    try:
        # otherwise the first round would consume more messages than were sent
        sends = len(programs) * (counts["sync"] + counts["async"])
        programs[OURS].run("async", max(1, counts["push"] - sends))
        for number in range(rounds):
            for verb, count in counts.items():
                for client, program in programs.items():
                    taken = program.run(verb, count)
                    if number == rounds - 1:
                        table.add(NAMES[verb], client, taken.rate)
        for client, program in programs.items():
            table.add("peak resident memory, MiB", client, program.peak_memory())
    finally:
        for program in programs.values():
            program.end()


async def create(name_server: str, topic: str) -> None:
    async with open_client(ClientConfig(namesrv_addr=name_server)) as client:
        await create_topic(client, topic)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.client", description=__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="sets of clients")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each, the last one counts")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the messages of a round")
    parser.add_argument(
        "--facades", action="store_true", help="threads, asyncio and uvloop as well"
    )
    options = parser.parse_args()
    clients = (OURS, *(FACADES if options.facades else ()), JAVA)
    counts = {
        verb: max(MIN_COUNTS[verb], int(count * options.scale)) for verb, count in WORK.items()
    }
    table = Table(clients, JAVA)
    print(machine.describe())
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as name:
        folder = Path(name)
        compile_java(folder, "ClientBench")
        with JavaCluster(folder) as cluster:
            sets: list[dict[str, list[str]]] = []
            for number in range(options.pairs):
                topic = f"bench-client-{number}"
                trio.run(create, cluster.address, topic)
                sets.append(commands_of(clients, cluster.address, topic, folder))
                measure(table, sets[-1], counts, options.rounds)
            for client in clients:
                first_message(sets[0][client])  # modules are compiled
            for _ in range(COLD_STARTS):
                for client in clients:
                    seconds = first_message(sets[0][client])
                    table.add("first acknowledged message, cold, ms", client, 1000 * seconds)
    table.print()


if __name__ == "__main__":
    main()

"""``python -m bench.store``: speed and memory of ``rocketwire-store``, compared with Java's recovery.

Java's message store writes two stores: A with messages of 1.2 KB, B with messages of 330 bytes, in
five topics with four queues each, with keys, tags and unique keys. Every round runs everything in
turn, because times of different moments are not comparable on a shared machine; the best round
counts. Speeds are bytes of the log by CPU seconds of the whole command, its start included; the
page cache is warm. Java's recovery is ``DefaultMessageStore.load`` of a copy of the log after a
kill: it checks each message and builds queues and index, start of the JVM included.

One process and two are compared by their wall times. Two processors share memory and caches, so
the same is done with two commands that run at once and share nothing else.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.namesrv import machine
from bench.pcap.figures import Figure, lines
from bench.pcap.spending import Spent, run
from bench.store.stores import BODIES, KEY, Java, Store

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[2]
_PACKAGES: Final = ("rocketwire", "tools")
"""Folders that are compiled first, as pip does: some environments keep no bytecode."""
MOST_MEMORY: Final = 200.0
MOST_LOOKUP: Final = 50.0
"""Milliseconds."""
TIMES_JAVA: Final = 3.0
TWO_PROCESSES: Final = 1.8
VERBS: Final[dict[str, tuple[str, ...]]] = {
    "stat": ("stat", "--by", "topic"),
    "check": ("check",),
    "key": ("messages", "--json", "--key", "no-such-key"),
    "parquet": ("export", "-o", "OUT.parquet"),
    "uncompressed": ("export", "--compression", "none", "-o", "OUT.parquet"),
    "folder": ("export", "-o", "OUT/"),
    "jsonl": ("export", "-o", "OUT.jsonl"),
    "messages": ("messages", "--json"),
}
"""Name of a measurement → words of the command."""
TEXTS: Final = {
    "stat": "stat by topic",
    "check": "check with CRC, queues and index",
    "key": "messages with a key, without an index",
    "parquet": "export to Parquet with bodies",
    "uncompressed": "the same without compression",
}
SPEEDS: Final = {
    ("stat", "A"): 1000.0,
    ("stat", "B"): 350.0,
    ("check", "A"): 700.0,
    ("check", "B"): 250.0,
    ("key", "A"): 800.0,
    ("key", "B"): 300.0,
    ("parquet", "A"): 300.0,
    ("parquet", "B"): 300.0,
}
"""MB/s of one core."""
JSON_LINES: Final = 120.0
"""Thousands of messages a second."""
IN_TWO: Final = {
    "stat": "stat",
    "messages": "messages",
    "jsonl": "export to a file of JSON lines",
    "folder": "export to a folder of Parquet",
}


class Bench:
    """Everything that is measured.

    Args:
        java: Java's message store.
        stores: to read.
    """

    def __init__(self, java: Java, stores: list[Store], scratch: Path) -> None:
        self._java = java
        self._stores = stores
        self._scratch = scratch
        self._spent: dict[tuple[str, str], list[Spent]] = {}
        self._messages = {store.name: self._count(store) for store in stores}
        self._index = java.full_index(stores[0], self._place_of_key(stores[0]))
        self._lookups: list[float] = []

    def round(self) -> None:
        """Everything once."""
        for store in self._stores:
            self._note("java", store, self._java.recovery(store))
            files = sorted(map(str, (store.root / "commitlog").iterdir()))
            self._note("cat", store, run(["cat", *files], Path(os.devnull)))
            for name in VERBS:
                self._note(name, store, self._run(name, store))
                if name in IN_TWO:
                    self._note(f"{name} 2", store, self._run(name, store, "--jobs", "2"))
                    self._note(f"{name} twice", store, self._run_twice(name, store))
        words = ["-m", "bench.store.lookup", str(self._index), "bench-topic-2", KEY]
        self._lookups.append(float(self._answer(*words)))

    def _note(self, name: str, store: Store, spent: Spent) -> None:
        self._spent.setdefault((name, store.name), []).append(spent)

    def _run(self, name: str, store: Store, *options: str) -> Spent:
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            words = [word.replace("OUT", f"{folder}/out") for word in VERBS[name]]
            command = [sys.executable, "-m", "rocketwire_tools.store", *words, *options]
            return run([*command, str(store.root)], Path(folder) / "output")

    def _run_twice(self, name: str, store: Store) -> Spent:
        """The slower one of two commands that run at once: what processors and memory allow."""
        with ThreadPoolExecutor(2) as threads:
            begun = [threads.submit(self._run, name, store) for _ in range(2)]
            return max((each.result() for each in begun), key=_wall)

    def _answer(self, *words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def _count(self, store: Store) -> int:
        text = self._answer("-m", "rocketwire_tools.store", "stat", "--json", str(store.root))
        return sum(json.loads(line)["messages"] for line in text.splitlines())

    def _place_of_key(self, store: Store) -> int:
        words = ("messages", "--json", "--columns", "physical_offset", "--limit", "1", "--key", KEY)
        text = self._answer("-m", "rocketwire_tools.store", *words, str(store.root))
        place: int = json.loads(text)["physical_offset"]
        return place

    # ---- the report

    def figures(self) -> list[Figure]:
        """The figures."""
        figures: list[Figure] = []
        for store in self._stores:
            size, count = store.size / 1e6, self._messages[store.name] / 1e3
            for name, text in TEXTS.items():
                speed = size / self._least(name, store, _cpu)
                bound = SPEEDS.get((name, store.name))
                figures.append(Figure(f"{store.name}: {text}", speed, "MB/s", bound))
            read = self._least("cat", store, _cpu)
            text = f"{store.name}: cat of the log, which does nothing but read"
            figures.append(Figure(text, size / read, "MB/s"))
            java = self._least("java", store, _cpu)
            figures.append(Figure(f"{store.name}: Java's recovery", size / java, "MB/s"))
            ratio = java / self._least("check", store, _cpu)
            text = f"{store.name}: CPU of Java's recovery / of check"
            figures.append(Figure(text, ratio, "x", TIMES_JAVA))
            rate = count / self._least("jsonl", store, _cpu)
            text = f"{store.name}: export to JSON lines with bodies"
            figures.append(Figure(text, rate, "k/s", JSON_LINES))
            for name, text in IN_TWO.items():
                wall = self._least(name, store, _wall) / self._least(f"{name} 2", store, _wall)
                label = f"{store.name}: {text}, wall of one process / of two"
                figures.append(Figure(label, wall, "x", TWO_PROCESSES))
                twice = self._least(f"{name} twice", store, _wall)
                wall = 2 * self._least(name, store, _wall) / twice
                label = f"{store.name}: the same work in two commands at once, to compare"
                figures.append(Figure(label, wall, "x"))
            peak = max(self._least(name, store, _peak) for name in VERBS)
            text = f"{store.name}: most memory of a command"
            figures.append(Figure(text, peak, "MB", MOST_MEMORY, higher=False))
        text = "a key through an index of 20 million entries"
        figures.append(Figure(text, min(self._lookups), "ms", MOST_LOOKUP, higher=False))
        return figures

    def _least(self, name: str, store: Store, measure: Callable[[Spent], float]) -> float:
        return min(map(measure, self._spent[name, store.name]))

    def about(self) -> list[str]:
        """The basis of the figures."""
        return [
            f"{store.name}: {store.size / 1e6:,.0f} MB, {self._messages[store.name]:,} messages of"
            f" {store.size / self._messages[store.name]:.0f} bytes"
            for store in self._stores
        ]


def _cpu(spent: Spent) -> float:
    return spent.cpu


def _wall(spent: Spent) -> float:
    return spent.wall


def _peak(spent: Spent) -> float:
    return spent.peak


def main() -> int:
    """Measure and print; 1 if a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.store",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--log-size",
        type=int,
        default=2,
        metavar="GIB",
        help="of each store: the more, the less the start of commands counts (default: %(default)s)",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / ".cache" / "bench-store",
        help="keeps the stores that Java has written (default: %(default)s)",
    )
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for package in _PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=2)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        java = Java(arguments.folder, Path(scratch), _say, log_size=arguments.log_size)
        stores = [java.store(name) for name in BODIES]
        bench = Bench(java, stores, Path(scratch))
        for number in range(arguments.rounds):
            _say(f"round {number + 1} of {arguments.rounds}")
            bench.round()
        figures = bench.figures()
    print("# rocketwire-store compared with Java's recovery\n")
    for line in (*machine.description(), *bench.about()):
        print(f"- {line}")
    print("", *lines(figures), sep="\n")
    return int(not all(figure.is_held for figure in figures))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

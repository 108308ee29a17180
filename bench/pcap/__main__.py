"""``python -m bench.pcap``: CPU, speed and memory of ``rocketwire-pcap``, compared with tshark and
the generated dissector.

Every round runs everything in turn, because times of different moments are not comparable on a
shared machine; the best round counts. Decoding to columns takes only a second, so it runs several
times in each round. Compressed captures are measured differently, because their figure is a ratio
of two short times and the clock varies by half: each run has a run of the plain capture next to it,
before and after it in turn, and the median of all pairs counts. tshark, with the Lua dissector,
reads the first part of each capture, and its time for the rest is extrapolated; its time grows a
little faster than the capture, so this is in its favour; ``--whole`` gives it the whole capture. A
dissector in C would be faster than one in Lua, and tshark decodes more than frames. Both write
their results: tshark the fields of our columns as text, ours all columns as Parquet and as JSON
lines.

The traffic comes from the tests' second generator, which was not written for the decoder, and from
recorded captures, repeated between other addresses; see ``captures``.
"""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rocketwire
import rocketwire_tools
from bench.namesrv import machine
from bench.pcap.captures import LARGE, PROFILES, RECORDED, Capture, Folder
from bench.pcap.figures import Figure, lines
from bench.pcap.spending import Spent, run
from rocketwire_tools.pcap.dissector.dissector import dissector

if TYPE_CHECKING:
    from collections.abc import Callable

PART: Final = 64 << 20
"""Bytes of a capture that tshark reads."""
TSHARK: Final = shutil.which("tshark")
SPEEDS: Final = {"mixed": 300.0, "chatty": 150.0, "bulk": 650.0}
"""MB/s of one core."""
INFLATED: Final = {"zst": 0.85, "gz": 0.75}
"""Of the speed for the plain capture."""
TIMES_LESS: Final = {"parquet": 18.0, "jsonl": 13.0}
"""CPU of tshark relative to the command, by output format."""
TIMES_FASTER: Final = 30.0
MOST_MEMORY: Final = 256.0
DECODERS: Final = 5
"""Decoders that make columns in a round: a single run of half a second is too short for a good
measurement."""
PAIRS: Final = 7
"""Pairs of runs with a compressed and the plain capture in a round, for each compression."""
_FIELDS: Final = (
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
    "rocketmq.kind",
    "rocketmq.code",
    "rocketmq.code_name",
    "rocketmq.request_code",
    "rocketmq.opaque",
    "rocketmq.flag",
    "rocketmq.language",
    "rocketmq.version",
    "rocketmq.remark",
    "rocketmq.topic",
    "rocketmq.group",
    "rocketmq.queue_id",
    "rocketmq.time",
    "rocketmq.length",
)


@dataclass(slots=True)
class Usage:
    """The cost of a candidate in all rounds.

    Attributes:
        spent: of each round.
        frames: number of decoded frames.
    """

    spent: list[Spent] = field(default_factory=list[Spent])
    frames: int = 0

    @property
    def cpu(self) -> float:
        """The minimum CPU time."""
        return min(spent.cpu for spent in self.spent)

    @property
    def wall(self) -> float:
        """The minimum wall time."""
        return min(spent.wall for spent in self.spent)

    @property
    def peak(self) -> float:
        """The maximum memory."""
        return max(spent.peak for spent in self.spent)


class Bench:
    """Runs everything.

    Args:
        folder: of the captures.
        scratch: a folder for what is written.
        whole_captures: whether tshark reads whole captures.
    """

    def __init__(self, folder: Folder, scratch: Path, *, whole_captures: bool) -> None:
        self.captures = {name: folder.capture(name) for name in (*PROFILES, RECORDED, LARGE)}
        self.parts = {
            name: capture.path if whole_captures else folder.part(capture, PART)
            for name, capture in self.captures.items()
        }
        self.inflated = {
            suffix: folder.compressed(self.captures["mixed"], suffix) for suffix in INFLATED
        }
        self._scratch = scratch
        self._script = scratch / "rocketmq.lua"
        self._script.write_text(dissector(), "utf-8")
        self._nothing = scratch / "nothing.pcap"
        with self.captures["mixed"].path.open("rb") as file:
            self._nothing.write_bytes(file.read(24))
        self.seen: dict[tuple[str, str], Usage] = {}
        self.ratios: dict[str, list[float]] = {suffix: [] for suffix in INFLATED}

    def round(self) -> None:
        """Everything once."""
        for name, capture in self.captures.items():
            if TSHARK is not None:
                self._tshark(name)
            if name != LARGE:
                for _ in range(DECODERS):
                    self._columns("columns", name, capture.path)
                self._decode(name, capture.path, "jsonl")
            self._decode(name, capture.path)
        for suffix in INFLATED:
            for number in range(PAIRS):
                self._pair(suffix, plain_first=number % 2 == 0)
        if TSHARK is not None:
            self._note("tshark", "nothing", run(self._dissect(self._nothing), self._out))

    @property
    def _out(self) -> Path:
        return self._scratch / "out"

    def _note(self, what: str, name: str, spent: Spent) -> Usage:
        usage = self.seen.setdefault((what, name), Usage())
        usage.spent.append(spent)
        return usage

    def _dissect(self, path: Path) -> list[str]:
        fields = [word for name in _FIELDS for word in ("-e", name)]
        return [
            str(TSHARK),
            "-n",
            "-r",
            str(path),
            "-X",
            f"lua_script:{self._script}",
            "-Y",
            "rocketmq",
            "-o",
            "tcp.try_heuristic_first:TRUE",
            "-T",
            "fields",
            *fields,
        ]

    def _tshark(self, name: str) -> None:
        usage = self._note("tshark", name, run(self._dissect(self.parts[name]), self._out))
        with self._out.open("rb") as file:
            lengths = (line.rstrip(b"\n").rpartition(b"\t")[2] for line in file)
            usage.frames = sum(row.count(b",") + 1 for row in lengths if row)

    def _columns(self, what: str, name: str, path: Path) -> Spent:
        run([sys.executable, "-m", "bench.pcap.columns", str(path)], self._out)
        counts: dict[str, Any] = json.loads(self._out.read_text())
        spent = Spent(counts["wall"], counts["cpu"], 0)
        self._note(what, name, spent).frames = counts["frames"]
        return spent

    def _pair(self, suffix: str, *, plain_first: bool) -> None:
        """A compressed capture and the plain one, one right after the other; they count for nothing
        else."""
        both = {"mixed": self.captures["mixed"].path, suffix: self.inflated[suffix]}
        order = list(both) if plain_first else list(reversed(both))
        walls = {name: self._columns("pair", name, both[name]).wall for name in order}
        self.ratios[suffix].append(walls["mixed"] / walls[suffix])

    def _decode(self, name: str, path: Path, form: str = "parquet") -> None:
        target = self._scratch / f"out.{form}"
        command = ["-m", "rocketwire_tools.pcap", "decode", str(path), "-o", str(target)]
        self._note(form, name, run([sys.executable, *command], self._out))

    # ---- the report

    def figures(self) -> list[Figure]:
        """Return the figures."""
        figures: list[Figure] = []
        if TSHARK is not None:
            for name in (*PROFILES, RECORDED):
                for form, times in TIMES_LESS.items():
                    ratio = self._tshark_of(name, _cpu) / self.seen[form, name].cpu
                    text = f"{name}: CPU of tshark / of rocketwire-pcap decode -o FILE.{form}"
                    figures.append(Figure(text, ratio, "x", times if name in PROFILES else None))
        for name in (*PROFILES, RECORDED):
            bound = SPEEDS.get(name)
            speed = self.captures[name].size / 1e6 / self.seen["columns", name].cpu
            figures.append(Figure(f"{name}: decoded to all columns, a core", speed, "MB/s", bound))
            rate = self.seen["columns", name].frames / 1e3 / self.seen["columns", name].cpu
            figures.append(Figure(f"{name}: the same in frames", rate, "k/s"))
        for suffix, bound in INFLATED.items():
            text = f"mixed.pcap.{suffix}: speed / that of the plain capture, wall"
            figures.append(Figure(text, statistics.median(self.ratios[suffix]), "x", bound))
        return figures + self._of_large()

    def _of_large(self) -> list[Figure]:
        single = self.seen["parquet", LARGE]
        size = self.captures[LARGE].size / 1e6
        text = f"{size:,.0f} MB to Parquet"
        figures: list[Figure] = []
        if TSHARK is not None:
            ratio = self._tshark_of(LARGE, _wall) / single.wall
            figures.append(Figure(f"{text}: wall of tshark / of decode", ratio, "x", TIMES_FASTER))
            ratio = self._tshark_of(LARGE, _cpu) / single.cpu
            figures.append(Figure(f"{text}: CPU of tshark / of one process", ratio, "x"))
        return [
            *figures,
            Figure(
                f"{text}: most memory, one process", single.peak, "MB", MOST_MEMORY, higher=False
            ),
            Figure(f"{text}: one process, wall", size / single.wall, "MB/s"),
        ]

    def _tshark_of(self, name: str, measure: Callable[[Usage], float]) -> float:
        """Return the seconds of tshark for a whole capture."""
        start = measure(self.seen["tshark", "nothing"])
        size = self.parts[name].stat().st_size
        per_byte = (measure(self.seen["tshark", name]) - start) / size
        return start + per_byte * self.captures[name].size

    def about(self) -> list[str]:
        """Return the basis of the figures."""
        notes: list[str] = []
        for name, capture in self.captures.items():
            notes.append(f"{name}: {capture.size / 1e6:,.0f} MB; {self._found(name, capture)}")
        for suffix, ratios in self.ratios.items():
            frames = self.seen["pair", suffix].frames
            text = f"{len(ratios)} pairs, from {min(ratios):.2f} to {max(ratios):.2f} x"
            notes.append(f"mixed.pcap.{suffix}: found {frames:,} frames; {text}")
        return notes

    def _found(self, name: str, capture: Capture) -> str:
        parts: list[str] = []
        if (usage := self.seen.get(("columns", name))) is not None:
            bounds = capture.frames
            total = "" if bounds is None else f" of {bounds[0]:,} to {bounds[1]:,}"
            parts.append(f"found {usage.frames:,}{total} frames")
        parts += [
            f"{form} {usage.cpu:.2f} s CPU"
            for form in TIMES_LESS
            if (usage := self.seen.get((form, name))) is not None
        ]
        if (usage := self.seen.get(("tshark", name))) is not None:
            size = self.parts[name].stat().st_size / 1e6
            parts.append(
                f"tshark {usage.cpu:.1f} s CPU for {size:,.0f} MB, {usage.frames:,} frames"
            )
        return ", ".join(parts)


def _cpu(usage: Usage) -> float:
    return usage.cpu


def _wall(usage: Usage) -> float:
    return usage.wall


def main() -> int:
    """Measure and print; 1 if a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pcap",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="tshark reads whole captures")
    arguments = parser.parse_args()
    _compile()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Folder(_say), Path(scratch), whole_captures=arguments.whole)
        for number in range(arguments.rounds):
            _say(f"round {number + 1} of {arguments.rounds}")
            bench.round()
        figures = bench.figures()
        print("# rocketwire-pcap compared with tshark\n")
        for line in (*machine.description(), *bench.about()):
            print(f"- {line}")
        print("", *lines(figures), sep="\n")
        if TSHARK is None:
            print("tshark is not installed: nothing was compared with it")
    return int(not all(figure.is_held for figure in figures))


def _compile() -> None:
    """Compile the byte code, as in an installed package: with ``PYTHONDONTWRITEBYTECODE`` a work
    tree has none, and each process would compile its imports."""
    for package in (rocketwire, rocketwire_tools):
        for folder in package.__path__:
            compileall.compile_dir(folder, quiet=2)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

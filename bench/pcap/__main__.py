"""``python -m bench.pcap``: CPU, speed and memory of ``rocketwire-pcap`` beside tshark with the dissector that it makes.

All rounds do everything in turn, since figures of different moments cannot be compared on a machine that does other things too;
of each the best round counts.  Columns alone, of which a decoder takes a second, are made several times in each.  Compressed
captures are the exception, since what is told of them is a ratio of two short times: the bests of both come from different
moments of a clock that swings by half, and so say as much of luck as of the decoder.  Each run has one of the plain capture right
beside it, before and after it in turn, and the median of all pairs counts: no pair is chosen, and what disturbs either run is as
likely to disturb the other.  tshark, with the Lua dissector, gets the first part of each capture, and what it takes for the rest
is extrapolated: its time grows a little faster than the capture, so that is in its favour; ``--whole`` gives it all of it.
Two things should be known of the comparison: a dissector in C would be quicker than one in Lua, and tshark decodes far more than
frames.  Both write what they find: tshark the fields that are our columns as text, ours all columns as Parquet and as JSON
lines.

The traffic is that of the tests' second generator, which was not written for the decoder, and of recorded captures that are
repeated between other ends; see ``captures``.
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
"""Bytes of a capture that tshark gets."""
TSHARK: Final = shutil.which("tshark")
SPEEDS: Final = {"mixed": 300.0, "chatty": 150.0, "bulk": 650.0}
"""MB/s of one core."""
INFLATED: Final = {"zst": 0.85, "gz": 0.75}
"""Of the speed for the plain capture."""
TIMES_LESS: Final = {"parquet": 18.0, "jsonl": 13.0}
"""CPU of tshark, of that of the command, by what it writes."""
TIMES_FASTER: Final = 30.0
MOST_MEMORY: Final = 256.0
DECODERS: Final = 5
"""Decoders that make columns in a round: what takes half a second is measured no better than the machine runs in that half second."""
PAIRS: Final = 7
"""Times that a compressed capture and the plain one are decoded side by side in a round, for each way to compress."""
_FIELDS: Final = (
    "frame.time_epoch", "ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport", "rocketmq.kind",
    "rocketmq.code", "rocketmq.code_name", "rocketmq.request_code", "rocketmq.opaque", "rocketmq.flag", "rocketmq.language",
    "rocketmq.version", "rocketmq.remark", "rocketmq.topic", "rocketmq.group", "rocketmq.queue_id", "rocketmq.time",
    "rocketmq.length",
)  # fmt: skip


@dataclass(slots=True)
class Seen:
    """What one candidate took in all rounds.

    Attributes:
        spent: of each round.
        frames: that it found.
    """

    spent: list[Spent] = field(default_factory=list[Spent])
    frames: int = 0

    @property
    def cpu(self) -> float:
        """The least CPU time."""
        return min(one.cpu for one in self.spent)

    @property
    def wall(self) -> float:
        """The least wall time."""
        return min(one.wall for one in self.spent)

    @property
    def peak(self) -> float:
        """The most memory."""
        return max(one.peak for one in self.spent)


class Bench:
    """Runs everything.

    Args:
        folder: of the captures.
        scratch: a folder for what is written.
        whole: whether tshark gets whole captures.
    """

    def __init__(self, folder: Folder, scratch: Path, *, whole: bool) -> None:
        self.captures = {name: folder.capture(name) for name in (*PROFILES, RECORDED, LARGE)}
        self.parts = {
            name: one.path if whole else folder.part(one, PART)
            for name, one in self.captures.items()
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
        self.seen: dict[tuple[str, str], Seen] = {}
        self.ratios: dict[str, list[float]] = {suffix: [] for suffix in INFLATED}

    def round(self) -> None:
        """Everything once."""
        for name, capture in self.captures.items():
            if TSHARK is not None:
                self._tshark(name)
            if name != LARGE:
                for _ in range(DECODERS):
                    self._columns("columns", name, capture.path)
                self._decode(name, capture.path, "1", "jsonl")
            self._decode(name, capture.path, "1")
        self._decode(LARGE, self.captures[LARGE].path, "2")
        for suffix in INFLATED:
            for number in range(PAIRS):
                self._pair(suffix, plain_first=number % 2 == 0)
        if TSHARK is not None:
            self._note("tshark", "nothing", run(self._dissect(self._nothing), self._out))

    @property
    def _out(self) -> Path:
        return self._scratch / "out"

    def _note(self, what: str, name: str, spent: Spent) -> Seen:
        seen = self.seen.setdefault((what, name), Seen())
        seen.spent.append(spent)
        return seen

    def _dissect(self, path: Path) -> list[str]:
        fields = [word for name in _FIELDS for word in ("-e", name)]
        return [
            str(TSHARK), "-n", "-r", str(path), "-X", f"lua_script:{self._script}", "-Y", "rocketmq",
            "-o", "tcp.try_heuristic_first:TRUE", "-T", "fields", *fields,
        ]  # fmt: skip

    def _tshark(self, name: str) -> None:
        seen = self._note("tshark", name, run(self._dissect(self.parts[name]), self._out))
        with self._out.open("rb") as file:
            lengths = (line.rstrip(b"\n").rpartition(b"\t")[2] for line in file)
            seen.frames = sum(one.count(b",") + 1 for one in lengths if one)

    def _columns(self, what: str, name: str, path: Path) -> Spent:
        run([sys.executable, "-m", "bench.pcap.columns", str(path)], self._out)
        said: dict[str, Any] = json.loads(self._out.read_text())
        spent = Spent(said["wall"], said["cpu"], 0)
        self._note(what, name, spent).frames = said["frames"]
        return spent

    def _pair(self, suffix: str, *, plain_first: bool) -> None:
        """A compressed capture and the plain one, one right after the other; they count for nothing else."""
        both = {"mixed": self.captures["mixed"].path, suffix: self.inflated[suffix]}
        order = list(both) if plain_first else list(reversed(both))
        walls = {name: self._columns("pair", name, both[name]).wall for name in order}
        self.ratios[suffix].append(walls["mixed"] / walls[suffix])

    def _decode(self, name: str, path: Path, jobs: str, form: str = "parquet") -> None:
        target = self._scratch / f"out.{form}"
        command = ["-m", "rocketwire_tools.pcap", "decode", str(path), "-o", str(target)]
        spent = run([sys.executable, *command, "--jobs", jobs], self._out)
        self._note(f"{form} {jobs}", name, spent)

    # ---- the report

    def figures(self) -> list[Figure]:
        """What was measured."""
        made: list[Figure] = []
        if TSHARK is not None:
            for name in (*PROFILES, RECORDED):
                for form, times in TIMES_LESS.items():
                    ratio = self._tshark_of(name, _cpu) / self.seen[f"{form} 1", name].cpu
                    text = f"{name}: CPU of tshark / of rocketwire-pcap decode -o FILE.{form}"
                    made.append(Figure(text, ratio, "x", times if name in PROFILES else None))
        for name in (*PROFILES, RECORDED):
            bound = SPEEDS.get(name)
            speed = self.captures[name].size / 1e6 / self.seen["columns", name].cpu
            made.append(Figure(f"{name}: decoded to all columns, a core", speed, "MB/s", bound))
            each = self.seen["columns", name].frames / 1e3 / self.seen["columns", name].cpu
            made.append(Figure(f"{name}: the same in frames", each, "k/s"))
        for suffix, bound in INFLATED.items():
            text = f"mixed.pcap.{suffix}: speed / that of the plain capture, wall"
            made.append(Figure(text, statistics.median(self.ratios[suffix]), "x", bound))
        return made + self._of_large()

    def _of_large(self) -> list[Figure]:
        alone, jobs = self.seen["parquet 1", LARGE], self.seen["parquet 2", LARGE]
        size = self.captures[LARGE].size / 1e6
        text = f"{size:,.0f} MB to Parquet"
        made: list[Figure] = []
        if TSHARK is not None:
            ratio = self._tshark_of(LARGE, _wall) / jobs.wall
            made.append(Figure(f"{text}: wall of tshark / of --jobs 2", ratio, "x", TIMES_FASTER))
            ratio = self._tshark_of(LARGE, _cpu) / alone.cpu
            made.append(Figure(f"{text}: CPU of tshark / of one process", ratio, "x"))
        return [
            *made,
            Figure(
                f"{text}: most memory, one process", alone.peak, "MB", MOST_MEMORY, higher=False
            ),
            Figure(f"{text}: most memory, the largest of --jobs 2", jobs.peak, "MB"),
            Figure(f"{text}: one process, wall", size / alone.wall, "MB/s"),
            Figure(f"{text}: --jobs 2, wall", size / jobs.wall, "MB/s"),
            Figure(f"{text}: wall of one process / of --jobs 2", alone.wall / jobs.wall, "x"),
            Figure(f"{text}: CPU of --jobs 2 / of one process", jobs.cpu / alone.cpu, "x"),
        ]

    def _tshark_of(self, name: str, of: Callable[[Seen], float]) -> float:
        """Seconds that tshark takes for a whole capture."""
        start = of(self.seen["tshark", "nothing"])
        size = self.parts[name].stat().st_size
        per_byte = (of(self.seen["tshark", name]) - start) / size
        return start + per_byte * self.captures[name].size

    def about(self) -> list[str]:
        """What the figures are made of."""
        made: list[str] = []
        for name, capture in self.captures.items():
            made.append(f"{name}: {capture.size / 1e6:,.0f} MB; {self._found(name, capture)}")
        for suffix, ratios in self.ratios.items():
            found = self.seen["pair", suffix].frames
            text = f"{len(ratios)} pairs, from {min(ratios):.2f} to {max(ratios):.2f} x"
            made.append(f"mixed.pcap.{suffix}: found {found:,} frames; {text}")
        return made

    def _found(self, name: str, capture: Capture) -> str:
        parts: list[str] = []
        if (seen := self.seen.get(("columns", name))) is not None:
            of = "" if capture.frames is None else " of {:,} to {:,}".format(*capture.frames)
            parts.append(f"found {seen.frames:,}{of} frames")
        parts += [
            f"{form} {seen.cpu:.2f} s CPU"
            for form in TIMES_LESS
            if (seen := self.seen.get((f"{form} 1", name))) is not None
        ]
        if (seen := self.seen.get(("tshark", name))) is not None:
            size = self.parts[name].stat().st_size / 1e6
            parts.append(f"tshark {seen.cpu:.1f} s CPU for {size:,.0f} MB, {seen.frames:,} frames")
        return ", ".join(parts)


def _cpu(seen: Seen) -> float:
    return seen.cpu


def _wall(seen: Seen) -> float:
    return seen.wall


def main() -> int:
    """Measure and print; 1 if a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pcap",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="tshark gets whole captures")
    arguments = parser.parse_args()
    _compile()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Folder(_say), Path(scratch), whole=arguments.whole)
        for number in range(arguments.rounds):
            _say(f"round {number + 1} of {arguments.rounds}")
            bench.round()
        figures = bench.figures()
        print("# rocketwire-pcap beside tshark\n")
        for line in (*machine.description(), *bench.about()):
            print(f"- {line}")
        print("", *lines(figures), sep="\n")
        if TSHARK is None:
            print("tshark is not installed: nothing was compared with it")
    return int(not all(one.is_held for one in figures))


def _compile() -> None:
    """Make the byte code that every installed package has: a work tree has none where Python is told to write none
    (``PYTHONDONTWRITEBYTECODE``), and each process would compile all it imports."""
    for package in (rocketwire, rocketwire_tools):
        for folder in package.__path__:
            compileall.compile_dir(folder, quiet=2)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

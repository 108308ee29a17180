"""``python -m bench.pcap``: CPU, speed and memory of ``rocketwire-pcap`` and tshark.

Every round runs everything in turn, because times of different moments are not comparable on a
shared machine. tshark, with the generated Lua dissector, reads the first part of each capture, and
its time for the rest is extrapolated; its time grows a little faster than the capture, so this is
in its favour. ``--whole`` gives it the whole capture. A dissector in C would be faster than one in
Lua, and tshark decodes more than frames. Both write their results: tshark the fields of our columns
as text, ours all columns as Parquet and as JSON lines.

The traffic comes from the tests' generator, which was not written for the decoder, and from
recorded captures, repeated between other addresses; see ``captures``.
"""

from __future__ import annotations

import argparse
import compileall
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import rocketwire
import rocketwire_tools
from bench import machine
from bench.pcap.captures import LARGE, PROFILES, RECORDED, Folder
from bench.spending import Spent, run
from bench.table import Table
from rocketwire_tools.pcap.dissector.dissector import dissector

PART: Final = 64 << 20
"""Bytes of a capture that tshark reads."""
TSHARK: Final = shutil.which("tshark")
FORMATS: Final = ("parquet", "jsonl")
COMPRESSIONS: Final = ("zst", "gz")
_FIELDS: Final = (
    *("frame.time_epoch", "ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport"),
    *("rocketmq.kind", "rocketmq.code", "rocketmq.code_name", "rocketmq.request_code"),
    *("rocketmq.opaque", "rocketmq.flag", "rocketmq.language", "rocketmq.version"),
    *("rocketmq.remark", "rocketmq.topic", "rocketmq.group", "rocketmq.queue_id"),
    *("rocketmq.time", "rocketmq.length"),
)


class Bench:
    def __init__(self, scratch: Path, *, whole_captures: bool) -> None:
        folder = Folder(_say)
        self._captures = {name: folder.capture(name) for name in (*PROFILES, RECORDED, LARGE)}
        self._parts = {
            name: capture if whole_captures else folder.part(capture, PART)
            for name, capture in self._captures.items()
        }
        mixed = self._captures["mixed"]
        self._compressed = {suffix: folder.compress(mixed, suffix) for suffix in COMPRESSIONS}
        self._scratch = scratch
        self._script = scratch / "rocketmq.lua"
        self._script.write_text(dissector(), "utf-8")
        self._nothing = scratch / "nothing.pcap"
        with mixed.open("rb") as file:
            self._nothing.write_bytes(file.read(24))
        self.cpu = Table(("ours", "tshark"), "ours")
        self.ours = Table(("ours",), "ours")

    def round(self) -> None:
        start = self._dissect(self._nothing) if TSHARK else 0.0
        for name, capture in self._captures.items():
            size = capture.stat().st_size
            for form in FORMATS if name != LARGE else FORMATS[:1]:
                spent = self._decode(capture, form)
                row = f"{name}, {size / 1e6:,.0f} MB, to {form}: CPU s"
                self.cpu.add(row, "ours", spent.cpu)
                self.ours.add(f"{name} to {form}: MB/CPU s", "ours", size / 1e6 / spent.cpu)
                self.ours.add(f"{name} to {form}: most memory, MiB", "ours", spent.peak)
                if TSHARK:
                    part = self._parts[name]
                    per_byte = (self._dissect(part) - start) / part.stat().st_size
                    self.cpu.add(row, "tshark", start + per_byte * size)
        for suffix, path in self._compressed.items():
            plain = self._decode(self._captures["mixed"], "parquet")
            ratio = self._decode(path, "parquet").wall / plain.wall
            self.ours.add(f"mixed.{suffix} to parquet: wall / that of plain", "ours", ratio)

    def _dissect(self, path: Path) -> float:
        words = [str(TSHARK), "-n", "-r", str(path), "-X", f"lua_script:{self._script}"]
        words += ["-Y", "rocketmq", "-o", "tcp.try_heuristic_first:TRUE", "-T", "fields"]
        words += [word for name in _FIELDS for word in ("-e", name)]
        return run(words, self._scratch / "out").cpu

    def _decode(self, path: Path, form: str) -> Spent:
        target = str(self._scratch / f"out.{form}")
        command = [sys.executable, "-m", "rocketwire_tools.pcap", "decode", str(path), "-o", target]
        return run(command, self._scratch / "out")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pcap",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="tshark reads whole captures")
    options = parser.parse_args()
    for package in (rocketwire, rocketwire_tools):  # as in an installed package
        for folder in package.__path__:
            compileall.compile_dir(folder, quiet=2)
    print(machine.describe())
    if TSHARK is None:
        print("tshark is not installed: nothing is compared with it")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), whole_captures=options.whole)
        for number in range(options.rounds):
            _say(f"round {number + 1} of {options.rounds}")
            bench.round()
    bench.cpu.print()
    bench.ours.print()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""``python -m bench.pcap.fast_paths``: the gain of each fast path of the capture decoder.

Each variant takes one fast path away and decodes a part of each capture in a process of its own.
All variants run in turn in each round. The least CPU time of a variant counts, relative to that of
the decoder as it is. ``docs/decisions`` has a page for each fast path.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bench.pcap.captures import PROFILES, RECORDED, Folder
from rocketwire_tools import memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.streams.chunk import Chunk

PART: Final = 64 << 20
"""Bytes of each capture that are decoded."""


def _nothing() -> None:
    """Take nothing away."""


def _ignore(*_: int) -> None:
    """Do nothing, for any numbers."""


def _replace(owner: object, name: str, value: object) -> None:
    """Set an attribute of a module or class that type checkers take for constant."""
    setattr(owner, name, value)


def _ordering() -> None:
    """Process streams with reordered or repeated segments one by one."""
    from rocketwire_tools.pcap.streams import chunk

    def take_ordered(self: Chunk, ready: Any, expected: Any, _: int) -> tuple[Chunk, Chunk]:
        ordered = ready & self.are_in_order() & (self.sequence[self.low] == expected)
        return self.part(self.members(ordered)), self.part(self.members(~ordered))

    _replace(chunk.Chunk, "put_in_order", take_ordered)


def _control_segments() -> None:
    """Process SYN, FIN and RST one by one."""
    from rocketwire_tools.pcap.streams import flows

    def keep(chunk: Chunk, _: Any) -> Chunk:
        return chunk

    _replace(flows, "without_control_segments", keep)


def _rocketmq_headers() -> None:
    """Read ROCKETMQ headers one by one."""
    from rocketwire_tools.pcap.headers import headers

    _replace(headers, "_FEW", 1 << 60)


def _memory() -> None:
    """Leave memory to Python and glibc; threads for linear algebra are not started."""
    for name in ("_keep_freed_memory", "_use_large_pages"):
        _replace(memory, name, _nothing)
    _replace(gc, "freeze", _nothing)
    _replace(gc, "set_threshold", _ignore)


def _json_lines_written() -> None:
    """Write JSON lines row by row."""
    from rocketwire_tools.pcap.rows import json_rows

    _replace(json_rows, "_FEW", 1 << 60)


VARIANTS: Final[dict[str, Callable[[], None]]] = {
    "as it is": _nothing,
    "vectorised cutter": _nothing,  # Options.careful
    "ordering": _ordering,
    "control segments": _control_segments,
    "ROCKETMQ headers": _rocketmq_headers,
    "memory": _memory,
    "JSON rows by column": _json_lines_written,
}


def _run(variant: str, path: str) -> None:
    """Decode a capture without a fast path, and print the CPU seconds of columns and of lines."""
    if variant == "memory":
        _memory()
    memory.prepare_process()
    from rocketwire_tools.pcap.decode.decoder import Decoder, Options
    from rocketwire_tools.pcap.rows.json_rows import JsonRows
    from rocketwire_tools.pcap.rows.rows import COLUMNS, schema

    if variant != "memory":
        VARIANTS[variant]()
    if variant == "vectorised cutter":
        decoder = Decoder(path, replace(Options(), careful=True))
    else:
        decoder = Decoder(path)
    rows = JsonRows(schema(tuple(COLUMNS)))
    lines_cpu, start = 0.0, time.process_time()
    for batch in decoder:
        before = time.process_time()
        if variant in ("as it is", "JSON rows by column"):
            for _ in rows.lines(batch):
                pass
        lines_cpu += time.process_time() - before
    columns_cpu = time.process_time() - start - lines_cpu
    print(json.dumps({"columns": columns_cpu, "lines": lines_cpu}))


def main() -> None:
    """Measure all variants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--run", nargs=2, metavar=("VARIANT", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        _run(*arguments.run)
        return
    folder = Folder(print)
    binary = replace(PROFILES["chatty"], connections=300, frames=60_000, binary=1.0)
    names = (*PROFILES, RECORDED)
    paths = {name: str(folder.part(folder.capture(name), PART)) for name in names}
    paths["binary"] = str(folder.skewed(binary))
    best: dict[tuple[str, str], dict[str, float]] = {}
    for _ in range(arguments.rounds):
        for name, path in paths.items():
            for variant in VARIANTS:
                command = [sys.executable, "-m", "bench.pcap.fast_paths", "--run", variant, path]
                output = subprocess.run(command, capture_output=True, check=True).stdout
                spent: dict[str, float] = json.loads(output)
                old = best.setdefault((name, variant), spent)
                best[name, variant] = {key: min(old[key], spent[key]) for key in spent}
    print(f"{'without':24}", *(f"{name:>9}" for name in paths))
    for variant in VARIANTS:
        key = "lines" if variant == "JSON rows by column" else "columns"
        ratios = [best[name, variant][key] / best[name, "as it is"][key] for name in paths]
        print(f"{variant:24}", *(f"{ratio:9.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()

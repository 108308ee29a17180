"""Compare ``rocketwire-store`` with Java's recovery: ``python -m bench.store [--rounds 3] [--log-size 2]``.

Java's own message store writes two logs, A with messages of 1.2 KB and B of 330 bytes. Each round
runs the commands and ``DefaultMessageStore.load`` of a copy of the log, as after a kill: it checks
each message and builds queues and index. CPU is that of the whole command, its start included; cells
are medians of the rounds.
"""

from __future__ import annotations

import argparse
import compileall
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench import machine
from bench.programs import compile_java, java_command
from bench.spending import Spent, run
from bench.table import Table
from tests.peers.cache import ROOT

BODIES: Final = {"A": 1000, "B": 130}
"""Name of a store → bytes of a body; its messages have some 200 more."""
KEPT: Final = ROOT / ".cache" / "bench-store"
"""The stores that Java has written."""
CHECK: Final = "check"
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    CHECK: ("check",),
    "stat by topic": ("stat", "--by", "topic"),
    "messages with a key, without an index": ("messages", "--json", "--key", "no-such-key"),
    "export to Parquet with bodies": ("export", "-o", "OUT.parquet"),
    "export to JSON lines with bodies": ("export", "-o", "OUT.jsonl"),
}


def store_of_java(java: list[str], name: str, log_size: int) -> tuple[Path, int]:
    """A store, which Java writes if it is not kept, and the bytes of its messages."""
    root = KEPT / f"{name}-{log_size}"
    size = root.with_name(f"{root.name}.size")
    if not size.exists():
        print(f"Java writes store {name}", file=sys.stderr)
        shutil.rmtree(root, ignore_errors=True)
        words = ["write", str(root), str(BODIES[name]), str(log_size << 30)]
        output = subprocess.run(
            [*java, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout
        size.write_text(output.split()[0])
    return root, int(size.read_text())


def recover(java: list[str], root: Path, scratch: Path) -> Spent:
    copy = scratch / "store"
    shutil.copytree(root / "commitlog", copy / "commitlog")
    (copy / "abort").touch()
    spent = run([*java, "load", str(copy)], scratch / "out")
    shutil.rmtree(copy)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.store", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--log-size",
        type=int,
        default=2,
        metavar="GIB",
        help="of each store: the more, the less the start of commands counts",
    )
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    for package in ("rocketwire", "tools"):  # as in an installed package
        compileall.compile_dir(ROOT / package, quiet=2)
    print(machine.describe())
    table = Table(("ours", "Java's recovery"), "ours")
    with tempfile.TemporaryDirectory(dir=KEPT) as name:
        scratch = Path(name)
        compile_java(scratch, "StoreBench")
        java = java_command(scratch, "StoreBench", options=["-Xmx1g", "-XX:+UseSerialGC"])
        stores = {name: store_of_java(java, name, options.log_size) for name in BODIES}
        for _ in range(options.rounds):
            for name, (root, size) in stores.items():
                for text, words in COMMANDS.items():
                    command = [word.replace("OUT", f"{scratch}/out") for word in words]
                    ours = [sys.executable, "-m", "rocketwire_tools.store", *command, str(root)]
                    spent = run(ours, scratch / "output")
                    row = f"{name}, {size / 1e6:,.0f} MB, {text}"
                    table.add(f"{row}: CPU s", "ours", spent.cpu)
                    if text == CHECK:
                        java_cpu = recover(java, root, scratch).cpu
                        table.add(f"{row}: CPU s", "Java's recovery", java_cpu)
                    table.add(f"{row}: most memory, MiB", "ours", spent.peak)
                    for file in scratch.glob("out.*"):
                        file.unlink()
    table.print()


if __name__ == "__main__":
    main()

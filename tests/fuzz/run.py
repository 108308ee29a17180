"""Coverage-guided fuzzing with atheris: ``python -m tests.fuzz.run --seconds 60 [TARGET...]``.

Each target runs in a process of its own, from the seeds of its module and of earlier runs, and ends
after its time or at the first input that breaks the invariant: any bytes give values or a
``DecodeError``, nothing else, and never more memory than the limit.  The input is left in
``.cache/fuzz``.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "fuzz"
TARGETS = tuple(
    sorted(path.stem.removeprefix("fuzz_") for path in Path(__file__).parent.glob("fuzz_*.py"))
)

LARGEST_INPUT = 1 << 14
LARGEST_ALLOCATION_MB = 32
"""Of one piece; the limits of every target stay far below."""
RESIDENT_MB = 512


class Target(Protocol):
    """What a ``fuzz_*`` module offers."""

    def read(self, data: bytes) -> None:
        """Breaks, or gives nothing or a ``DecodeError``."""
        ...

    def start(self) -> list[bytes]:
        """Seeds."""
        ...


def target(name: str) -> Target:
    """The module of a target."""
    return cast("Target", importlib.import_module(f"tests.fuzz.fuzz_{name}"))


def fuzz(name: str, seconds: int) -> None:
    """Fuzzes one target in this process; does not return."""
    atheris = cast("Any", importlib.import_module("atheris"))
    corpus = CACHE / name
    corpus.mkdir(parents=True, exist_ok=True)
    with atheris.instrument_imports(
        include=["rocketwire", "rocketwire_broker", "rocketwire_namesrv", "rocketwire_tools"]
    ):
        module = target(name)
    from rocketwire.errors import DecodeError

    for seed in module.start():
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def once(data: bytes) -> None:
        try:
            module.read(data)
        except DecodeError:
            return

    options = (
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST_INPUT}",
        f"-malloc_limit_mb={LARGEST_ALLOCATION_MB}",
        f"-rss_limit_mb={RESIDENT_MB}",
        "-timeout=5",
        "-print_final_stats=1",
        "-verbosity=0",
        f"-artifact_prefix={CACHE}/{name}-",
    )
    atheris.Setup([sys.argv[0], *options, str(corpus)], once)
    atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if chosen.alone:
        fuzz(chosen.targets[0], chosen.seconds)
    broken: list[str] = []
    for name in chosen.targets or TARGETS:
        command = (
            sys.executable,
            "-m",
            "tests.fuzz.run",
            "--alone",
            "--seconds",
            str(chosen.seconds),
            name,
        )
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
        )
        facts = [
            line
            for line in done.stderr.splitlines()
            if "number_of_executed" in line or "peak_rss" in line
        ]
        sys.stdout.write(
            f"{name}: {'ok' if done.returncode == 0 else 'BROKEN'} {' '.join(' '.join(facts).split())}\n"
        )
        if done.returncode != 0:
            broken.append(name)
            sys.stdout.write(done.stdout[-2000:] + done.stderr[-4000:] + "\n")
        sys.stdout.flush()
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

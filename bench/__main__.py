"""Everything that is measured here: ``python -m bench [--write FILE]`` runs ``bench.namesrv``,
``bench.codec`` and ``bench.client``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run all, one after the other, and write one report."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report there as well")
    options, remaining = parser.parse_known_args()
    codec = _lines("bench.codec")
    server = _lines("bench.namesrv", *remaining)
    client = _lines("bench.client")
    report = "\n".join(
        [
            *server,
            "",
            "# Performance of the codec",
            "",
            "`python -m bench.codec`",
            "",
            "```text",
            *codec,
            "```",
            "",
            "# Performance of the clients",
            "",
            "`python -m bench.client`",
            "",
            "```text",
            *client,
            "```",
            "",
        ]
    )
    print(report)
    if options.write is not None:
        options.write.write_text(report)


def _lines(module: str, *options: str) -> list[str]:
    """Return the output of a benchmark; its progress goes to the terminal."""
    completed = subprocess.run(
        [sys.executable, "-m", module, *options], stdout=subprocess.PIPE, text=True, check=True
    )
    return completed.stdout.rstrip("\n").split("\n")


if __name__ == "__main__":
    main()

"""``python -m tests.chaos.dying FOLDER``: saves some KV tables, and is killed at each step of that in turn.

For every point a child is forked that is killed there.  One line of JSON each says where it died, and how many of its saves had
returned before; ``FOLDER/<number>`` is what it left.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from rocketwire_namesrv.runtime import storage
from tests.chaos.failpoints import Countdown, die, failpoints

TABLES = tuple(
    {"ns": {f"key-{number}": "value " * 200 for number in range(count)}} for count in range(4)
)
"""What is saved one after the other; the first is there from the beginning."""


def _life(folder: Path, number: int, report: int) -> None:
    """Saves all tables, or dies at a point."""

    def last_words(text: str) -> None:
        os.write(report, f"{text}\n".encode())
        die(text)

    path = str(folder / "kvConfig.json")
    with failpoints(Countdown(number, last_words)):
        for table in TABLES[1:]:
            storage.save(path, storage.kv_document(table))
            os.write(report, b"saved\n")
    os.write(report, b"all\n")


def main(folder: Path) -> None:
    """Lets a child die at each point, until one lives through them all."""
    number, lines = 0, [""]
    while lines[-1:] != ["all"]:
        number += 1
        own = folder / str(number)
        own.mkdir()
        storage.save(str(own / "kvConfig.json"), storage.kv_document(TABLES[0]))
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _life(own, number, writing)
            os._exit(0)
        os.close(writing)
        with open(reading) as told:
            lines = told.read().splitlines()
        os.waitpid(child, 0)
        report = {"number": number, "point": lines[-1], "saved": lines.count("saved")}
        sys.stdout.write(f"{json.dumps(report)}\n")
        sys.stdout.flush()  # a fork would take along what is not written yet


if __name__ == "__main__":
    main(Path(sys.argv[1]))

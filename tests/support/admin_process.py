"""The program as a process of its own, with real pipes and signals."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.support.admin_in_process import VARIABLES

SECONDS = 300
PROCESSES: list[subprocess.Popen[bytes]] = []
"""Processes of the running test."""


class Done(NamedTuple):
    status: int
    out: bytes
    complaint: str  # standard error

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def rows(self) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = json.loads(self.out)
        return result


def begin(
    *arguments: str, home: Path | None = None, stdin: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment = kept | {"XDG_CONFIG_HOME": "nowhere"} | ({"HOME": str(home)} if home else {})
    process = subprocess.Popen(
        [sys.executable, "-m", "rocketwire_tools.admin", *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    PROCESSES.append(process)
    return process


def kill_all() -> None:
    for process in PROCESSES:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    PROCESSES.clear()


def end(process: subprocess.Popen[bytes], stdin: bytes | None = None) -> Done:
    try:
        out, complaint = process.communicate(stdin, timeout=SECONDS)
    finally:
        process.kill()
    return Done(process.returncode, out, complaint.decode())


def run(*arguments: str, given: bytes | None = None, home: Path | None = None) -> Done:
    return end(begin(*arguments, home=home), given)

"""A shell in which the commands of a page run, one block after the other."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

TIMEOUT_S = 150
# The exit status of commands that have not ended in time, as of ``timeout``.
TIMED_OUT = 124

_SCRIPT = """
set -eo pipefail
if [ -e "$PAGE_STATE" ]; then . "$PAGE_STATE"; fi
trap 'echo "$BASH_COMMAND" > "$PAGE_STATE.failed"' ERR
{command}
trap - ERR
{{ export -p; printf 'cd %q\\n' "$PWD"; }} > "$PAGE_STATE"
"""


@dataclass(frozen=True)
class Ended:
    status: int  #: exit status
    output: str  #: both outputs, as a terminal shows them
    failed: str = ""  #: the command that failed, if it was one of the shell's


class Shell:
    """Commands in one folder.  Variables and the working folder stay from one to the next.

    Args:
        folder: where the commands run; also the home folder.
        environment: of the commands.
        scratch: a folder for the state of the shell and for outputs.
    """

    def __init__(self, folder: Path, environment: dict[str, str], scratch: Path) -> None:
        self._folder = folder
        self._environment = {**environment, "PAGE_STATE": str(scratch / "state")}
        self._output = scratch / "background"
        self._background: subprocess.Popen[bytes] | None = None

    def run(self, command: str) -> Ended:
        running = self._popen(command, subprocess.PIPE)
        try:
            output, _ = running.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            output, _ = running.communicate()
            return Ended(TIMED_OUT, output.decode())
        return Ended(running.returncode, output.decode(), self._describe_failure())

    def start(self, command: str, ready: str) -> Ended:
        """Start commands that keep running, and wait until they print a text.

        Commands that were started before are interrupted.  The status is 0 if the text came.
        """
        self.interrupt()
        with self._output.open("wb") as output:
            self._background = self._popen(command, output)
        end = time.monotonic() + TIMEOUT_S
        while self._background.poll() is None and time.monotonic() < end:
            if ready in self.printed:
                return Ended(0, self.printed)
            time.sleep(0.05)
        return Ended(self._background.poll() or 1, self.printed)

    def _popen(self, command: str, output: int | BinaryIO) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["bash", "-c", _SCRIPT.format(command=command)],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _describe_failure(self) -> str:
        path = Path(f"{self._environment['PAGE_STATE']}.failed")
        text = path.read_text("utf-8") if path.exists() else ""
        path.unlink(missing_ok=True)
        return text

    @property
    def printed(self) -> str:
        return self._output.read_text("utf-8") if self._output.exists() else ""

    def interrupt(self) -> None:
        running, self._background = self._background, None
        if running is None:
            return
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(running.pid, signal.SIGINT)
            running.wait(30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)  # also what has ignored the interrupt
        running.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.interrupt()

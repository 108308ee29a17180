"""Programs of ours as processes of their own, for tests that kill them."""

import select
import sys
from pathlib import Path
from typing import Self

from tests.peers.processes import START_SECONDS, Child, PeerFailedError

ROOT = Path(__file__).parents[2]


class OurProgram:
    def __init__(self, folder: Path, module: str, *words: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        paths = ":".join(map(str, (ROOT, ROOT / "namesrv", ROOT / "tools")))
        command = [sys.executable, "-m", module, *map(str, words)]
        self._child = Child("ours", command, folder, environment={"PYTHONPATH": paths}, piped=True)

    def line(self, seconds: float = START_SECONDS) -> str:
        stdout = self._child.process.stdout
        if stdout is None or not select.select([stdout], [], [], seconds)[0]:
            raise PeerFailedError(f"no line in {seconds} s: {self._child.output[-2000:]}")
        result = stdout.readline().decode().strip()
        if not result:
            raise PeerFailedError(f"it ended: {self._child.output[-2000:]}")
        return result

    def kill(self) -> None:
        self._child.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()

"""``python -m tests.peers.pages PAGE...``: run pages whose readers have a cluster, with a Java broker.

The name server is ours.  Everything has the default ports, so this runs in a network namespace.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from publishing.pages import namespace, readers
from tests.peers.cluster import BROKER, ROOM
from tests.peers.peers import JavaBroker

INSIDE = "ROCKETWIRE_PAGES_ALONE"
NAME_SERVER = 9876
OPTIONS = {"transactionTimeOut": 2000, "transactionCheckInterval": 1000}


def run(pages: list[Path]) -> subprocess.CompletedProcess[str]:
    """Run pages in a namespace of their own; the status is 1 if a block fails."""
    command = [sys.executable, "-m", "tests.peers.pages", *map(str, pages)]
    return subprocess.run(
        namespace.isolate(command),
        env={**os.environ, INSIDE: "1"},
        cwd=readers.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _inside(pages: list[Path]) -> int:
    with readers.reader() as (shell, _), tempfile.TemporaryDirectory() as folder:
        started = shell.start("rocketwire-namesrv", "boot success")
        if started.status != 0:
            raise RuntimeError(f"the name server does not start: {started.output}")
        address = f"127.0.0.1:{NAME_SERVER}"
        settings = {**BROKER, **OPTIONS}
        with JavaBroker(Path(folder), [address], settings, jvm=ROOM, port=10911) as broker:
            broker.wait_registered(NAME_SERVER)
            return 1 if readers.read_all(pages, long=False, clusters=False) else 0


if __name__ == "__main__":
    named = [Path(word).resolve() for word in sys.argv[1:]]
    if INSIDE in os.environ:
        raise SystemExit(_inside(named))
    result = run(named)
    print(result.stdout)  # noqa: T201 - the program of a developer
    raise SystemExit(result.returncode)

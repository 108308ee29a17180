"""``python -m publishing.pages.newcomer``: is the first success quick, do the quick starts work?

On a machine with Python and make alone, these take at most a minute each, from the first command
to the first answered request: ``make run`` in a new clone, and the installation of the wheel.  Then
the README and the tutorials run as they are written, with the wheel.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from publishing.pages import namespace
from publishing.pages.__main__ import INSIDE
from publishing.pages.blocks import has_cluster, runs
from publishing.pages.readers import PAGES, ROOT
from rocketwire import CommandDecoder, RemotingCommand, RequestCode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT_S = 60.0
BUSY = 2
"""Load of each core above which a time says nothing."""

EXTRAS = "observe,pcap,store,plot,tls"
"""Extras that the pages for newcomers install."""


def main() -> int:
    """Measure both ways to the first answer, and run the pages for newcomers with the wheel."""
    parser = argparse.ArgumentParser(
        prog="python -m publishing.pages.newcomer", description=main.__doc__
    )
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder of the wheel")
    options = parser.parse_args()
    wheel = next(options.dist.glob("*.whl"), None)
    if wheel is None:
        parser.error(f"{options.dist} has no wheel: run make dist first")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        failures += _judged("make run in a new clone", lambda: clone(folder / "clone"))
        failures += _judged("the wheel", lambda: installed(folder / "environment", wheel))
        failures += quick_starts(folder / "environment", wheel) != 0
    return 1 if failures else 0


def _judged(what: str, first_answer: Callable[[], float]) -> bool:
    """Print a time; whether it is too long on a machine without other work."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = first_answer()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    busy = os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)
    late = seconds > LIMIT_S
    verdict = "ok" if not late else "busy" if busy else "FAILED"
    load = f"{cpu:.0f} s of CPU time; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    print(f"{verdict:7} {what}: first answer after {seconds:.1f} s; {load}", flush=True)
    return late and not busy


def clone(folder: Path) -> float:
    """Seconds from ``make run`` in a clone of the last commit to the first answer."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    port = _free_port()
    settings = folder.with_suffix(".properties")
    settings.write_text(f"listenPort={port}\nbindAddress=127.0.0.1\n", "utf-8")
    command = ["make", "run", f"PYTHON={sys.executable}", f"ARGS=-c {settings}"]
    return _first_answer(command, folder, port, time.monotonic())


def installed(folder: Path, wheel: Path) -> float:
    """Seconds from the creation of an environment to the first answer of ``rocketwire dev``."""
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"rocketwire[observe,pcap,store] @ {wheel.as_uri()}"], check=True)
    port = _free_port()
    command = [str(folder / "bin" / "rocketwire"), "dev", "--port", str(port)]
    command += ["--broker-port", "0", "--status-port", "0"]
    return _first_answer(command, folder, port, start)


def quick_starts(environment: Path, wheel: Path) -> int:
    """Run the pages for newcomers with an installed wheel; returns the exit status.

    What they install is installed before: a network namespace reaches no package index.
    """
    requirement = f"rocketwire[{EXTRAS}] @ {wheel.as_uri()}"
    pip = [str(environment / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, requirement, "pytest"], check=True)
    if missing := namespace.missing():
        print(f"not run: {missing}")
        return 0
    guides = ROOT / "docs" / "guide"
    pages = [page for page in PAGES if runs(page) and not has_cluster(page)]
    chosen = [str(page) for page in pages if page.parent != guides]
    command = [sys.executable, "-m", "publishing.pages", "--installed", str(environment), *chosen]
    variables = {**os.environ, INSIDE: "1"}
    return subprocess.run(namespace.alone(command), cwd=ROOT, env=variables, check=False).returncode


def _first_answer(command: Sequence[str], folder: Path, port: int, start: float) -> float:
    environment = {**os.environ, "HOME": str(folder), "VENV": ".venv"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    ) as server:
        try:
            while server.poll() is None and not _answers(port):
                time.sleep(0.05)
            if server.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with status {server.returncode}")
            return time.monotonic() - start
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)


def _answers(port: int) -> bool:
    """Whether the name server at a port answers a request."""
    request = RemotingCommand(code=RequestCode.GET_BROKER_CLUSTER_INFO, opaque=1)
    decoder = CommandDecoder()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(encode(request))
            while data := connection.recv(65536):
                decoder.feed(data)
                if decoder.next_command() is not None:
                    return True
    except OSError:
        pass
    return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


if __name__ == "__main__":
    raise SystemExit(main())

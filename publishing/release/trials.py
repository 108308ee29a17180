"""What an installed wheel is tried with: commands for each extra, and a cluster."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

TIMEOUT_S = 1800
"""Seconds for one command; a loaded machine takes minutes where an idle one takes one."""


class TrialError(Exception):
    """A command of an installation failed."""


@dataclass(frozen=True)
class Installation:
    """A virtual environment with the wheel.

    Attributes:
        folder: of the environment.
        work: an empty folder, in which commands run.
        fixtures: the project's recorded bytes.
    """

    folder: Path
    work: Path
    fixtures: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def run(self, *words: str, stdin: str = "") -> str:
        """Run an installed program and return its standard output.

        Raises:
            TrialError: its exit status is not 0.
        """
        command = [str(self.folder / "bin" / words[0]), *words[1:]]
        run = subprocess.run(
            command,
            input=stdin,
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if run.returncode != 0:
            raise TrialError(f"{' '.join(words)}: status {run.returncode}\n{run.stderr[-2000:]}")
        return run.stdout

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its programs: nothing of the shell that started the trial."""
        return {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "HOME": str(self.work)}

    @contextlib.contextmanager
    def cluster(self, *options: str, log: Path | None = None) -> Generator[str]:
        """Run ``rocketwire dev`` on free ports; gives the address of its name server.

        Args:
            options: further options.
            log: receives what it printed until it was ready.
        """
        ports = ["--port", "0", "--broker-port", "0"]
        if "--status-port" not in options:
            ports += ["--status-port", "-1"]
        server = subprocess.Popen(
            [str(self.folder / "bin" / "rocketwire"), "dev", *ports, *options],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert server.stdout is not None
        try:
            lines: list[str] = []
            for line in server.stdout:
                lines.append(line)
                if match := re.search(r"ready: name server (\S+),", line):
                    if log is not None:
                        log.write_text("".join(lines), "utf-8")
                    yield match[1]
                    return
            raise TrialError(f"rocketwire dev did not start: {''.join(lines)}")
        finally:
            server.terminate()
            server.wait(TIMEOUT_S)
            server.stdout.close()


def base(it: Installation, programs: Sequence[str], examples: Sequence[str]) -> None:
    """Everything that works without an extra.

    Args:
        it: the installation.
        programs: names of the entry points.
        examples: programs in Python of the README.
    """
    for program in programs:
        it.run(program, "--help")
    for example in examples:
        it.run("python", "-W", "error", "-c", example)
    frame = _first_frame(it)
    decoded = it.run("rocketwire-codec", "decode", stdin=f"{frame}\n")
    _expect(frame, it.run("rocketwire-codec", "encode", stdin=decoded))
    it.run("rocketwire-conformance", "vectors", "--export", "vectors")
    sample = it.run("rocketwire-namesrv", "--sample-config")
    (it.work / "namesrv.properties").write_text(sample, "utf-8")
    it.run("mqnamesrv", "--check-config", "namesrv.properties")
    with it.cluster() as address:
        at = ("-n", address)
        it.run("rocketwire-admin", "produce", *at, "-t", "trial", stdin="1\n2\n3\n")
        words = ("-g", "trial", "--from", "first", "--count", "3", "--timeout", "60")
        _expect('"body":"3"', it.run("rocketwire-admin", "consume", *at, "-t", "trial", *words))
        it.run("rocketwire-admin", "clusterList", *at)
        it.run("rocketwire-conformance", address, "--only", "ns/105", "--quiet")


def _first_frame(it: Installation) -> str:
    """A frame that Java sent, in hex."""
    lines = sorted((it.fixtures / "frames" / "5.5.0").glob("*.hex"))[0].read_text("utf-8")
    return "".join(line.partition("#")[0] for line in lines.splitlines()).replace(" ", "")


def _pcap(it: Installation) -> None:
    capture = str(it.fixtures / "captures" / "java-5.5.0.pcap.gz")
    _expect("SEND_MESSAGE_V2", it.run("rocketwire-pcap", "summary", capture))
    it.run("rocketwire-pcap", "decode", capture, "-o", "frames.parquet")


def _store_of(it: Installation, name: str) -> str:
    folder = it.work / name
    with tarfile.open(it.fixtures / "stores" / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (log,) = sorted(folder.rglob("commitlog"))[:1]
    return str(log.parent)


def _store(it: Installation) -> None:
    store = _store_of(it, "plain-5.5.0")
    it.run("rocketwire-store", "info", store)
    it.run("rocketwire-store", "messages", store, "--limit", "1")


def _store_rocksdb(it: Installation) -> None:
    it.run("rocketwire-store", "info", _store_of(it, "rocksdb-5.5.0"))


def _plot(it: Installation) -> None:
    capture = str(it.fixtures / "captures" / "java-5.5.0.pcap.gz")
    it.run("rocketwire-pcap", "summary", capture, "--plot", "summary.png")


def _observe(it: Installation) -> None:
    with it.cluster("--status-port", "0"):
        it.run("python", "-c", "import h11, prometheus_client")


def _tls(it: Installation) -> None:
    with it.cluster("--tls", "enforcing") as address:
        words = ("--insecure", "-n", address)
        it.run("rocketwire-admin", "clusterList", *words)


def _acl(it: Installation) -> None:
    accounts = "accounts:\n- accessKey: trial-key\n  secretKey: trial-secret\n  admin: true\n"
    (it.work / "accounts.yml").write_text(accounts, "utf-8")
    with it.cluster("--accounts", "accounts.yml"):
        pass


def _admin(it: Installation) -> None:
    _expect("rocketwire-admin", it.run("rocketwire-admin", "completion", "bash"))


def _imports(module: str) -> str:
    return f"import {module}"


TRIALS = {
    "acl": _acl,
    "admin": _admin,
    "observe": _observe,
    "pcap": _pcap,
    "plot": _plot,
    "store": _store,
    "store-rocksdb": _store_rocksdb,
    "tls": _tls,
}
"""Extra -> what shows that its tools work."""

IMPORTS = {
    "client": "h11",
    "compression": "lz4.frame, zstandard",
    "otel": "opentelemetry.metrics",
    "spark": "pyspark_rocketwire, pyspark_rocketwire_store",
}
"""Extra -> modules that a program with the extra imports."""

TOGETHER = {"plot": "pcap,plot"}
"""Extras that are of use with others alone."""


def of_extra(it: Installation, name: str) -> None:
    """Try what an extra adds.

    Raises:
        TrialError: it does not work.
    """
    if name in IMPORTS:
        it.run("python", "-c", _imports(IMPORTS[name]))
    else:
        TRIALS[name](it)


def _expect(text: str, output: str) -> None:
    if text not in output:
        raise TrialError(f"{text!r} is missing in the output: {output[:500]!r}")

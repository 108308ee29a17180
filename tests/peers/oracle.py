"""The oracle: a Java process that answers questions about a RocketMQ release by running its own classes.

Rules of this file: one line of JSON a question and one an answer, in order; the sources below ``tests/java/oracle/java`` list
the questions.  Questions that do not depend on each other go in batches, which is what makes 100,000 of them cheap.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

from tests.peers import cache as java_cache
from tests.peers.cache import JavaUnavailableError
from tests.peers.processes import Child, PeerFailedError

SOURCES = Path(__file__).parents[1] / "java" / "oracle" / "java"
PATIENCE = 10
"""Seconds of a processor: no question that ends takes a tenth of them."""

BATCH = 500
"""Questions in one line: enough to keep both processes busy, few enough to stay far below the heap."""

Answer = dict[str, Any]
"""Java's answer: ``ok``, then the operation's result, or ``error``, ``message`` and ``cause``."""


class OracleRefusedError(AssertionError):
    """A question that has an answer was refused."""


def library(version: str) -> Path:
    """Folder of the jars of a release; ``ROCKETWIRE_JARS_5_5_0`` names one that is there already."""
    configured = os.environ.get("ROCKETWIRE_JARS_" + version.replace(".", "_"))
    return Path(configured) if configured else java_cache.jars(version)


def compile_oracle(version: str) -> Path:
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    target = java_cache.cache_folder().parent / "oracle" / f"{version}-{digest}"
    if target.is_dir():
        return target
    if shutil.which("javac") is None:
        raise JavaUnavailableError("not on the path: javac (the oracle needs JDK 17)")
    jars = library(version)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        fresh = Path(scratch) / "classes"
        command = ("javac", "-nowarn", "-cp", f"{jars}/*", "-d", str(fresh), *map(str, sources))
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise JavaUnavailableError(f"the oracle does not compile: {ended.stderr[-2000:]}")
        try:
            fresh.rename(target)
        except OSError:  # another run was faster
            if not target.is_dir():
                raise
    return target


class Oracle:
    """One running oracle.

    ``patience`` are the seconds of a processor after which a question is refused as ``Watchdog$NeverEnds``.
    """

    def __init__(
        self, version: str = "5.5.0", folder: Path | None = None, *, patience: int = PATIENCE
    ) -> None:
        self.version = version
        # Named one by one: the oracle looks for the protocol's classes in the jars on its class
        # path.
        path = [str(compile_oracle(version)), *sorted(map(str, library(version).glob("*.jar")))]
        self._scratch = tempfile.TemporaryDirectory(prefix="oracle-") if folder is None else None
        where = Path(self._scratch.name) if self._scratch is not None else cast("Path", folder)
        opened = "--add-opens=java.base/sun.security.ssl=ALL-UNNAMED"  # numbers of cipher suites
        options = (
            opened,
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-Dfile.encoding=UTF-8",
            f"-Duser.home={where}",
            f"-Doracle.seconds={patience}",
        )
        self._folder = where
        self._command = ("java", *options, "-cp", os.pathsep.join(path), "Oracle")
        try:
            self._child = self._start()
        except BaseException:
            if self._scratch is not None:
                self._scratch.cleanup()
            raise

    def _start(self) -> Child:
        return Child(f"oracle-{self.version}", self._command, self._folder, piped=True)

    def _line(self, question: Mapping[str, object]) -> Answer:
        process = self._child.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise PeerFailedError(f"the oracle ended: {self._child.output[-2000:]}")
        answer = cast("Answer", json.loads(line))
        if answer.pop("ended", False):  # it was a question that never ends
            self._child.kill()
            self._child = self._start()
        return answer

    def ask(self, op: str, **members: object) -> Answer:
        return self._line({"op": op, **members})

    def find(self, op: str, **members: object) -> Answer:
        answer = self.ask(op, **members)
        if not answer["ok"]:
            raise OracleRefusedError(f"{op}: {answer}")
        return answer

    def ask_all(self, questions: Iterable[Mapping[str, object]]) -> Iterator[Answer]:
        batch: list[Mapping[str, object]] = []
        for question in questions:
            batch.append(question)
            if len(batch) == BATCH:
                yield from self._batch(batch)
                batch = []
        if batch:
            yield from self._batch(batch)

    def _batch(self, questions: Sequence[Mapping[str, object]]) -> list[Answer]:
        answer = self._line({"op": "batch", "requests": questions})
        if not answer["ok"]:  # the answers together were too much for its memory
            return [self._line(question) for question in questions]
        answers = cast("list[Answer]", answer["answers"])
        remaining = questions[len(answers) :]  # after one that never ends
        return [*answers, *self._batch(remaining)] if remaining else answers

    def close(self) -> None:
        self._child.kill()
        if self._scratch is not None:
            self._scratch.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

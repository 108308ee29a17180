"""Jars of a RocketMQ release and our compiled Java, fetched and built once and then kept.

Rules of this file: everything is built next to its place and renamed into it, under a lock of
the whole cache, so that a folder that exists is complete and two test runs can share it.  Java
sources are keyed by their content.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTEROP = ROOT / "tests" / "peers"
JAVA_SOURCES = INTEROP / "sources"

MAVEN_SECONDS = 600
"""A first download of some 90 MB over a slow line."""


class JavaUnavailableError(Exception):
    """This machine cannot run the Java peers; the text names the missing tool in one line."""


def cache_folder() -> Path:
    """Where jars and classes are kept: ``.cache/java`` of the checkout, or below ``$XDG_CACHE_HOME``."""
    configured = os.environ.get("XDG_CACHE_HOME")
    folder = Path(configured) / "rocketwire" / "java" if configured else ROOT / ".cache" / "java"
    return folder.resolve()  # class archives fit one spelling of the path alone


def check_tools() -> None:
    """Raise ``JavaUnavailableError`` unless java, javac and mvn can be found."""
    missing = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    if missing:
        raise JavaUnavailableError(
            f"not on the path: {', '.join(missing)} (real peers need JDK 17 and Maven)"
        )


@contextmanager
def _lock(folder: Path) -> Generator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_once(target: Path, build: Callable[[Path], None]) -> Path:
    if target.is_dir():
        return target
    with _lock(target.parent):
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
                fresh = Path(scratch) / "content"
                fresh.mkdir()
                build(fresh)
                fresh.rename(target)
    return target


def _run(what: str, *command: str) -> None:
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=MAVEN_SECONDS
    )
    if ended.returncode != 0:
        output = f"{ended.stdout}\n{ended.stderr}".strip()
        raise JavaUnavailableError(f"{what} failed: {output[-600:]}")


PARTIAL = {"5.5.1": "5.5.0"}
"""Releases of which the registry has only some jars -> the release that has the others."""

RELEASE_POM = "pom.xml"
"""Name server, broker, clients and tools; ``container.xml``, ``proxy.xml`` and ``grpc.xml`` next to it are collections of their own."""


def jars(version: str, pom: str = RELEASE_POM) -> Path:
    check_tools()
    # before this process holds the lock, which it could not take twice
    older = jars(PARTIAL[version]) if version in PARTIAL else None

    def fetch(folder: Path) -> None:
        if older is not None:
            _fetch_partial(version, older, folder)
            return
        _run(
            f"resolving {pom} of RocketMQ {version} with Maven",
            *("mvn", "-q", "-B", "-f", str(INTEROP / pom)),
            f"-Drocketmq.version={version}",
            "dependency:copy-dependencies",
            f"-DoutputDirectory={folder}",
        )
        if not any(folder.glob(f"rocketmq-*-{version}.jar")):
            raise JavaUnavailableError(f"Maven brought nothing of RocketMQ {version}")

    name = version if pom == RELEASE_POM else f"{Path(pom).stem}-{version}"
    return build_once(cache_folder() / name, fetch)


def _fetch_partial(version: str, older: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        _run(
            f"resolving RocketMQ {version} with Maven",
            *("mvn", "-q", "-B", "-f", str(INTEROP / "partial.xml")),
            f"-Drocketmq.version={version}",
            "dependency:copy-dependencies",
            f"-DoutputDirectory={scratch}",
        )
        newer = list(Path(scratch).glob("*.jar"))
        replaced = {artifact_of(path) for path in newer}
        kept = [path for path in older.glob("*.jar") if artifact_of(path) not in replaced]
        for path in (*kept, *newer):
            shutil.copy(path, folder)


def artifact_of(jar: Path) -> str:
    return re.split(r"-\d", jar.name, maxsplit=1)[0]


def classes(version: str, source: str, pom: str = RELEASE_POM) -> Path:
    path = JAVA_SOURCES / source
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    library = jars(version, pom)

    def compile_into(folder: Path) -> None:
        _run(
            f"compiling {source} against RocketMQ {version}",
            *("javac", "-nowarn", "-cp", f"{library}/*", "-d", str(folder), str(path)),
        )

    return build_once(cache_folder() / f"{path.stem}-{version}-{digest}", compile_into)

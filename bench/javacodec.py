"""Drives ``bench/java/CodecBench.java``: Java's codec in a loop of its own process, warmed up
before it is timed."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tests.support.java import cache as java_cache

SOURCE: Final = Path(__file__).parent / "java" / "CodecBench.java"
QUIET: Final = java_cache.INTEROP / "conf" / "quiet-5x.xml"
WARM_CALLS: Final = {
    "frame": 200_000,
    "binary": 200_000,
    "build": 200_000,
    "stored": 200_000,
    "register": 60,
}


class JavaCodec:
    """A running ``CodecBench``."""

    def __init__(self, library: Path, classes: Path) -> None:
        self._process = subprocess.Popen(
            [
                "java",
                "-Xmx512m",
                f"-Drmq.logback.configurationFile={QUIET}",
                "-cp",
                f"{classes}:{library}/*",
                "CodecBench",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _ask(self, line: str) -> str:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("CodecBench has no pipes")
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise RuntimeError("CodecBench ended")
        return answer

    def give(self, name: str, data: bytes) -> None:
        """Hand over the input of one loop and warm the loop up."""
        self._ask(f"{name} {data.hex()}")
        self.run(name, WARM_CALLS[name])

    def run(self, name: str, calls: int) -> float:
        """Nanoseconds for one call."""
        return float(self._ask(f"run {name} {calls}"))


def open_java(**inputs: bytes) -> JavaCodec | None:
    """Start it with its inputs; return None and print the reason if Java is not available."""
    try:
        library = java_cache.jars("5.5.0")
    except java_cache.JavaUnavailableError as error:
        print(f"no Java column: {error}")
        return None
    classes = Path(tempfile.mkdtemp(prefix="codecbench-"))
    subprocess.run(["javac", "-nowarn", "-cp", f"{library}/*", "-d", classes, SOURCE], check=True)
    java = JavaCodec(library, classes)
    for name, data in inputs.items():
        java.give(name, data)
    return java

"""Stores to measure, written by Java's own message store, and Java's recovery of them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.pcap.spending import Spent, run
from tests.support.java import cache as java_cache

if TYPE_CHECKING:
    from collections.abc import Callable

RELEASE: Final = "5.5.0"
SOURCE: Final = Path(__file__).parents[1] / "java" / "StoreBench.java"
QUIET: Final = java_cache.INTEROP / "conf" / "quiet-5x.xml"
BODIES: Final = {"A": 1000, "B": 130}
"""Name of a store → bytes of a body; its messages have some 200 more."""
LOG_SIZE: Final = 1
"""GiB of a log: with less, the start of a command is most of its time."""
INDEX_ENTRIES: Final = 20_000_000
KEY: Final = "order-7"
"""A key of the second topic, of which the full index knows the place."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store of Java's.

    Attributes:
        name: ``A`` or ``B``.
        root: its folder.
        size: bytes of its messages.
    """

    name: str
    root: Path
    size: int


class Java:
    """Java's message store.

    Args:
        folder: keeps the stores.
        scratch: an empty folder.
        say: shows progress.
        log_size: GiB of each store's log.

    Raises:
        JavaUnavailableError: Java or Maven is missing.
    """

    def __init__(
        self,
        folder: Path,
        scratch: Path,
        say: Callable[[str], None],
        *,
        log_size: int = LOG_SIZE,
    ) -> None:
        self._folder = folder
        self._log_size = log_size
        self._say = say
        library = java_cache.jars(RELEASE)
        classes = scratch / "classes"
        subprocess.run(
            ["javac", "-nowarn", "-cp", f"{library}/*", "-d", classes, SOURCE], check=True
        )
        self._command = (
            *("java", "-Xmx1g", "-XX:+UseSerialGC"),
            *(f"-Drmq.logback.configurationFile={QUIET}", "-cp", f"{classes}:{library}/*"),
            "StoreBench",
        )

    def store(self, name: str) -> Store:
        """The store of a name; written if the folder has none."""
        root = self._folder / (name if self._log_size == LOG_SIZE else f"{name}-{self._log_size}")
        size = root.with_name(f"{root.name}.size")
        if not size.exists():
            self._say(f"Java writes store {name}")
            shutil.rmtree(root, ignore_errors=True)
            words = [str(root), str(BODIES[name]), str(self._log_size << 30)]
            size.write_text(self._run("write", *words).split()[0])
        return Store(name, root, int(size.read_text()))

    def full_index(self, source: Store, offset: int) -> Path:
        """A store with the first file of another, and an index file with ``INDEX_ENTRIES`` entries.

        Args:
            source: the other store.
            offset: of its message with ``KEY``.
        """
        root = self._folder / "full-index"
        if not root.exists():
            self._say("Java writes a full index")
            partial = root.with_name("full-index.partial")
            shutil.rmtree(partial, ignore_errors=True)
            (partial / "commitlog").mkdir(parents=True)
            (partial / "index").mkdir()
            first = sorted((source.root / "commitlog").iterdir())[0]
            shutil.copy(first, partial / "commitlog")
            file = partial / "index" / "20260101000000000"
            words = [str(file), str(INDEX_ENTRIES), f"bench-topic-2#{KEY}", str(offset)]
            self._run("index", *words)
            partial.rename(root)
        return root

    def recovery(self, store: Store) -> Spent:
        """``DefaultMessageStore.load`` of a copy of the log, as after a kill: it checks each message
        and builds the queues and the index."""
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            root = Path(scratch) / "store"
            shutil.copytree(store.root / "commitlog", root / "commitlog")
            (root / "abort").touch()
            return run([*self._command, "load", str(root)], Path(scratch) / "out")

    def _run(self, *words: str) -> str:
        command = [*self._command, *words]
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
        ).stdout

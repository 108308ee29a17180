"""Java's name server with its classes loaded beforehand (class data sharing): where many are started, half the time each.

The archive is made once for each release by a name server that is started for it, and kept in the cache of the jars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import javacache
from tests.support.javapeers import SHORT_LIVED, JavaNameServer

if TYPE_CHECKING:
    from pathlib import Path

_NAME = "namesrv.jsa"


def shared_classes(version: str) -> Path:
    """The archive for the name server of one release; a JVM that it does not fit starts without it.

    Raises:
        JavaUnavailableError: the jars cannot be had.
    """
    javacache.jars(version)

    def record(folder: Path) -> None:
        jvm = [*SHORT_LIVED, "-Xlog:disable", f"-XX:ArchiveClassesAtExit={folder / _NAME}"]
        server = JavaNameServer(folder / "home", version=version, jvm=jvm)
        server.start()
        server.stop(60)
        if not (folder / _NAME).exists():
            raise javacache.JavaUnavailableError(f"no archive: {server.log[-600:]}")

    return (
        javacache.built_once(javacache.cache_folder() / f"namesrv-archive-{version}", record)
        / _NAME
    )

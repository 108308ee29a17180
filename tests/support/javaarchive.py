"""Name servers and brokers of Java with their classes loaded beforehand (class data sharing): where many are started, half the
time each.

An archive is made once for each release by a server that is started for it, and kept in the cache of the jars.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.support import javacache
from tests.support.javapeers import CURRENT, SHORT_LIVED, JavaBroker, JavaNameServer, broker_archive

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


def record_broker(version: str) -> Path:
    """Make the archive that ``JavaBroker`` uses when it is there.

    Raises:
        JavaUnavailableError: the jars cannot be had.
    """
    archive = broker_archive(version)
    for release in (version, CURRENT):
        javacache.jars(release)

    def record(folder: Path) -> None:
        jvm = ["-Xlog:disable", f"-XX:ArchiveClassesAtExit={folder / archive.name}"]
        with JavaNameServer(folder / "namesrv") as server:
            broker = JavaBroker(folder / "broker", [server.address], version=version, jvm=jvm)
            broker.start()
            broker.wait_registered(server.port)
            broker.stop(120)
        if not (folder / archive.name).exists():
            raise javacache.JavaUnavailableError(f"no archive of the broker of {version}")
        for home in ("namesrv", "broker"):
            shutil.rmtree(folder / home)

    javacache.built_once(archive.parent, record)
    return archive

"""Java's programs with their classes loaded beforehand (class data sharing): where many are started, half the time each.

One archive for each release is made by a broker that is started for it, and kept in the cache of the jars.  A broker loads nearly
all that name servers, clients and mqadmin do.
"""

import shutil
from pathlib import Path

from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT, JavaBroker, JavaNameServer, class_archive
from tests.peers.server_certificate import server_certificate


def record_broker(version: str) -> Path:
    """Make the archive that ``javapeers`` uses when it is there; a JVM that it does not fit starts without it."""
    archive = class_archive(version)
    for release in (version, CURRENT):
        java_cache.jars(release)
    server_certificate()  # made now: the cache is locked below

    def make(folder: Path) -> None:
        jvm = ["-Xlog:disable", f"-XX:ArchiveClassesAtExit={folder / archive.name}"]
        with JavaNameServer(folder / "namesrv") as server:
            # an archive cannot have classes of a folder
            broker = JavaBroker(
                folder / "broker", [server.address], version=version, jvm=jvm, own_main=True
            )
            broker.start()
            broker.wait_registered(server.port)
            broker.stop(120)
        if not (folder / archive.name).exists():
            raise java_cache.JavaUnavailableError(f"no archive of the classes of {version}")
        for home in ("namesrv", "broker"):
            shutil.rmtree(folder / home)

    java_cache.build_once(archive.parent, make)
    return archive

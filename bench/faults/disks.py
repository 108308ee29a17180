"""A broker with a disk that can be filled and emptied: a small file system in memory, only visible
to the broker.

Rules of this file: a broker looks at its disk a minute after its start and then every ten seconds,
so that it notices changes only after a while.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.support.java.cluster import BROKER, ROOM
from tests.support.java.peers import JavaBroker

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.support.java.cluster import JavaCluster

MEBIBYTES: Final = 160
"""Size of the file system."""
FULL_PERCENT: Final = 60
"""Usage in percent above which the broker is full."""
NOTICED_SECONDS: Final = 24.0
"""Time in which the broker has checked its disk, and refused messages for a while."""
_FILLER: Final = "filler"
_ALONE: Final = ("unshare", "--map-root-user", "--mount")


def can_be_had() -> bool:
    """Return whether this machine allows a mount for one process."""
    if shutil.which(_ALONE[0]) is None:
        return False
    return subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0


class SmallDisk:
    """The broker ``broker-small``, and its disk.

    Attributes:
        broker: it is not to be restarted, for its disk ends with it.
    """

    def __init__(self, cluster: JavaCluster, folder: Path) -> None:
        """Nothing is started yet."""
        options = {
            **BROKER,
            "diskSpaceWarningLevelRatio": FULL_PERCENT,
            "cleanFileForciblyEnable": "false",  # or it makes room by forgetting messages
            "mappedFileSizeCommitLog": 96 << 20,
            "timerWheelEnable": "false",
        }
        mount = f"mkdir store && mount -t tmpfs -o size={MEBIBYTES}m small store"
        self._store = folder / "store"
        self.broker = JavaBroker(
            folder,
            [cluster.address],
            options,
            name="broker-small",
            jvm=ROOM,
            before=[*_ALONE, "sh", "-c", f'{mount} && exec "$@"', "sh"],
        )

    @property
    def _inside(self) -> Path:
        """The file system as the broker sees it."""
        return Path(f"/proc/{self.broker.pid}/root{self._store.resolve()}")

    def fill(self) -> None:
        """Leave less room than the broker wants."""
        usage = shutil.disk_usage(self._inside)
        size = usage.total * (FULL_PERCENT + 5) // 100 - usage.used
        with (self._inside / _FILLER).open("wb") as file:
            for _ in range(max(size, 0) >> 20):
                file.write(bytes(1 << 20))

    def empty(self) -> None:
        """Make room again."""
        (self._inside / _FILLER).unlink(missing_ok=True)


@contextmanager
def small_disk(cluster: JavaCluster, folder: Path) -> Generator[SmallDisk | None]:
    """A broker on a small disk that has registered, for the length of the block; None where there
    can be none."""
    if not can_be_had():
        yield None
        return
    disk = SmallDisk(cluster, folder)
    with disk.broker:
        disk.broker.wait_registered(cluster.name_server.port)
        yield disk

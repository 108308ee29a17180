"""A broker with a folder and without sockets, whose process may be killed at any system call."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from rocketwire_broker.config import Config
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.folder import StoreFolder
from tests.support.broker import START, BrokerAtHand

if TYPE_CHECKING:
    from pathlib import Path

    from rocketwire.store.writer import Data


class KilledError(BaseException):
    """The process is killed: it does nothing any more."""


class MortalDisk(Disk):
    """A disk whose process is killed at a system call; half of the bytes of a write are written.

    Args:
        root: the folder.
        calls: system calls that happen before.

    Attributes:
        calls: system calls that changed a file.
        is_full: whether writes fail, because the disk is full.
    """

    def __init__(self, root: Path, calls: int | None = None) -> None:
        super().__init__(root)
        self.calls = 0
        self.is_full = False
        self._last = calls

    @property
    def is_dead(self) -> bool:
        """Whether the process was killed."""
        return self._last is not None and self.calls >= self._last

    def about_to(self, call: str) -> None:
        """Count a call; end the process if it is the last one."""
        if self.is_dead and call != "pwrite":
            raise KilledError(call)
        if self.is_full and call != "unlink":
            raise OSError(errno.ENOSPC, "No space left on device")
        self.calls += 1

    def pwrite(self, descriptor: int, data: Data, position: int) -> int:  # type: ignore[override]  # it counts
        """Write bytes; if the process is killed meanwhile, half of them."""
        if self._last is not None and self.calls > self._last:
            if self.calls == self._last + 1:
                os.pwrite(descriptor, data[: len(data) // 2], position)
            raise KilledError("pwrite")
        return os.pwrite(descriptor, data, position)


class BrokerWithFolder(BrokerAtHand):
    """A broker with a folder.

    Args:
        root: the folder.
        calls: system calls that change a file before the process is killed; None for all.
        now: time of the start.
        settings: of the broker.

    Attributes:
        disk: the files.
        folder: the open folder.
    """

    def __init__(
        self, root: Path, *, calls: int | None = None, now: int = START, **settings: Any
    ) -> None:
        super().__init__()
        self.now = now
        self._root = root
        self._settings: dict[str, Any] = {
            "log_file_size": 1 << 20,
            "queue_file_size": 2_000,
            **settings,
        }
        config = Config(store_path=str(root), **self._settings)
        self.disk = MortalDisk(root, calls)
        self.folder = StoreFolder(config, self.disk)
        try:
            self.broker = self.folder.load(now)
        except BaseException:
            self.folder.release()
            raise

    def killed(self, after: int = 0, *, calls: int | None = None) -> BrokerWithFolder:
        """Kill it; return the next one with the folder, which starts so much later."""
        self.folder.release()
        return BrokerWithFolder(self._root, calls=calls, now=self.now + after, **self._settings)

    def ended(self, after: int = 0) -> BrokerWithFolder:
        """End it in order; return the next one."""
        self.folder.close(self.now)
        return BrokerWithFolder(self._root, now=self.now + after, **self._settings)

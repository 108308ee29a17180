"""A store as its files show it: which kind, which settings, and whether a broker uses it now."""

from __future__ import annotations

import fcntl
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import DecodeError
from rocketwire.store.checkpoint import Checkpoint, decode_checkpoint
from rocketwire.store.config_files import MAX_SIZE, decode_config
from rocketwire.store.folder import StoreFile, read_folder
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.scan import LogScan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_PLAIN_FILE: Final = 1 << 20
"""Bytes that are read of ``checkpoint``, ``abort`` and the like."""


class NoStoreError(Exception):
    """A path is no store."""


class OpenedStore:
    """A store, opened for reading.

    Attributes:
        folder: its files.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.folder = read_folder(paths)
        if self.folder.is_empty and not self.folder.queues and not self.folder.config:
            names = ", ".join(str(root) for root in self.folder.roots)
            raise NoStoreError(f"{names}: no commit log, queue or configuration of a broker")

    @property
    def is_dledger(self) -> bool:
        """Whether DLedger writes the log."""
        return bool(self.folder.dledger)

    @property
    def log_files(self) -> list[StoreFile]:
        """Files of the log by offset: the commit log, then DLedger's."""
        return self.folder.commit_log + self.folder.dledger

    def scans(self, *, start: int = 0, stop: int = 1 << 63) -> list[LogScan]:
        """Passes through the log that together read it whole.

        Args:
            start: offset of a message at which to begin.
            stop: no message from this offset on.
        """
        scans: list[LogScan] = []
        if self.folder.commit_log:
            scans.append(LogScan(files=self.folder.commit_log, start=start, stop=stop))
        if self.folder.dledger:
            files = self.folder.dledger
            scans.append(LogScan(files=files, is_dledger=True, start=start, stop=stop))
        return scans

    def compaction_scans(self) -> list[LogScan]:
        """Passes through the logs of compacted topics, one for each queue.

        Offsets in such a log are its own, not those of the commit log.
        """
        logs = self.folder.compaction_logs
        return [LogScan(files=logs[queue]) for queue in sorted(logs)]

    def read(self, file: StoreFile, *, max_size: int = MAX_PLAIN_FILE) -> bytes:
        """A small file.

        Raises:
            DecodeError: it is larger than ``max_size``.
            OSError: it cannot be read.
        """
        if file.size > max_size:
            raise DecodeError(f"{file.name} has {file.size} bytes, more than {max_size}")
        with open_blocks(file) as blocks:
            return bytes(blocks.read(0, file.size))

    def config(self, name: str) -> tuple[dict[str, Any], str] | None:
        """A JSON file of ``config`` and the name of the file that was read.

        As Java does, ``NAME.bak`` is read if ``NAME`` is missing, empty or no JSON.

        Returns:
            None if neither can be read.
        """
        for candidate in (name, f"{name}.bak"):
            file = self.folder.config.get(candidate)
            if file is None or not file.size:
                continue
            try:
                return decode_config(self.read(file, max_size=MAX_SIZE)), f"config/{candidate}"
            except DecodeError:
                continue
        return None

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """``checkpoint``; None without one, or if it is too short."""
        file = self.folder.plain.get("checkpoint")
        try:
            return None if file is None else decode_checkpoint(self.read(file))
        except DecodeError:
            return None

    @cached_property
    def abort(self) -> bytes | None:
        """The text of ``abort``, which a broker removes in an orderly shutdown; None without it."""
        file = self.folder.plain.get("abort")
        return None if file is None else self.read(file)

    def is_in_use(self) -> bool:
        """Whether a broker runs on this store: it holds a lock on the file ``lock``.

        The test asks for a shared lock without waiting, and releases it at once.
        """
        file = self.folder.plain.get("lock")
        if file is None:
            return False
        descriptor = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1)
        except OSError:
            return True
        else:
            return False
        finally:
            os.close(descriptor)

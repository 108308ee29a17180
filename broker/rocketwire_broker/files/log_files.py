"""The files of the commit log.

Java: ``CommitLog``, ``MappedFileQueue``.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NoReturn

from rocketwire.store.folder import NAME_LENGTH
from rocketwire.store.writer import blank
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_broker.files.disk import Disk

LOGGER: Final = logging.getLogger("rocketwire.broker")

FOLDER: Final = "commitlog"


def name_of(start: int) -> str:
    return f"{FOLDER}/{start:0{NAME_LENGTH}d}"


class LogFiles:
    def __init__(self, disk: Disk, file_size: int, starts: Sequence[int]) -> None:
        self.file_size = file_size
        self.first = starts[0] if starts else 0  # offset of the first byte that is kept
        self.end = self.first
        self.failure = ""  # why nothing can be written at the moment; empty if it can
        self._disk = disk
        self._starts = list(starts)
        self._start, self._name = -file_size, ""  # of the file that was written last
        self._listed, self._listed_end = self._starts[-1:], self.first

    def starts(self) -> Sequence[int]:
        return self._starts

    def append(self, physical: int, data: bytes) -> None:
        """Write messages at ``end``, or at the start of the next file, or nothing."""
        size, disk = self.file_size, self._disk
        if disk.failure:
            raise UnwritableError(disk.failure)
        start = physical - physical % size
        if start != self._start:
            self._start, self._name = start, name_of(start)
        try:
            if physical != self.end:  # the messages do not fit into the last file
                position = self.end % size
                disk.write(name_of(self.end - position), position, blank(size - position), size)
            disk.write(self._name, physical - start, data, size)
        except OSError as error:
            self._fail(error)
        if self.failure:
            self._note("")
        if not self._starts or self._starts[-1] != start:
            self._starts.append(start)
        self.end = physical + len(data)

    def _fail(self, error: OSError) -> NoReturn:
        self._note(f"{error.strerror} (errno {error.errno})")
        raise UnwritableError(self.failure) from error

    def _note(self, failure: str) -> None:
        if failure and failure != self.failure:
            LOGGER.error("the commit log cannot be written: %s", failure)
        elif not failure:
            LOGGER.warning("the commit log can be written again")
        self.failure = failure

    def read(self, physical: int, size: int) -> bytes:
        position = physical % self.file_size
        return self._disk.read(name_of(physical - position), position, size)

    def remove_first(self) -> None:
        start = self._starts.pop(0)
        self._disk.remove(name_of(start))
        self.first = self._starts[0] if self._starts else self.end

    def forget(self, start: int) -> None:
        self._starts.remove(start)

    @property
    def has_failed(self) -> bool:
        """Whether a sync failed, and nothing is stored any more."""
        return bool(self._disk.failure)

    def give_up(self, error: OSError) -> None:
        self._disk.give_up(error)

    def descriptors(self) -> list[int]:
        """Return copies of the descriptors of files that a sync may have to write; close them."""
        copies: list[int] = []
        try:
            for start in self._starts[bisect_right(self._starts, self._listed_end) - 1 :]:
                opened = self._disk.descriptor(name_of(start))
                if opened is not None:
                    copies.append(os.dup(opened))
            if self._starts[-1:] != self._listed:  # the name of a new file must be there, too
                copies.append(os.open(self._disk.root / FOLDER, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            for descriptor in copies:
                os.close(descriptor)
            raise
        self._listed, self._listed_end = self._starts[-1:], self.end
        return copies

    @staticmethod
    def sync(descriptors: list[int]) -> None:
        """Wait until files are on the disk, and close them; may run in a thread."""
        try:
            for descriptor in descriptors:
                os.fsync(descriptor)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

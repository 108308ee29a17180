"""Writes state to disk without blocking the server: one writer, one file at a time.

``DurableFile.save`` returns whether the current content, or a later one, is on disk. Callers during
a save share the next one.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from rocketwire.os_errors import os_error_text
from rocketwire_namesrv.runtime import storage
from rocketwire_namesrv.runtime.logging_setup import LOGGER


class DurableFile:
    """A file that stores a value."""

    def __init__(self, name: str, path: Callable[[], str], content: Callable[[], bytes]) -> None:
        self._name = name
        self._path = path
        self._content = content
        self._wanted = 0
        self._done = 0
        self._kept = 0
        self._lock = trio.Lock()
        self._one_writer = trio.CapacityLimiter(1)

    async def save(self) -> bool:
        """Write the current content to disk.

        A failure is logged. Memory keeps the new value, and the next successful save writes it.

        Returns:
            Whether it is on disk.

        Cancellation: waits for the disk first; a save that has begun is completed.
        """
        self._wanted += 1
        mine = self._wanted
        with trio.CancelScope(shield=True):
            async with self._lock:
                if self._done < mine:
                    reached = self._wanted
                    if await self._write():
                        self._kept = reached
                    self._done = reached
        return self._kept >= mine

    async def _write(self) -> bool:
        path = self._path()
        if not path:
            return True  # there is no file
        try:
            content = self._content()
            await trio.to_thread.run_sync(storage.save, path, content, limiter=self._one_writer)
        except OSError as error:
            LOGGER.error("%s is not saved: %s", self._name, os_error_text(error))
            return False
        return True

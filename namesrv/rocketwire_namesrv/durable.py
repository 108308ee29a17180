"""Bringing what is in memory to disk without holding the server up: one writer, one file at a time.

``DurableFile.save`` returns when the content of that moment, or a later one, is on disk or the
attempt has failed.  Callers that come while a save runs share the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from rocketwire_namesrv import storage
from rocketwire_namesrv.logs import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DurableFile"]


class DurableFile:
    """A file that follows a value.

    Args:
        name: what it is, for the log.
        path: gives its path, empty where nothing is to be kept.
        content: gives the bytes of this moment.
    """

    def __init__(self, name: str, path: Callable[[], str], content: Callable[[], bytes]) -> None:
        self._name = name
        self._path = path
        self._content = content
        self._wanted = 0
        self._done = 0
        self._lock = trio.Lock()
        self._one_writer = trio.CapacityLimiter(1)

    async def save(self) -> None:
        """Bring the present content to disk.

        A failure is logged and no more: as in Java, the request is then answered as if the file had
        been written, and memory holds the new value.

        Cancellation: waits for the disk first; a save once promised is not given up.
        """
        self._wanted += 1
        mine = self._wanted
        with trio.CancelScope(shield=True):
            async with self._lock:
                if self._done >= mine:
                    return
                reached = self._wanted
                await self._write()
                self._done = reached

    async def _write(self) -> None:
        path = self._path()
        if not path:
            return
        try:
            content = self._content()
            await trio.to_thread.run_sync(storage.save, path, content, limiter=self._one_writer)
        except OSError as error:
            LOGGER.error("%s is not saved: %s", self._name, error)

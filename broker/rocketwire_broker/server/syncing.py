"""Answers wait until their messages are on the disk (``SYNC_FLUSH``).

One sync serves all answers that wait when it begins.

Java: ``CommitLog.GroupCommitService``.
"""

from __future__ import annotations

import logging
from typing import Final

import trio

from rocketwire_broker.files.log_files import LogFiles, sync

LOGGER: Final = logging.getLogger("rocketwire.broker")


class Syncing:
    """Brings a log onto the disk.

    Args:
        log: the commit log.
    """

    def __init__(self, log: LogFiles) -> None:
        self._log = log
        self._synced = log.end
        self._turn = trio.Lock()

    @property
    def is_due(self) -> bool:
        """Whether a message is not on the disk yet."""
        return self._log.end > self._synced

    async def run(self) -> bool:
        """Wait until all messages that were stored before are on the disk.

        Returns:
            False if the disk fails: nobody may be told that they are.
        """
        end = self._log.end
        async with self._turn:
            if self._synced >= end:
                return True
            end = self._log.end
            try:
                await trio.to_thread.run_sync(sync, self._log.descriptors())
            except OSError as error:
                LOGGER.error("the commit log is not on the disk: %s", error)
                return False
            self._synced = end
            return True

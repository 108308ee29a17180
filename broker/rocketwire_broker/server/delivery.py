"""``Delivery``: the only way by which frames leave the broker.

With ``SYNC_FLUSH`` frames wait until the messages before them are on the disk, and frames about new
topics wait until the name servers know these. Tasks of the server wait for both, never one of a
connection, so that the end of a connection delays or loses no frame of another one.

``Batching``: requests of several connections that come at once are answered together. A system call
that sends an answer wakes a thread of a client, which often takes the CPU at once. With 16 Java
producers, a connection each, a send costs a third less CPU time of the broker if it handles all
requests that are there before it sends the first answer. One busy connection gains nothing from it
and pays for a turn of the loop of trio, so a gathering that stays alone pauses.

Java: ``CommitLog.GroupCommitService``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

if TYPE_CHECKING:
    from rocketwire_broker.files.log_files import LogFiles
    from rocketwire_broker.server.connection import Connection
    from rocketwire_broker.state.broker import Broker


LOGGER: Final = logging.getLogger("rocketwire.broker")

Announce = Callable[["Broker"], Awaitable[None]]
"""Registers a broker's changed topics at the name servers."""


class Batch(NamedTuple):
    frames: list[tuple[int, list[bytes]]]  # by the number of their connection
    ended: trio.Event  # set when they are sent, or their connections are closed


class Delivery:
    def __init__(
        self,
        broker: Broker,
        connections: Mapping[int, Connection],
        tasks: trio.Nursery,
        log: LogFiles | None = None,
    ) -> None:
        self._broker = broker
        self._connections = connections
        self._tasks = tasks
        self._log = log
        self._synced = 0 if log is None else log.end
        self._unsynced: list[Batch] = []
        self._wake_up = trio.Event()

    async def run(self) -> None:
        """Send the frames that wait for the disk, until cancelled; one sync serves all of them."""
        while True:
            await self._wake_up.wait()
            self._wake_up = trio.Event()
            batches, self._unsynced = self._unsynced, []
            is_safe = await self._sync()
            for batch in batches:
                self._end(batch, is_safe=is_safe)

    def begin(self, announce: Announce | None = None) -> trio.Event | None:
        """Send all frames, at once (None) or when they are safe (the event of their end)."""
        outbox = self._broker.outbox
        if announce is None and not self._is_due():
            self._send_outbox()
            self._close()
            return None
        batch = Batch([(peer.number, peer.out) for peer in outbox.values()], trio.Event())
        for peer in outbox.values():
            peer.out = []
        outbox.clear()
        self._close()
        if announce is None:
            self._wait_for_disk(batch)
        else:
            self._tasks.start_soon(self._announce, announce, batch)
        return batch.ended

    async def _announce(self, announce: Announce, batch: Batch) -> None:
        await announce(self._broker)
        if self._is_due():
            self._wait_for_disk(batch)
        else:
            self._end(batch, is_safe=self._log is None or not self._log.has_failed)

    def _wait_for_disk(self, batch: Batch) -> None:
        self._unsynced.append(batch)
        self._wake_up.set()

    def _is_due(self) -> bool:
        log = self._log
        return log is not None and log.end > self._synced

    async def _sync(self) -> bool:
        log = self._log
        if log is None:
            return True
        end = log.end
        if not log.has_failed:
            try:
                descriptors = log.descriptors()
            except OSError as error:
                LOGGER.error("the commit log is not synced: %s", error)
                return False
            try:
                await trio.to_thread.run_sync(log.sync, descriptors)
            except OSError as error:
                log.give_up(error)
        if log.has_failed:
            self._cut_off_all(log)
            return False
        self._synced = end
        return True

    def _cut_off_all(self, log: LogFiles) -> None:
        # their responses are about messages that may be lost; nothing is stored any more
        self._synced = log.end
        outbox = self._broker.outbox
        frames = [(peer.number, peer.out) for peer in outbox.values()]
        outbox.clear()
        batches, self._unsynced = [*self._unsynced, Batch(frames, trio.Event())], []
        for batch in batches:
            self._end(batch, is_safe=False)

    def _send_outbox(self) -> None:
        outbox, connections = self._broker.outbox, self._connections
        peers = list(outbox.values())
        outbox.clear()
        for peer in peers:
            frames, peer.out = peer.out, []
            connection = connections.get(peer.number)
            if connection is not None and frames:
                connection.write(frames)

    def _end(self, batch: Batch, *, is_safe: bool) -> None:
        for number, frames in batch.frames:
            connection = self._connections.get(number)
            if connection is not None and is_safe:
                connection.write(frames)
            elif connection is not None:
                connection.close()
        batch.ended.set()

    def _close(self) -> None:
        closing = self._broker.closing
        while closing:
            number, reason = closing.popitem()
            connection = self._connections.get(number)
            if connection is not None:
                LOGGER.info("connection of %s is closed: %s", connection.peer.address, reason)
                connection.close()


ALONE: Final = 2  # gatherings of one connection, one after the other, before a pause

PAUSE: Final = 64  # answers without a gathering until the next one


class Batching:
    """Finds the last of the connections that had requests in the same turn of the loop."""

    def __init__(self) -> None:
        self._waiting = 0
        self._alone = 0
        self._pause = 0

    async def is_last(self) -> bool:
        if self._pause:
            self._pause -= 1
            return True
        self._waiting += 1
        await trio.lowlevel.cancel_shielded_checkpoint()
        together, self._waiting = self._waiting, 0
        if together > 1:
            self._alone = 0
        elif together:
            self._alone += 1
            if self._alone == ALONE:
                self._alone, self._pause = 0, PAUSE
        return together > 0

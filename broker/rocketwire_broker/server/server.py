"""``BrokerServer``: accepts connections, carries frames, and does what is due.

Rules of this file: one task per connection, which reads and handles; all answers that a read leads
to go out in one write per connection. State changes without an await, so there are no locks.

Java: ``BrokerController``, ``NettyRemotingServer``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.message.host import Host
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.server.accounts_file import load_access, watch_accounts
from rocketwire_broker.server.clock import CHECK_SECONDS, Clock
from rocketwire_broker.server.connection import Connection
from rocketwire_broker.server.gathering import Gathering
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.tables.peer import Peer
from rocketwire_namesrv.config.tls_settings import TlsMode
from rocketwire_namesrv.protocol.preamble import is_plain
from rocketwire_namesrv.runtime.sockets import SocketStream, accept, address_text, listen
from rocketwire_namesrv.server.handshake import RefusedError, open_connection
from rocketwire_namesrv.tls.contexts import TlsContexts
from rocketwire_namesrv.tls.stream import TlsStream

if TYPE_CHECKING:
    import socket

    from rocketwire_broker.config import Config
    from rocketwire_broker.files.folder import StoreFolder
    from rocketwire_broker.server.syncing import Syncing

LOGGER: Final = logging.getLogger("rocketwire.broker")

READ_SIZE: Final = 262_144
PAUSE_SECONDS: Final = 0.1
"""Pause when the process has no file descriptor left."""

Announce = Callable[[Broker], Awaitable[None]]
"""Registers a broker's changed topics at the name servers."""


class BrokerServer:
    """A running broker.

    Args:
        config: the settings.
        broker: the state of a broker that has stopped, to go on with; its port is that of
            ``config``. With a folder for the store, what is in the folder counts.

    Attributes:
        broker: the state, once it listens.
        clock: its time.
        tls: its certificates.
        announce: called after topics have changed, before the answer that tells of it is sent;
            None while there is no name server.
    """

    broker: Broker

    def __init__(self, config: Config, broker: Broker | None = None) -> None:
        self.clock = Clock()
        if broker is not None:
            self.clock.advance(broker.clock_advance)
        self.tls = TlsContexts(config.tls)
        self._earlier = broker
        self._folder: StoreFolder | None = None
        self._syncing: Syncing | None = None
        self.announce: Announce | None = None
        self._config = config
        self._connections: dict[int, Connection] = {}
        self._number = 0
        self._gathering = Gathering()
        self._incomplete = 0
        self._timer = trio.CancelScope()
        self._places = trio.Semaphore(config.max_connections)

    async def run(
        self, *, task_status: trio.TaskStatus[BrokerServer] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Listen and serve until cancelled.

        Raises:
            BindError: the address is not local, or the port is in use.
            FolderError: the folder of the store cannot be used.
            OSError: the disk fails, or the file of accounts cannot be read.
            TlsError: a certificate is required and missing.
            IllegalValueError: the file of accounts has other content.
        """
        await self.tls.start()
        access = load_access(self._config)
        listener = await listen(self._config.bind_address, self._config.listen_port)
        with listener, ExitStack() as ending:
            config = replace(self._config, listen_port=listener.getsockname()[1])
            if config.store_path:
                from rocketwire_broker.files.folder import StoreFolder

                self._folder = StoreFolder(config)
                ending.callback(self._close_folder, self._folder)
                self.broker = self._folder.load(self.clock.now())
                if self._folder.is_synced:
                    from rocketwire_broker.server.syncing import Syncing

                    self._syncing = Syncing(self._folder.log)
            else:
                self.broker = self._earlier or Broker(config, self.clock.now())
            self.broker.access = access
            async with trio.open_nursery() as tasks:
                tasks.start_soon(watch_accounts, self.broker)
                if self._folder is not None:
                    tasks.start_soon(self._keep_folder, self._folder)
                tasks.start_soon(self._keep_time)
                tasks.start_soon(self._follow_wall_clock)
                tasks.start_soon(self.tls.watch)
                tasks.start_soon(self._accept_for_ever, listener, tasks)
                task_status.started(self)

    # ------------------------------------------------------------------ time

    async def _keep_time(self) -> None:
        """Do what is due."""
        while True:
            due = self.broker.schedule.next_due
            deadline = trio.current_time() + 3600 if due is None else self.clock.trio_time(due)
            self._timer = trio.CancelScope(deadline=deadline)
            with self._timer:
                await trio.sleep_forever()
            await self.settle()

    async def _follow_wall_clock(self) -> None:
        """Follow jumps of the wall clock, as after a sleep of the machine."""
        while True:
            await trio.sleep(CHECK_SECONDS)
            if jump := self.clock.follow():
                LOGGER.warning("the wall clock jumped by %.0f s", jump / 1000)
                # clients could send no heartbeats while the machine slept
                self.broker.members.postpone_expiry(max(0, round(jump)))
                await self.settle()

    async def _keep_folder(self, folder: StoreFolder) -> None:
        """Write offsets, groups and queues every few seconds."""
        while True:
            await trio.sleep(folder.persist_seconds)
            try:
                folder.persist(self.clock.now())
            except Exception:  # what is in the log is safe
                LOGGER.exception("tables and queues are not written")
            await self.settle()

    def _close_folder(self, folder: StoreFolder) -> None:
        folder.close(self.clock.now())

    async def advance(self, milliseconds: int) -> None:
        """Move the clock, for tests; what is due meanwhile happens at its own time.

        Clients cannot send heartbeats meanwhile, so none of them expires. What happens every few
        seconds happens only when something else does.
        """
        broker = self.broker
        end = self.clock.now() + milliseconds
        while (due := broker.schedule.next_due_for_once()) is not None and due <= end:
            self._move_to(due)
            await self.settle()
            await trio.lowlevel.checkpoint()
        self._move_to(end)
        await self.settle()

    def _move_to(self, time: int) -> None:
        step = max(0, time - self.clock.now())
        self.clock.advance(step)
        self.broker.clock_advance += step
        self.broker.members.postpone_expiry(step)

    def cut(self) -> None:
        """Close all connections, for tests."""
        for connection in self._connections.values():
            connection.close()

    def _hurry(self) -> None:
        """Wake the timer earlier, if something is due earlier than it knows."""
        due = self.broker.schedule.next_due
        if due is not None:
            deadline = self.clock.trio_time(due)
            if deadline < self._timer.deadline:
                self._timer.deadline = deadline

    # ------------------------------------------------------------------ connections

    async def _accept_for_ever(self, listener: socket.socket, tasks: trio.Nursery) -> None:
        exhausted = False
        while True:
            await self._places.acquire()
            try:
                accepted = await accept(listener)
                stream = SocketStream(accepted)
            except OSError as error:
                self._places.release()
                if not exhausted:
                    LOGGER.warning("no connection can be accepted: %s", error)
                exhausted = True
                await trio.sleep(PAUSE_SECONDS)
                continue
            exhausted = False
            tasks.start_soon(self._serve, stream, address_text(accepted), tasks)

    async def _open(self, connection: Connection) -> bytes:
        """Read up to the first frame; return the bytes of it that were received."""

        def introduce(client: str) -> None:
            """Use the address of a load balancer's client from now on."""
            connection.peer.address, connection.peer.host = client, Host.parse(client)

        socket = connection.socket
        data = await socket.receive_some(READ_SIZE)
        if data and (not is_plain(data) or self.tls.mode is TlsMode.ENFORCING):
            with connection.handshake as handshake:
                data = await open_connection(connection, self.tls, introduce, data)
            if handshake.cancelled_caught:
                raise trio.TooSlowError("its header or its handshake took too long")
        return data

    async def _serve(self, stream: SocketStream, address: str, tasks: trio.Nursery) -> None:
        self._number += 1
        try:
            host = Host.parse(address)
        except ValueError:  # the peer has closed it already
            host = Host(bytes(4), 0)
        peer = Peer(self._number, address, host)
        session = Session(self.broker, peer)
        connection = Connection(stream, peer, session, tasks, self._config.max_unsent_bytes)
        self._connections[peer.number] = connection
        self.broker.connected(peer)
        try:
            with connection.scope:
                await self._converse(connection)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        except (DecodeError, RefusedError, trio.TooSlowError) as error:
            LOGGER.warning("connection of %s is closed: %s", peer.address, error)
        except Exception:
            LOGGER.exception("connection of %s failed, it is closed", address)
        finally:
            del self._connections[peer.number]
            self._incomplete -= connection.incomplete
            self._places.release()
            self.broker.lost(peer, self.clock.now())
            trio.lowlevel.notify_closing(stream.socket)
            stream.socket.close()
            self._deliver()

    async def _converse(self, connection: Connection) -> None:
        work, gathering = connection.session.receive, self._gathering
        data = await self._open(connection)
        over_tls = type(connection.stream) is TlsStream
        receive = connection.stream.receive_some if over_tls else connection.socket.receive_some
        while data or (data := bytes(await receive(READ_SIZE))):
            try:
                work(data, self.clock.now())
            finally:
                if await gathering.answers():
                    await self.settle()
            self._note_incomplete(connection)
            await connection.drained()
            data = b""

    def _note_incomplete(self, connection: Connection) -> None:
        """Count the bytes that a connection keeps until its next frame is complete.

        Raises:
            LimitExceededError: all connections keep too much.
        """
        size = connection.session.incomplete
        if size != connection.incomplete:
            self._incomplete += size - connection.incomplete
            connection.incomplete = size
            limit = self._config.max_incomplete_bytes
            if self._incomplete > limit:
                what = "bytes of requests that are not complete"
                raise LimitExceededError(
                    f"{self._incomplete} {what}", declared=self._incomplete, limit=limit
                )

    async def settle(self) -> None:
        """Do what follows from the last requests, and send all frames."""
        broker = self.broker
        try:
            broker.settle(self.clock.now())
        except Exception:  # what is due for one must not end the broker of all
            LOGGER.exception("something that was due failed")
        topics = broker.topics
        is_new = bool(topics.changed or topics.removed) and self.announce is not None
        syncing = self._syncing if self._syncing is not None and self._syncing.is_due else None
        if is_new or syncing is not None:
            await self._deliver_after(self.announce if is_new else None, syncing)
        else:
            self._deliver()
        self._hurry()

    async def _deliver_after(self, announce: Announce | None, syncing: Syncing | None) -> None:
        """Send all frames when name servers know new topics, and the disk has the messages."""
        frames = self._take()
        try:
            if announce is not None:
                await announce(self.broker)
            is_safe = syncing is None or await syncing.run()
        except trio.Cancelled:  # the connection whose task this is was closed
            self._cut_off(frames)
            raise
        if is_safe:
            self._send(frames)
        else:
            self._cut_off(frames)

    def _take(self) -> list[tuple[int, list[bytes]]]:
        """Take the frames that are to be sent, by the number of their connection."""
        taken: list[tuple[int, list[bytes]]] = []
        for peer in self.broker.outbox.values():
            taken.append((peer.number, peer.out))
            peer.out = []
        self.broker.outbox.clear()
        return taken

    def _send(self, taken: list[tuple[int, list[bytes]]]) -> None:
        for number, frames in taken:
            connection = self._connections.get(number)
            if connection is not None and frames:
                connection.write(frames)

    def _cut_off(self, taken: list[tuple[int, list[bytes]]]) -> None:
        """Close the connections of answers that must not be sent."""
        for number, _ in taken:
            connection = self._connections.get(number)
            if connection is not None:
                connection.close()

    def _deliver(self) -> None:
        broker, connections = self.broker, self._connections
        outbox = broker.outbox
        while outbox:
            _, peer = outbox.popitem()
            frames, peer.out = peer.out, []
            connection = connections.get(peer.number)
            if connection is not None and frames:
                connection.write(frames)
        while broker.closing:
            number, reason = broker.closing.popitem()
            connection = connections.get(number)
            if connection is not None:
                LOGGER.info("connection of %s is closed: %s", connection.peer.address, reason)
                connection.close()

"""``BrokerServer``: accepts connections, carries frames, and does what is due.

Rules of this file: one task per connection, which reads and handles; all answers that a read leads
to go out in one write per connection. State changes without an await, so there are no locks.

Java: ``BrokerController``, ``NettyRemotingServer``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.connection.guards import Deadlines
from rocketwire.errors import DecodeError
from rocketwire.serving.acceptor import Acceptor, sweep_for_ever
from rocketwire.serving.events import ConnectionTooSlow, FrameRefused, count_limit
from rocketwire.serving.handshake import RefusedError, open_connection
from rocketwire.serving.sockets import listen
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.serving.tls.stream import TlsStream
from rocketwire.wire.message.host import Host
from rocketwire_broker.access.access import find_exposure
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.server.accounts_file import load_access, watch_accounts
from rocketwire_broker.server.clock import CHECK_SECONDS, Clock
from rocketwire_broker.server.connection import Connection
from rocketwire_broker.server.delivery import Batching, Delivery
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.state.schedule import describe_actions
from rocketwire_broker.tables.members import Peer

if TYPE_CHECKING:
    from rocketwire.connection.guards import Overdue
    from rocketwire.serving.events import Event
    from rocketwire.serving.sockets import SocketStream
    from rocketwire_broker.config import Config
    from rocketwire_broker.files.folder import StoreFolder
    from rocketwire_broker.files.log_files import LogFiles
    from rocketwire_broker.server.delivery import Announce

LOGGER: Final = logging.getLogger("rocketwire.broker")

READ_SIZE: Final = 262_144
PAUSE_SECONDS: Final = 0.01
"""Time between two looks at whether the answers of a connection are sent."""
MAX_BATCH_BYTES: Final = 4 << 20
"""Bytes of answers of several connections; with more, no further requests are waited for."""

SLOW_SECONDS: Final = 0.1
"""Time for requests of one read, or for what is due at once, after which a warning is logged."""


class BrokerServer:
    """A running broker.

    Args:
        broker: the state of a broker that has stopped, to continue with, unless there is a folder.
    """

    broker: Broker  # the state, once it listens
    _delivery: Delivery

    def __init__(self, config: Config, broker: Broker | None = None) -> None:
        self.clock = Clock()
        if broker is not None:
            self.clock.advance(broker.clock_advance)
        self.tls = TlsContexts(config.tls, LOGGER)
        self._earlier = broker
        self._folder: StoreFolder | None = None
        # registers changed topics before the response to the client is sent; None while
        # there is no name server
        self.announce: Announce | None = None
        self._config = config
        self._connections: dict[int, Connection] = {}
        self._number = 0
        self._batching = Batching()
        self._timer = trio.CancelScope()

    async def run(
        self, *, task_status: trio.TaskStatus[BrokerServer] = trio.TASK_STATUS_IGNORED
    ) -> None:
        await self.tls.start()
        access = load_access(self._config)
        listener = await listen(self._config.bind_address, self._config.listen_port)
        with listener, ExitStack() as ending:
            config = replace(self._config, listen_port=listener.getsockname()[1])
            synced_log: LogFiles | None = None
            if config.store_path:
                from rocketwire_broker.files.folder import StoreFolder

                self._folder = StoreFolder(config)
                ending.callback(self._close_folder, self._folder)
                self.broker = self._folder.load(self.clock.now())
                if self._folder.is_synced:
                    synced_log = self._folder.log
            else:
                self.broker = self._earlier or Broker(config, self.clock.now())
            self.broker.access = access
            self.broker.record = lambda event: self._record((event,), None)
            self._acceptor = Acceptor(
                lambda: self.broker.config, self._serve_stream, self._record, LOGGER
            )
            async with trio.open_nursery() as tasks:
                self._tasks = tasks
                self._delivery = Delivery(self.broker, self._connections, tasks, synced_log)
                tasks.start_soon(self._delivery.run)
                tasks.start_soon(watch_accounts, self.broker)
                if self._folder is not None:
                    tasks.start_soon(self._keep_folder, self._folder)
                tasks.start_soon(self._keep_time)
                tasks.start_soon(self._follow_wall_clock)
                tasks.start_soon(self.tls.watch)
                tasks.start_soon(
                    sweep_for_ever, self._connections, self._deadlines, self._close_overdue
                )
                tasks.start_soon(self._acceptor.accept_for_ever, listener)
                address = listener.getsockname()[0]
                self._record(find_exposure(config, address, has_accounts=access is not None), None)
                task_status.started(self)

    # ------------------------------------------------------------------ time

    async def _keep_time(self) -> None:
        while True:
            due = self.broker.schedule.next_due
            deadline = trio.current_time() + 3600 if due is None else self.clock.trio_time(due)
            self._timer = trio.CancelScope(deadline=deadline)
            with self._timer:
                await trio.sleep_forever()
            await self.settle()

    async def _follow_wall_clock(self) -> None:
        # it jumps after a sleep of the machine
        while True:
            await trio.sleep(CHECK_SECONDS)
            ahead = self.clock.ahead
            if jump := self.clock.follow():
                LOGGER.warning("the wall clock jumped by %.0f s", jump / 1000)
                ahead = self.clock.ahead - ahead
                self.broker.clock_advance += round(ahead)
                # clients could send no heartbeats while the machine slept
                self.broker.members.postpone_expiry(round(jump + ahead))
                await self.settle()

    async def _keep_folder(self, folder: StoreFolder) -> None:
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
        """Move the clock, for tests; actions run at their own time, periodic ones with others.

        Clients cannot send heartbeats meanwhile, so none of them expires.
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
        for connection in self._connections.values():
            connection.close()

    def _hurry(self) -> None:
        due = self.broker.schedule.next_due
        if due is not None:
            deadline = self.clock.trio_time(due)
            if deadline < self._timer.deadline:
                self._timer.deadline = deadline

    # ------------------------------------------------------------------ connections

    def _serve_stream(self, stream: SocketStream, address: str) -> None:
        self._tasks.start_soon(self._serve, stream, address)

    def _record(self, events: Iterable[Event], address: str | None) -> None:
        for event in events:
            count_limit(self.broker.statistics.limit_hits, event)
            LOGGER.log(event.level, "%s", event.line(address))

    def _deadlines(self) -> Deadlines:
        return Deadlines.of(self.broker.config)

    def _close_overdue(self, connection: Connection, overdue: Overdue) -> None:
        self._record((ConnectionTooSlow.of(overdue, connection.peer.address),), None)
        connection.close()

    async def _open(self, connection: Connection) -> bytes:
        def introduce(client: str) -> None:
            # the address of a client of a load balancer
            connection.peer.address, connection.peer.host = client, Host.parse(client)

        return await open_connection(connection, self.tls, introduce)

    async def _serve(self, stream: SocketStream, address: str) -> None:
        self._number += 1
        broker = self.broker
        try:
            host = Host.parse(address)
        except ValueError:  # the peer has closed it already
            host = Host(bytes(4), 0)
        peer = Peer(self._number, address, host)
        session = Session(broker, peer)
        connection = Connection(stream, peer, session, self._tasks, broker.note_unsent)
        self._connections[peer.number] = connection
        broker.add_peer(peer)
        try:
            with connection.scope:
                await self._converse(connection)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        except DecodeError as error:
            LOGGER.warning("connection of %s is closed: %s", peer.address, error)
            self._record(FrameRefused.of(error), peer.address)
        except RefusedError as refused:
            self._record((refused.event_type(client=peer.address, reason=str(refused)),), None)
        except Exception:
            LOGGER.exception("connection of %s failed, it is closed", address)
        finally:
            del self._connections[peer.number]
            self._acceptor.leave(address)
            broker.remove_peer(peer, self.clock.now())
            trio.lowlevel.notify_closing(stream.socket)
            stream.socket.close()
            self._begin_delivery()

    async def _converse(self, connection: Connection) -> None:
        session, broker, batching = connection.session, self.broker, self._batching
        data = await self._open(connection)
        over_tls = type(connection.stream) is TlsStream
        receive = connection.stream.receive_some if over_tls else connection.socket.receive_some
        while session.is_paused or data or (data := bytes(await receive(READ_SIZE))):
            start = perf_counter()
            try:
                session.receive(data, self.clock.now())
            finally:
                if (seconds := perf_counter() - start) > SLOW_SECONDS:
                    code, address = session.last_code, connection.peer.address
                    self._report_slow(seconds, f"requests of {address} up to one with code {code}")
                if broker.queued >= MAX_BATCH_BYTES or await batching.is_last():
                    broker.queued = 0
                    await self.settle()
            if session.frame_started:
                connection.note_frames(
                    trio.current_time(), is_complete=session.has_handled, is_started=True
                )
            else:
                connection.is_active, connection.frame_since = True, math.inf
            await connection.drain()
            if session.is_paused:  # answers may still wait for the disk or a name server
                await trio.sleep(PAUSE_SECONDS if connection.peer.unsent else 0)
            data = b""

    def _report_slow(self, seconds: float, what: str) -> None:
        self.broker.statistics.slow += 1
        LOGGER.warning("nobody was served for %.1f s: %s", seconds, what)

    async def settle(self) -> None:
        """Do what follows from the last requests, and wait until all frames are sent."""
        now = self.clock.now()
        try:
            actions = self.broker.settle(now)
            if actions and (seconds := (self.clock.now() - now) / 1000) > SLOW_SECONDS:
                self._report_slow(seconds, f"due were {describe_actions(actions)}")
        except Exception:  # what is due for one must not end the broker of all
            LOGGER.exception("something that was due failed")
        ended = self._begin_delivery()
        self._hurry()
        if ended is not None:
            await ended.wait()

    def _begin_delivery(self) -> trio.Event | None:
        topics = self.broker.topics
        is_new = bool(topics.changed or topics.removed)
        return self._delivery.begin(self.announce if is_new else None)

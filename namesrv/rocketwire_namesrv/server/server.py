"""The portable driver: sockets, time, files and the log around the sans-IO core, with trio.

Rules of this file: one task per connection, which reads, calls the session, and writes, in that
order: if a peer does not read its responses, the server does not read from it. All state changes
happen inside ``Session`` and ``State`` calls without an await, so there are no locks. ``except
Exception`` surrounds each connection: whatever a peer sends, the others are served.

Java: ``NamesrvController``, ``NettyRemotingServer``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.connection.guards import Deadlines, Guard
from rocketwire.serving.acceptor import Acceptor, sweep_for_ever
from rocketwire.serving.events import ConnectionTooSlow, LimitExceeded
from rocketwire.serving.handshake import RefusedError, open_connection
from rocketwire.serving.preamble import describe, is_plain
from rocketwire.serving.sockets import Listening, SocketStream, listen
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.serving.tls.settings import TlsMode
from rocketwire_namesrv.config.access_control import find_exposure
from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.counters import TimedWork
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import NOTHING, Effects, Session
from rocketwire_namesrv.runtime.durable_file import DurableFile
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.server import reactor
from rocketwire_namesrv.server.admin_port import Observation
from rocketwire_namesrv.server.connection import ServerConnection, TaskConnection
from rocketwire_namesrv.server.event_log import Journal
from rocketwire_namesrv.server.known_brokers import remember_for_ever
from rocketwire_namesrv.server.notifier import Notifier
from rocketwire_namesrv.server.peers import compare_for_ever
from rocketwire_namesrv.server.reactor import EpollConnection, Reactor
from rocketwire_namesrv.server.signals import run_until_signal
from rocketwire_namesrv.server.startup import kv_content, load_state
from rocketwire_namesrv.server.timers import complete_for_ever, expire_for_ever

if TYPE_CHECKING:
    from rocketwire.connection.guards import Overdue
    from rocketwire.errors import DecodeError
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.protocol.state import State

READ_SIZE: Final = 65_536
FAREWELL_SECONDS: Final = 3.0
"""Time for the last responses when the server stops."""
TIMED_BATCHES: Final = 64
"""One of this many batches of received bytes is timed."""
LARGE: Final = 16_384
"""Responses at least this large, in bytes, are tracked until they are sent."""
STEPS_SECONDS: Final = 0.0003
"""Time slice of a large registration."""
BEGINNING_SECONDS: Final = 0.00015
"""Time slice for the first steps of a large registration."""
SERVED_STEPS_SECONDS: Final = 0.001
"""Time slice of a large registration if the reactor serves readers between its steps."""


async def serve(
    config: Config,
    *,
    state: State | None = None,
    task_status: trio.TaskStatus[NameServer] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run a name server until it is stopped (``NameServer.stop``) or cancelled.

    Args:
        config: settings; ``listen_port`` 0 takes any free port.
        state: the initial state; loaded from disk by default.
        task_status: started with the server once it listens; ``NameServer.listening`` has the real
            port.

    Raises:
        BindError: an address is not local, or a port is in use.
        ConfigError: a value is invalid.
        StorageError: the KV file is invalid.
        TlsError: a certificate is required and missing.
    """
    config.check()
    server = NameServer(load_state(config) if state is None else state)
    await server.run(task_status=task_status)


async def serve_until_signal(config: Config, on_boot: Callable[[Listening, str], None]) -> int:
    """Run a name server until SIGTERM or SIGINT, and stop it gracefully; main thread only.

    Args:
        on_boot: called when it listens, with its address and the address of its status page, which
            is empty if there is none.

    Returns:
        The number of the signal.
    """
    return await run_until_signal(partial(serve, config), on_boot)


class NameServer:
    """A running name server."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.connections: dict[int, ServerConnection] = {}  #: the open connections by id
        #: address and port, once it listens
        self.listening = Listening(state.config.bind_address, state.config.listen_port)
        #: the driver of its sockets; None if each connection has a task
        self.reactor: Reactor | None = None
        self.tls = TlsContexts(state.config.tls, LOGGER)
        self.journal = Journal()  #: records all events
        #: sends notifications to brokers
        self.notifier = Notifier(state, self.tls, self.record_events)
        self.acceptor = Acceptor(
            lambda: state.config, self.start_serving, self.record_events, LOGGER
        )
        self.observation = Observation(self)  #: the port for operators
        self.stopped = trio.Event()  #: set when ``run`` ends
        self._next_id = 1
        self._batches = 0
        self._stopping = trio.Event()
        self._turn = trio.Semaphore(1, max_value=1)
        self._kv_file = DurableFile(
            "the KV configuration", lambda: state.config.kv_config_path, lambda: kv_content(state)
        )
        self._config_file = DurableFile(
            "the configuration",
            lambda: state.config.config_store_path,
            lambda: state.config.to_properties(),
        )

    async def run(
        self, *, task_status: trio.TaskStatus[NameServer] = trio.TASK_STATUS_IGNORED
    ) -> None:
        config = self.state.config
        await self.tls.start()
        listener = await listen(config.bind_address, config.listen_port)
        with listener:
            self.listening = Listening(config.bind_address, listener.getsockname()[1])
            self.state.config = replace(config, listen_port=self.listening.port)
            self.state.epoch_ms = int((time.time() - trio.current_time()) * 1000)
            self.state.started = trio.current_time()
            await self.observation.start()
            async with trio.open_nursery() as connections:
                if config.driver != "portable" and reactor.is_available():
                    self.reactor = Reactor(self, connections, self.state.counters)
                    connections.start_soon(self.reactor.run)
                self._connections = connections
                async with trio.open_nursery() as services:
                    self.notifier.tasks = services
                    services.start_soon(self.acceptor.accept_for_ever, listener)
                    services.start_soon(
                        sweep_for_ever, self.connections, self._deadlines, self._close_overdue
                    )
                    services.start_soon(complete_for_ever, self)
                    services.start_soon(expire_for_ever, self)
                    services.start_soon(self.tls.watch)
                    services.start_soon(remember_for_ever, self)
                    services.start_soon(self.observation.serve)
                    services.start_soon(compare_for_ever, self)
                    self.record_events(
                        find_exposure(self.state.config, listener.getsockname()[0]), None
                    )
                    task_status.started(self)
                    await self._stopping.wait()
                    self.notifier.tasks = None
                    services.cancel_scope.cancel()
                listener.close()
                connections.cancel_scope.deadline = trio.current_time() + FAREWELL_SECONDS
                for connection in list(self.connections.values()):
                    connection.finish("the server stops")
                if self.reactor is not None:
                    self.reactor.stop()
        self.stopped.set()

    async def stop(self) -> None:
        """End ``run``; with enableShutdownGracefully after the GO_AWAY phase.

        From now on no routes are returned, as in Java after 5.5.1. In that phase clients that
        understand GO_AWAY receive it, and other clients are still served (Java:
        ``NamesrvController.shutdown``, ``NettyRemotingServer.shutdown``).
        """
        config = self.state.config
        self.state.shutting_down = True
        if config.enable_shutdown_gracefully:
            self.state.sends_away = True
            await trio.sleep(max(0, config.shutdown_wait_time_seconds))
        self._stopping.set()

    # ---- connections

    def start_serving(self, stream: SocketStream, address: str) -> None:
        """Serve an accepted connection."""
        if self.reactor is None:
            self._connections.start_soon(self._serve_accepted, stream, address, b"")
            return
        peer = self._new_peer(address)
        session = Session(self.state, peer)
        connection = self.reactor.add(stream, session, peer)
        self.connections[peer.connection_id] = connection

    def begins_plainly(self, data: bytes) -> bool:
        return is_plain(data) and self.tls.mode is not TlsMode.ENFORCING

    def pass_on(self, connection: EpollConnection, received: bytes) -> None:
        del self.connections[connection.peer.connection_id]
        self._connections.start_soon(
            self._serve_accepted, connection.stream, connection.peer.address, received
        )

    async def _serve_accepted(self, stream: SocketStream, address: str, received: bytes) -> None:
        try:
            await self.serve_stream(stream, address, received)
        finally:
            self.acceptor.leave(address)

    def _new_peer(self, address: str) -> Peer:
        peer = Peer(self._next_id, address)
        self._next_id += 1
        return peer

    @property
    def status_page(self) -> str:
        return self.observation.url

    @property
    def driver_name(self) -> str:
        """The driver of the connections: ``reactor`` or ``portable``."""
        return "portable" if self.reactor is None else "reactor"

    async def serve_stream(
        self, stream: trio.abc.Stream, address: str, received: bytes = b""
    ) -> None:
        """Serve one connection until it ends, and close it.

        Args:
            stream: any stream of bytes; the server owns it from now on.
            address: of the peer, ``host:port``, for the log.
            received: bytes that were read from it already.
        """
        peer = self._new_peer(address)
        connection = TaskConnection(stream, Session(self.state, peer), peer)
        self.connections[peer.connection_id] = connection
        try:
            try:
                with connection.scope:
                    await self._converse(connection, await self._open(connection, received))
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                connection.finish(f"broken: {error.__cause__ or error}")
            finally:
                self.connection_lost(connection)
        except Exception:  # noqa: BLE001 - an error of one connection must not affect others
            LOGGER.exception("connection of %s failed, it is closed", address)
        finally:
            del self.connections[peer.connection_id]
            await trio.aclose_forcefully(connection.stream)

    async def _open(self, connection: TaskConnection, received: bytes) -> bytes:
        try:
            introduce = partial(self._introduce, connection)
            return await open_connection(connection, self.tls, introduce, received)
        except RefusedError as refused:
            address = connection.peer.address
            self.record_events((refused.event_type(client=address, reason=str(refused)),), address)
            connection.finish(f"refused before its first frame: {refused}")
            return b""

    def _introduce(self, connection: TaskConnection, client: str) -> None:
        # the client of a load balancer has another address than its connection
        if client != connection.peer.address:
            connection.peer = connection.peer._replace(address=client)
            connection.session = Session(self.state, connection.peer)

    async def _converse(self, connection: TaskConnection, data: bytes) -> None:
        session = connection.session
        receive, work = connection.stream.receive_some, session.receive
        while connection.closing is None:
            if not data:
                connection.reading = True
                data = bytes(await receive(READ_SIZE))
                connection.reading = False
                if not data:
                    connection.finish("closed by the peer")
                    return
            now = trio.current_time()
            self._batches += 1
            if self._batches % TIMED_BATCHES:
                if answers := session.answer_routes(data, now):
                    data = b""
                    await self._send(connection, answers)
                    continue
                effects = work(data, now)
            else:
                effects = self.state.counters.time_call(work, data, now)
            connection.note_progress(data, effects, now)
            data = b""
            await self.carry_out(connection, effects)

    async def carry_out(self, connection: ServerConnection, effects: Effects) -> None:
        while True:
            self.report(connection, effects)
            send = effects.send if await self._saved(effects) else effects.send_unsaved
            if send:
                await self._send(connection, send)
            if effects.close is not None:
                self.refuse(connection, effects.close)
            if not connection.session.busy:
                return
            effects = await self._proceed(connection)

    def note_unsent(self, connection: ServerConnection, size: int) -> None:
        """Track responses that their peer has not received yet; close the largest ones above the
        limit."""
        unsent, limit = self.state.unsent, self.state.config.max_all_unsent_bytes
        unsent.note(connection.peer.connection_id, size if size >= LARGE else 0)
        for number, waiting in unsent.remove_largest(limit):
            what = f"unsent responses; connection {number} with {waiting} bytes is closed"
            exceeded = LimitExceeded(limit=Guard.ALL_UNSENT_BYTES, allowed=limit, what=what)
            self.record_events((exceeded,), None)
            if (slow := self.connections.get(number)) is not None:
                slow.close("responses were not read, and too many wait for all peers")

    async def _send(self, connection: ServerConnection, answers: bytes) -> None:
        connection.sending = True
        if len(answers) >= LARGE:
            self.note_unsent(connection, len(answers))
        await connection.stream.send_all(answers)
        if len(answers) >= LARGE:
            self.note_unsent(connection, 0)
        connection.sending = False
        connection.heard = trio.current_time()

    async def _saved(self, effects: Effects) -> bool:
        kv = not effects.persist_kv or await self._saved_kv()
        config = not effects.persist_config or await self._config_file.save()
        return kv and config

    async def _saved_kv(self) -> bool:
        counters = self.state.counters
        start = counters.begin()
        saved = await self._kv_file.save()
        if saved:
            counters.record_duration(TimedWork.KV_PERSIST, start)
        return saved

    async def _proceed(self, connection: ServerConnection) -> Effects:
        # a request with several steps takes turns with those of other connections
        session = connection.session
        if session.stepping:
            if not connection.has_turn:
                await self._turn.acquire()
                connection.has_turn = True
            try:
                effects = self._steps(session)
                while effects is NOTHING and session.stepping:
                    await trio.lowlevel.checkpoint()
                    effects = self._steps(session)
            finally:
                self._leave_turn(connection)
        else:
            await trio.lowlevel.checkpoint()
            effects = session.proceed(trio.current_time())
        connection.note_progress(b"", effects, trio.current_time())
        return effects

    def begin_steps(self, connection: ServerConnection) -> Effects | None:
        """Take the first steps of a request, if no other request is in progress; return None if
        ``carry_out`` has to continue."""
        try:
            self._turn.acquire_nowait()
        except trio.WouldBlock:
            return None
        connection.has_turn = True
        effects = _take_steps(connection.session, BEGINNING_SECONDS)
        if effects is NOTHING and connection.session.stepping:
            return None
        self._leave_turn(connection)
        connection.note_progress(b"", effects, trio.current_time())
        return effects

    def _steps(self, session: Session) -> Effects:
        if self.reactor is None:
            return _take_steps(session, STEPS_SECONDS)
        return _take_steps(session, SERVED_STEPS_SECONDS, self.reactor.serve_ready)

    def _leave_turn(self, connection: ServerConnection) -> None:
        if connection.has_turn:
            connection.has_turn = False
            self._turn.release()

    def report(self, connection: ServerConnection, effects: Effects) -> None:
        if effects.events:
            self.journal.record(effects.events, connection.peer.address)
            self.notifier.send(effects.notify)
        for number in effects.close_connections:
            if (closed := self.connections.get(number)) is not None:
                closed.close("closed at the request of another connection")

    def refuse(self, connection: ServerConnection, error: DecodeError) -> None:
        opening = connection.opening or error.excerpt
        looks = f"; it looks like {describe(opening)}" if opening else ""
        LOGGER.warning("connection of %s closed: %s%s", connection.peer.address, error, looks)
        connection.finish(f"invalid command: {error}{looks}")

    def forget(self, connection: ServerConnection) -> None:
        del self.connections[connection.peer.connection_id]
        self.acceptor.leave(connection.peer.address)

    def _deadlines(self) -> Deadlines:
        return Deadlines.of(self.state.config)

    def _close_overdue(self, connection: ServerConnection, overdue: Overdue) -> None:
        self.record_events((ConnectionTooSlow.of(overdue, connection.peer.address),), None)
        connection.close(overdue.text, Reason.IDLE)

    def connection_lost(self, connection: ServerConnection) -> None:
        """Unregister the brokers of a connection that has ended, unless the server stops."""
        if not self._stopping.is_set():
            events = connection.session.connection_lost(trio.current_time(), connection.reason)
            self.record_events(events, connection.peer.address)
        else:
            connection.session.abandon()
        self._leave_turn(connection)
        self.state.unsent.note(connection.peer.connection_id, 0)
        self.journal.record_end(connection)

    # ---- events

    def record_events(self, events: Iterable[Event], address: str | None) -> None:
        self.journal.record(events, address)
        self.notifier.send(self.state.notifications(events))


def _take_steps(
    session: Session, seconds: float, serve_others: Callable[[], None] | None = None
) -> Effects:
    until = time.monotonic() + seconds
    if serve_others is not None:
        serve_others()
    while True:
        effects = session.proceed(trio.current_time())
        if serve_others is not None:
            serve_others()
        if effects is not NOTHING or not session.stepping or time.monotonic() >= until:
            return effects

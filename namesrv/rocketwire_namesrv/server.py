"""The portable driver: sockets, time, files and the log around the sans-IO core, with trio.

Rules of this file: one task per connection, which reads, lets the session work, and writes, in that
order, so that a peer that does not read its answers is not read from either.  All state changes
happen inside ``Session`` and ``State`` calls without an await between, which is all the locking
there is.  No cancel scope and no timer per request: one sweeper looks at all connections once in a
while.  ``except Exception`` stands around a connection and around the scan for silent brokers: whatever a
peer sends, the others are served.

Java: ``NamesrvController``, ``NettyRemotingServer``.
"""

from __future__ import annotations

import math
import signal
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.wire.command import encode
from rocketwire_namesrv import storage
from rocketwire_namesrv.connections import Connection
from rocketwire_namesrv.durable import DurableFile
from rocketwire_namesrv.handlers import Peer
from rocketwire_namesrv.kv import KVConfig
from rocketwire_namesrv.logs import LOGGER
from rocketwire_namesrv.occurrences import Reason
from rocketwire_namesrv.preamble import describe
from rocketwire_namesrv.session import Session
from rocketwire_namesrv.sockets import Listening, SocketStream, accept, address_text, listen
from rocketwire_namesrv.state import State

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Iterable

    from rocketwire.errors import DecodeError
    from rocketwire_namesrv.config import Config
    from rocketwire_namesrv.occurrences import Occurrence
    from rocketwire_namesrv.session import Outcome
    from rocketwire_namesrv.state import Notification

__all__ = ["NameServer", "load_state", "serve", "serve_until_signal"]

READ_SIZE: Final = 65_536
FIRST_SCAN_SECONDS: Final = 5.0
"""From the start to the first look for silent brokers, as in Java."""
SWEEP_SECONDS: Final = 1.0
"""Between two looks for idle connections; less where a limit is short."""
ACCEPT_PAUSE_SECONDS: Final = 0.1
"""Before the next attempt, when the process has no file descriptor left."""
FAREWELL_SECONDS: Final = 3.0
"""For answers that are under way when the server stops."""
NOTIFICATIONS_AT_ONCE: Final = 64
REPEAT_SECONDS: Final = 60.0
"""Between two warnings that no more connections are accepted."""


def load_state(config: Config) -> State:
    """Make the state of a server that starts now, with what is on disk; blocks.

    Raises:
        StorageError: the KV file is there and makes no sense.
    """
    table = {}
    if config.kv_config_path:
        try:
            table = storage.load_kv(config.kv_config_path)
        except OSError as error:
            LOGGER.warning("load KV config table exception, it starts empty: %s", error)
    return State(config, kv=KVConfig(table), allow_config_update=config.allow_config_update)


async def serve(
    config: Config,
    *,
    state: State | None = None,
    task_status: trio.TaskStatus[NameServer] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run a name server until it is stopped (``NameServer.stop``) or cancelled.

    Args:
        config: settings; ``listen_port`` 0 takes any free port.
        state: what it knows at the start; by default what is on disk.
        task_status: told the server once it listens; ``NameServer.listening`` has the real port.

    Raises:
        BindError: the address is not ours, or the port is taken.
        StorageError: the KV file is there and makes no sense.
    """
    server = NameServer(load_state(config) if state is None else state)
    await server.run(task_status=task_status)


async def serve_until_signal(config: Config, on_boot: Callable[[Listening], None]) -> int:
    """Run a name server until SIGTERM or SIGINT, and stop it gracefully; main thread only.

    A second signal cuts the graceful phase short.

    Returns:
        The number of the signal.
    """
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:
            server: NameServer = await nursery.start(partial(serve, config))
            on_boot(server.listening)
            number: int = await anext(signals)
            LOGGER.info("stopping on signal %d", number)
            nursery.start_soon(server.stop)
            nursery.start_soon(_stop_at_once, signals, nursery.cancel_scope)
            await server.stopped.wait()
            nursery.cancel_scope.cancel()
    return number


async def _stop_at_once(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    """Let the next signal end everything."""
    await anext(signals)
    scope.cancel()


class NameServer:
    """A running name server.

    Attributes:
        state: what it knows.
        connections: those open now, by id.
        listening: address and port, once it listens.
        stopped: set when ``run`` has come to its end.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.connections: dict[int, Connection] = {}
        self.listening = Listening(state.config.bind_address, state.config.listen_port)
        self.stopped = trio.Event()
        self._next_id = 1
        self._next_full_warning = -math.inf
        self._stopping = trio.Event()
        self._slots = trio.Semaphore(max(1, state.config.max_connections))
        self._notifying = trio.CapacityLimiter(NOTIFICATIONS_AT_ONCE)
        self._kv_file = DurableFile(
            "the KV configuration",
            lambda: state.config.kv_config_path,
            lambda: storage.kv_document(state.kv.document()),
        )
        self._config_file = DurableFile(
            "the configuration",
            lambda: state.config.config_store_path,
            lambda: state.config.stored(),
        )

    async def run(
        self, *, task_status: trio.TaskStatus[NameServer] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Listen and serve; see ``serve``."""
        config = self.state.config
        listener = await listen(config.bind_address, config.listen_port)
        with listener:
            self.listening = Listening(config.bind_address, listener.getsockname()[1])
            self.state.config = replace(config, listen_port=self.listening.port)
            self.state.epoch_ms = int((time.time() - trio.current_time()) * 1000)
            self.state.started = trio.current_time()
            async with trio.open_nursery() as connections:
                async with trio.open_nursery() as services:
                    self._services = services
                    services.start_soon(self._accept_for_ever, listener, connections)
                    services.start_soon(self._sweep_for_ever)
                    services.start_soon(self._expire_for_ever)
                    task_status.started(self)
                    await self._stopping.wait()
                    services.cancel_scope.cancel()
                listener.close()
                connections.cancel_scope.deadline = trio.current_time() + FAREWELL_SECONDS
                for connection in list(self.connections.values()):
                    connection.finish("the server stops")
        self.stopped.set()

    async def stop(self) -> None:
        """Let ``run`` come to its end; with enableShutdownGracefully after the GO_AWAY phase.

        In that phase clients that understand it are sent away, all others are served (Java:
        ``NettyRemotingServer.shutdown``).
        """
        config = self.state.config
        if config.enable_shutdown_gracefully:
            self.state.shutting_down = True
            await trio.sleep(max(0, config.shutdown_wait_time_seconds))
        self._stopping.set()

    # ---- connections

    async def _accept_for_ever(self, listener: socket.socket, connections: trio.Nursery) -> None:
        exhausted = False
        while True:
            await self._free_slot()
            try:
                accepted = await accept(listener)
            except OSError as error:
                self._slots.release()
                if not exhausted:
                    LOGGER.warning("no connection can be accepted at the moment: %s", error)
                exhausted = True
                await trio.sleep(ACCEPT_PAUSE_SECONDS)
            else:
                exhausted = False
                connections.start_soon(self._serve_socket, accepted)

    async def _free_slot(self) -> None:
        try:
            self._slots.acquire_nowait()
        except trio.WouldBlock:
            now = trio.current_time()
            if now >= self._next_full_warning:
                self._next_full_warning = now + REPEAT_SECONDS
                limit = self.state.config.max_connections
                LOGGER.warning("%d connections are the limit, others have to wait", limit)
            await self._slots.acquire()

    async def _serve_socket(self, accepted: socket.socket) -> None:
        config = self.state.config
        try:
            address = address_text(accepted)
            try:
                stream = SocketStream(
                    accepted,
                    send_buffer=config.server_socket_snd_buf_size,
                    receive_buffer=config.server_socket_rcv_buf_size,
                )
            except OSError:
                accepted.close()  # the peer has gone already
                return
            await self.serve_stream(stream, address)
        finally:
            self._slots.release()

    async def serve_stream(self, stream: trio.abc.Stream, address: str) -> None:
        """Serve one connection until it ends, and close it.

        Args:
            stream: any stream of bytes; the server owns it from now on.
            address: of the peer, ``host:port``, for the log.
        """
        peer = Peer(self._next_id, address)
        self._next_id += 1
        idle = self.state.config.server_channel_max_idle_time_seconds
        connection = Connection(
            stream, Session(self.state, peer), peer, idle if idle > 0 else math.inf
        )
        self.connections[peer.connection_id] = connection
        try:
            try:
                with connection.scope:
                    await self._converse(connection)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                connection.finish(f"broken: {error.__cause__ or error}")
            finally:
                self._lost(connection)
        except Exception:  # noqa: BLE001 - the seam: one peer's trouble must not be the others'
            LOGGER.exception("connection of %s failed, it is closed", address)
        finally:
            del self.connections[peer.connection_id]
            await trio.aclose_forcefully(stream)

    async def _converse(self, connection: Connection) -> None:
        receive, work = connection.stream.receive_some, connection.session.receive
        while connection.closing is None:
            connection.reading = True
            data = bytes(await receive(READ_SIZE))
            connection.reading = False
            if not data:
                connection.finish("closed by the peer")
                return
            now = trio.current_time()
            outcome = work(data, now)
            connection.note_progress(data, outcome, now)
            await self._carry_out(connection, outcome)

    async def _carry_out(self, connection: Connection, outcome: Outcome) -> None:
        if outcome.occurrences:
            self._log(outcome.occurrences, connection.peer.address)
            self._send_notifications(outcome.notify)
        for number in outcome.close_connections:
            self._close(number, "closed at the request of another connection")
        if outcome.persist_kv:
            await self._kv_file.save()
        if outcome.persist_config:
            await self._config_file.save()
        if outcome.send:
            await connection.stream.send_all(outcome.send)
            connection.heard = trio.current_time()
        if outcome.close is not None:
            self._refuse(connection, outcome.close)

    def _refuse(self, connection: Connection, error: DecodeError) -> None:
        opening = connection.opening or error.excerpt
        looks = f"; it looks like {describe(opening)}" if opening else ""
        LOGGER.warning("connection of %s closed: %s%s", connection.peer.address, error, looks)
        connection.finish("bytes that are no command")

    def _close(self, number: int, why: str, reason: Reason = Reason.CLOSED) -> None:
        if (connection := self.connections.get(number)) is not None:
            connection.close(why, reason)

    def _lost(self, connection: Connection) -> None:
        """Take note of a connection's end; not at the server's own, which brokers outlive."""
        if not self._stopping.is_set():
            occurrences = connection.session.lost(trio.current_time(), connection.reason)
            self._log(occurrences, connection.peer.address)
            self._send_notifications(self.state.notifications(occurrences))
        LOGGER.debug("connection of %s: %s", connection.peer.address, connection.closing)

    # ---- time

    async def _sweep_for_ever(self) -> None:
        pause = 0.0
        while True:
            await trio.sleep(pause)
            pause = self._sweep()

    def _sweep(self) -> float:
        """End the connections whose time is up; returns seconds until the next look."""
        now = trio.current_time()
        limit = self.state.config.frame_deadline_seconds
        frame_limit = limit if limit > 0 else math.inf
        shortest = frame_limit
        for connection in list(self.connections.values()):
            shortest = min(shortest, connection.idle_limit)
            if (why := connection.overdue(now, frame_limit)) is not None:
                LOGGER.info("connection of %s closed: %s", connection.peer.address, why)
                connection.close(why, Reason.IDLE)
        return min(SWEEP_SECONDS, shortest / 8)

    async def _expire_for_ever(self) -> None:
        await trio.sleep(FIRST_SCAN_SECONDS)
        pause = max(1, self.state.config.scan_not_active_broker_interval) / 1000
        while True:
            try:
                self._expire()
            except Exception:  # noqa: BLE001 - without scans silent brokers would stay
                LOGGER.exception("the scan for silent brokers failed, the next one comes")
            await trio.sleep(pause)

    def _expire(self) -> None:
        occurrences, numbers = self.state.expire(trio.current_time())
        self._log(occurrences, None)
        self._send_notifications(self.state.notifications(occurrences))
        for number in numbers:
            self._close(number, "its broker has been silent for too long", Reason.EXPIRED)

    # ---- what happened

    def _log(self, occurrences: Iterable[Occurrence], address: str | None) -> None:
        for occurrence in occurrences:
            if LOGGER.isEnabledFor(occurrence.level):
                end = "" if address is None else f" [{address}]"
                LOGGER.log(occurrence.level, "%s%s", occurrence.text, end)

    def _send_notifications(self, notifications: Iterable[Notification]) -> None:
        for address, command in notifications:
            self._services.start_soon(self._notify, address, encode(command))

    async def _notify(self, address: str, frame: bytes) -> None:
        """Tell a broker of a new smallest id; nobody waits for it, and nobody minds a failure."""
        host, _, port = address.rpartition(":")
        seconds = self.state.config.connect_timeout_millis / 1000
        try:
            async with self._notifying:
                with trio.fail_after(seconds):
                    async with await trio.open_tcp_stream(host.strip("[]"), int(port)) as stream:
                        await stream.send_all(frame)
        except (OSError, ValueError, trio.TooSlowError, trio.BrokenResourceError) as error:
            LOGGER.warning("broker %s is not told of the smallest broker id: %s", address, error)

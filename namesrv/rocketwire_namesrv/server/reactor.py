"""The Linux driver: one task serves all connections and waits for one epoll.

Waiting is most of the cost of a route request: a task per connection pays for an ``epoll_ctl`` and
a scheduler pass each time. Here trio waits for one file descriptor, an epoll in which all sockets
are registered once; when it is ready, the reactor reads and answers everything that has arrived.

Rules of this file: this task waits for that epoll only, and lets other tasks run after a
millisecond and the sockets that were ready then. Large bodies are read last and one at a time,
without blocking. The reactor takes the first steps of a large registration itself. Everything
slower (writing a file, the rest of such a registration, TLS, a PROXY header) goes to an ordinary
task with the code of the portable driver; the socket leaves the epoll meanwhile. The bytes of a
large body are received into their final buffer. The reactor does not read from a connection while
responses to it are unsent.

Java: ``NettyRemotingServer``, whose selector threads do the same.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.session import NOTHING, Effects, Session
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.server.connection import ServerConnection

if TYPE_CHECKING:
    from rocketwire.errors import DecodeError
    from rocketwire.serving.sockets import SocketStream
    from rocketwire_namesrv.protocol.counters import Counters
    from rocketwire_namesrv.protocol.handlers import Peer

READ_SIZE: Final = 65_536
"""Bytes received at a time; with more, the allocator would call the kernel each time."""
BODY_READ_SIZE: Final = 262_144
"""Bytes of a large body received at a time: a tenth of a millisecond."""
LARGE: Final = 8192
"""The parts of responses at least this large, in bytes, are sent without joining them."""
EVENTS: Final = 64
"""Sockets served between two looks at the clock."""
ROUNDS: Final = 4
"""Maximum polls in a turn: the next request of a single client often arrives while its last
response is sent."""
TURN_SECONDS: Final = 0.001
"""Time slice of a turn."""

TIMED_TURNS: Final = 64
"""One of this many turns is timed."""


def is_available() -> bool:
    return hasattr(select, "epoll")


class Host(Protocol):
    """The server, as the reactor uses it."""

    def begins_plainly(self, data: bytes) -> bool:
        """Return whether a connection begins with a frame without TLS, and may do so."""
        ...

    def pass_on(self, connection: EpollConnection, received: bytes) -> None:
        """Serve a connection with a task, after the received bytes."""

    async def carry_out(self, connection: ServerConnection, effects: Effects) -> None:
        """Carry out the effects of a session, and call it until it waits for bytes."""

    def begin_steps(self, connection: ServerConnection) -> Effects | None:
        """Take the first steps of a request; return None if ``carry_out`` has to continue."""
        ...

    def report(self, connection: ServerConnection, effects: Effects) -> None:
        """Log events, send notifications, and close connections."""

    def note_unsent(self, connection: ServerConnection, size: int) -> None:
        """Track responses that their peer has not received yet."""

    def refuse(self, connection: ServerConnection, error: DecodeError) -> None:
        """Close a connection after an invalid command."""

    def connection_lost(self, connection: ServerConnection) -> None:
        """Unregister the brokers of a connection that has ended."""

    def forget(self, connection: ServerConnection) -> None:
        """Drop a connection that has ended, and let another one in."""


class EpollConnection(ServerConnection):
    __slots__ = ("_reactor", "begun", "filling", "scope", "stream", "unsent")

    stream: SocketStream

    def __init__(
        self,
        reactor: Reactor,
        stream: SocketStream,
        session: Session,
        peer: Peer,
    ) -> None:
        super().__init__(stream, session, peer)
        self._reactor = reactor
        self.begun = False  #: whether its first bytes were a frame
        self.filling = False  #: whether the next bytes have their own buffer (``Session.room``)
        #: of the task that serves it now; None while the reactor does
        self.scope: trio.CancelScope | None = None
        self.unsent: memoryview | None = None  #: the unsent bytes of the last responses

    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        self.unsent = None
        self.finish(why, reason)
        if self.scope is not None:
            self.scope.cancel()

    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        if self.closing is None:
            self.closing = why
            self.reason = reason
        self._reactor.end_if_done(self)


class Reactor:
    """Serves connections without a task for each."""

    def __init__(self, host: Host, tasks: trio.Nursery, counters: Counters) -> None:
        self._counters = counters
        self._host = host
        self._tasks = tasks
        self._epoll = select.epoll()
        self._connections: dict[int, EpollConnection] = {}
        self._scope = trio.CancelScope()
        self._stopping = False
        self._turns = 0
        self._bodies = 0  # rounds with bytes of large bodies

    def add(self, stream: SocketStream, session: Session, peer: Peer) -> EpollConnection:
        """Serve a connection; the reactor owns the stream."""
        connection = EpollConnection(self, stream, session, peer)
        number = stream.socket.fileno()
        self._connections[number] = connection
        self._epoll.register(number, select.EPOLLIN)
        return connection

    def stop(self) -> None:
        """End ``run`` when the last connection has ended."""
        self._stopping = True
        if not self._connections:
            self._scope.cancel()

    async def run(self) -> None:
        try:
            with self._scope:
                while True:
                    await trio.lowlevel.wait_readable(self._epoll)
                    self._run_turn()
        finally:
            for connection in list(self._connections.values()):
                connection.close("the server stops")
            self._epoll.close()

    def _run_turn(self) -> None:
        self._turns += 1
        serve = self._serve if self._turns % TIMED_TURNS else self._serve_timed
        poll = self._epoll.poll
        end = trio.current_time() + TURN_SECONDS
        now = 0.0
        for _ in range(ROUNDS):
            events = poll(0, EVENTS)
            if not events or now >= end:
                return
            now = trio.current_time()
            self._serve_all(events, now, serve)

    def serve_ready(self) -> None:
        """Serve the ready sockets; long tasks call this between their steps."""
        if not self._epoll.closed and (events := self._epoll.poll(0, EVENTS)):
            self._serve_all(events, trio.current_time(), self._serve)

    def _serve_all(
        self,
        events: list[tuple[int, int]],
        now: float,
        serve: Callable[[EpollConnection, float], None],
    ) -> None:
        bodies: list[EpollConnection] = []
        for number, _ in events:
            connection = self._connections.get(number)
            if connection is None:
                continue  # another connection has ended it
            if connection.filling:
                bodies.append(connection)
                continue
            try:
                serve(connection, now)
            except Exception:  # noqa: BLE001 - an error of one connection must not affect others
                LOGGER.exception("connection of %s failed, it is closed", connection.peer.address)
                connection.close("failed")
        if bodies:
            self._bodies += 1
            self._serve_body(bodies[self._bodies % len(bodies)], now)

    def _serve_body(self, connection: EpollConnection, now: float) -> None:
        # one connection a turn: the others are still ready in the next one
        if self._connections.get(connection.stream.socket.fileno()) is not connection:
            return  # another connection has ended it
        try:
            if connection.unsent is None and connection.session.filling:
                self._receive_body(connection, now)
            else:
                self._serve(connection, now)
        except Exception:  # noqa: BLE001 - an error of one connection must not affect others
            LOGGER.exception("connection of %s failed, it is closed", connection.peer.address)
            connection.close("failed")

    def _serve_timed(self, connection: EpollConnection, now: float) -> None:
        self._counters.time_call(self._serve, connection, now)

    def _serve(self, connection: EpollConnection, now: float) -> None:
        if connection.unsent is not None:
            self._flush(connection, connection.unsent, now)
            return
        try:
            data = connection.stream.socket.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            connection.close(f"broken: {error}")
            return
        if connection.begun:
            answer = connection.session.answer_one_route(data, now)
            if answer is not None:
                connection.heard = now
                size, parts = answer
                self._send(connection, size, parts)
                return
            answers = connection.session.answer_routes(data, now)
            if answers:
                connection.heard = now
                self._send(connection, len(answers), (answers,))
                return
        self._receive(connection, data, now)

    def _receive(self, connection: EpollConnection, data: bytes, now: float) -> None:
        if not data:
            connection.finish("closed by the peer")
            return
        if not connection.begun:
            if not self._host.begins_plainly(data):
                self._hand_over(connection, data)
                return
            connection.begun = True
        self._handle_received(connection, data, connection.session.receive(data, now), now)

    def _receive_body(self, connection: EpollConnection, now: float) -> None:
        try:
            with connection.session.room() as room:
                count = connection.stream.socket.recv_into(room, min(len(room), BODY_READ_SIZE))
        except BlockingIOError:
            return
        except OSError as error:
            connection.close(f"broken: {error}")
            return
        if count:
            self._handle_received(
                connection, b"", connection.session.receive_filled(count, now), now
            )
        else:
            connection.finish("closed by the peer")

    def _handle_received(
        self, connection: EpollConnection, data: bytes, effects: Effects, now: float
    ) -> None:
        connection.note_progress(data, effects, now)
        connection.filling = connection.session.filling
        if effects == NOTHING and connection.session.stepping:
            effects = self._host.begin_steps(connection) or effects
        if effects.persist_kv or effects.persist_config or connection.session.busy:
            self._carry_out(connection, effects)
            return
        self._host.report(connection, effects)
        if effects.send and connection.closing is None:
            connection.heard = now
            self._send(connection, len(effects.send), (effects.send,))
        if effects.close is not None and connection.closing is None:
            self._host.refuse(connection, effects.close)

    def _send(self, connection: EpollConnection, size: int, parts: tuple[bytes, ...]) -> None:
        try:
            if size < LARGE:
                sent = connection.stream.socket.send(b"".join(parts))
            else:
                sent = connection.stream.socket.sendmsg(parts)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            connection.close(f"broken: {error}")
            return
        if sent < size:
            connection.unsent = memoryview(b"".join(parts))[sent:]
            connection.sending = True
            self._epoll.modify(connection.stream.socket.fileno(), select.EPOLLOUT)
            self._host.note_unsent(connection, size)

    def _flush(self, connection: EpollConnection, unsent: memoryview, now: float) -> None:
        try:
            unsent = unsent[connection.stream.socket.send(unsent) :]
        except BlockingIOError:
            return
        except OSError as error:
            connection.close(f"broken: {error}")
            return
        connection.unsent = unsent or None
        if connection.unsent is None:
            connection.sending = False
            self._host.note_unsent(connection, 0)
            connection.heard = now
            if connection.closing is None:
                self._epoll.modify(connection.stream.socket.fileno(), select.EPOLLIN)
            else:
                self.end_if_done(connection)

    # ---- work of other tasks

    def _hand_over(self, connection: EpollConnection, received: bytes) -> None:
        # the connection still counts as an accepted one
        number = connection.stream.socket.fileno()
        self._epoll.unregister(number)
        del self._connections[number]
        self._host.pass_on(connection, received)

    def _carry_out(self, connection: EpollConnection, effects: Effects) -> None:
        self._epoll.unregister(connection.stream.socket.fileno())
        connection.scope = trio.CancelScope()
        self._tasks.start_soon(self._serve_alone, connection, connection.scope, effects)

    async def _serve_alone(
        self, connection: EpollConnection, scope: trio.CancelScope, effects: Effects
    ) -> None:
        try:
            with scope:
                await self._host.carry_out(connection, effects)
        except trio.BrokenResourceError as error:
            connection.finish(f"broken: {error.__cause__ or error}")
        except Exception:  # noqa: BLE001 - an error of one connection must not affect others
            LOGGER.exception("connection of %s failed, it is closed", connection.peer.address)
            connection.finish("failed")
        finally:
            connection.scope = None
            if connection.closing is None:
                self._epoll.register(connection.stream.socket.fileno(), select.EPOLLIN)
            else:
                self.end_if_done(connection)

    # ---- the end

    def end_if_done(self, connection: EpollConnection) -> None:
        """Close a finished connection, unless responses are unsent."""
        number = connection.stream.socket.fileno()
        busy = connection.scope is not None or connection.unsent is not None
        if busy or self._connections.get(number) is not connection:
            return
        del self._connections[number]
        with suppress(OSError, ValueError):  # a task may serve it, or the reactor may have ended
            self._epoll.unregister(number)
        try:
            self._host.connection_lost(connection)
        except Exception:  # noqa: BLE001 - an error of one connection must not affect others
            LOGGER.exception("connection of %s failed, it is closed", connection.peer.address)
        finally:
            self._host.forget(connection)
            connection.stream.socket.close()
        if self._stopping and not self._connections:
            self._scope.cancel()

"""The Linux driver: every connection served by one task, which sleeps on an epoll of its own.

What a request for a route costs is mostly waiting for it: a task per connection pays for an
``epoll_ctl`` and a scheduler pass each time.  Here trio waits for one file descriptor, an epoll in
which all sockets are registered once, and each time it is ready all that has come is read and
answered.

Rules of this file: this task never waits for anything but that epoll, and lets others run after a
millisecond and the sockets that were ready then.  Who asks comes before who registers: of all large
bodies that have come on, one is received at a time, so much of it as takes no time, behind
everything else that is ready.  It does what can be done at once, and the first
steps of a large registration, which often are all; everything else (a file that has to be written,
the rest of such a registration, TLS, a PROXY header) is handed to an ordinary task with the code of
the portable driver, and the socket is out of the epoll meanwhile.  The bytes of a large body are
received where they will stay.  A connection is not read from while answers to it are unsent.

Java: ``NettyRemotingServer``, whose selector threads do the same.
"""

from __future__ import annotations

import select
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.session import NOTHING
from rocketwire_namesrv.runtime.logging_setup import LOGGER
from rocketwire_namesrv.server.connection import ServerConnection

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.errors import DecodeError
    from rocketwire_namesrv.protocol.counters import Counters
    from rocketwire_namesrv.protocol.handlers import Peer
    from rocketwire_namesrv.protocol.session import Effects, Session
    from rocketwire_namesrv.runtime.sockets import SocketStream

__all__ = ["Host", "Link", "Reactor", "is_available"]

READ_SIZE: Final = 65_536
"""Bytes received at a time; more at once make the allocator ask the kernel each time."""
BODY_READ_SIZE: Final = 262_144
"""Bytes of a large body that are received at a time: a tenth of a millisecond."""
LARGE: Final = 8192
"""Bytes of an answer that are not copied to join its parts."""
EVENTS: Final = 64
"""Sockets looked at between two looks at the clock."""
ROUNDS: Final = 4
"""Looks at the epoll before other tasks have their turn: a lone client's next request often comes
while its last answer goes."""
TURN_SECONDS: Final = 0.001
"""For which sockets are served before other tasks have their turn."""

TIMED_TURNS: Final = 64
"""Of so many turns one is timed."""


def is_available() -> bool:
    """Whether this system has epoll."""
    return hasattr(select, "epoll")


class Host(Protocol):
    """What the driver needs of the server."""

    def begins_plainly(self, data: bytes) -> bool:
        """Whether a connection that begins so speaks frames, and may."""
        ...

    def pass_on(self, connection: Link, received: bytes) -> None:
        """Serve a connection in the portable way, from the bytes on that have been received."""

    async def carry_out(self, connection: ServerConnection, outcome: Effects) -> None:
        """Do what a session wants done, and let it go on until it waits for bytes."""

    def begin_steps(self, connection: ServerConnection) -> Effects | None:
        """Take the first steps of a request at once; None where it has to be carried out."""
        ...

    def report(self, connection: ServerConnection, outcome: Effects) -> None:
        """Log what happened, tell brokers, and end the connections that are to be ended."""

    def note_unsent(self, connection: ServerConnection, size: int) -> None:
        """Keep the account of answers that wait for their peer to take them."""

    def refuse(self, connection: ServerConnection, error: DecodeError) -> None:
        """End a connection whose bytes are no command."""

    def lost(self, connection: ServerConnection) -> None:
        """Take note of a connection's end."""

    def forget(self, connection: ServerConnection) -> None:
        """Drop a connection that has ended, and give its place to another one."""


class Link(ServerConnection):
    """A connection of the reactor.

    Attributes:
        begun: whether its first bytes were those of a frame.
        filling: whether the next bytes have a place of their own (``Session.room``).
        scope: of the task that serves it at the moment; None while the reactor does.
        unsent: what is left of the last answers.
    """

    __slots__ = ("_reactor", "begun", "filling", "scope", "stream", "unsent")

    stream: SocketStream

    def __init__(
        self,
        reactor: Reactor,
        stream: SocketStream,
        session: Session,
        peer: Peer,
        idle_limit: float,
    ) -> None:
        super().__init__(stream, session, peer, idle_limit)
        self._reactor = reactor
        self.begun = False
        self.filling = False
        self.scope: trio.CancelScope | None = None
        self.unsent: memoryview | None = None

    def close(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it, whatever it is doing."""
        self.unsent = None
        self.finish(why, reason)
        if self.scope is not None:
            self.scope.cancel()

    def finish(self, why: str, reason: Reason = Reason.CLOSED) -> None:
        """End it as soon as the answers that are due have been sent."""
        if self.closing is None:
            self.closing = why
            self.reason = reason
        self._reactor.end_if_done(self)


class Reactor:
    """Serves the connections that it is given.

    Args:
        host: the server.
        tasks: runs what cannot be done at once.
        counters: are told how long some of the requests took.
    """

    def __init__(self, host: Host, tasks: trio.Nursery, counters: Counters) -> None:
        self._counters = counters
        self._host = host
        self._tasks = tasks
        self._epoll = select.epoll()
        self._links: dict[int, Link] = {}
        self._scope = trio.CancelScope()
        self._stopping = False
        self._turns = 0
        self._bodies = 0  # how often bytes of large bodies were there

    def add(self, stream: SocketStream, session: Session, peer: Peer, idle_limit: float) -> Link:
        """Serve a connection from now on; the reactor owns the stream."""
        link = Link(self, stream, session, peer, idle_limit)
        number = stream.socket.fileno()
        self._links[number] = link
        self._epoll.register(number, select.EPOLLIN)
        return link

    def stop(self) -> None:
        """Let ``run`` come to its end, when the last connection has."""
        self._stopping = True
        if not self._links:
            self._scope.cancel()

    async def run(self) -> None:
        """Serve until ``stop``."""
        try:
            with self._scope:
                while True:
                    await trio.lowlevel.wait_readable(self._epoll)
                    self._turn()
        finally:
            for link in list(self._links.values()):
                link.close("the server stops")
            self._epoll.close()

    def _turn(self) -> None:
        """Serve what is ready, and what has become ready meanwhile, as long as there is time."""
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
        """Serve what is ready; for a task that takes its time and lets nobody wait for that."""
        if not self._epoll.closed and (events := self._epoll.poll(0, EVENTS)):
            self._serve_all(events, trio.current_time(), self._serve)

    def _serve_all(
        self,
        events: list[tuple[int, int]],
        now: float,
        serve: Callable[[Link, float], None],
    ) -> None:
        bodies: list[Link] = []
        for number, _ in events:
            link = self._links.get(number)
            if link is None:
                continue  # another connection has ended it
            if link.filling:
                bodies.append(link)
                continue
            try:
                serve(link, now)
            except Exception:  # noqa: BLE001 - the seam: one peer's trouble must not be the others'
                LOGGER.exception("connection of %s failed, it is closed", link.peer.address)
                link.close("failed")
        if bodies:
            self._bodies += 1
            self._serve_body(bodies[self._bodies % len(bodies)], now)

    def _serve_body(self, link: Link, now: float) -> None:
        """Serve one connection of those whose next bytes have a place of their own; the others are
        ready the next time, too."""
        if self._links.get(link.stream.socket.fileno()) is not link:
            return  # another connection has ended it
        try:
            if link.unsent is None and link.session.filling:
                self._receive_body(link, now)
            else:
                self._serve(link, now)
        except Exception:  # noqa: BLE001 - the seam: one peer's trouble must not be the others'
            LOGGER.exception("connection of %s failed, it is closed", link.peer.address)
            link.close("failed")

    def _serve_timed(self, link: Link, now: float) -> None:
        """Serve, and take the time."""
        self._counters.timed(self._serve, link, now)

    def _serve(self, link: Link, now: float) -> None:
        if link.unsent is not None:
            self._flush(link, link.unsent, now)
            return
        try:
            data = link.stream.socket.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            link.close(f"broken: {error}")
            return
        if link.begun:
            answer = link.session.answer_one_route(data, now)
            if answer is not None:
                link.heard = now
                size, parts = answer
                self._send(link, size, parts)
                return
            answers = link.session.answer_routes(data, now)
            if answers:
                link.heard = now
                self._send(link, len(answers), (answers,))
                return
        self._receive(link, data, now)

    def _receive(self, link: Link, data: bytes, now: float) -> None:
        """Handle bytes of any kind, none at all included."""
        if not data:
            link.finish("closed by the peer")
            return
        if not link.begun:
            if not self._host.begins_plainly(data):
                self._hand_over(link, data)
                return
            link.begun = True
        self._received(link, data, link.session.receive(data, now), now)

    def _receive_body(self, link: Link, now: float) -> None:
        """Receive what has come of a large body, where it belongs."""
        try:
            with link.session.room() as room:
                count = link.stream.socket.recv_into(room, min(len(room), BODY_READ_SIZE))
        except BlockingIOError:
            return
        except OSError as error:
            link.close(f"broken: {error}")
            return
        if count:
            self._received(link, b"", link.session.received(count, now), now)
        else:
            link.finish("closed by the peer")

    def _received(self, link: Link, data: bytes, outcome: Effects, now: float) -> None:
        """Do what comes of bytes received."""
        link.note_progress(data, outcome, now)
        link.filling = link.session.filling
        if outcome == NOTHING and link.session.stepping:
            outcome = self._host.begin_steps(link) or outcome
        if outcome.persist_kv or outcome.persist_config or link.session.busy:
            self._carry_out(link, outcome)
            return
        self._host.report(link, outcome)
        if outcome.send and link.closing is None:
            link.heard = now
            self._send(link, len(outcome.send), (outcome.send,))
        if outcome.close is not None and link.closing is None:
            self._host.refuse(link, outcome.close)

    def _send(self, link: Link, size: int, parts: tuple[bytes, ...]) -> None:
        """Send what the kernel takes of answers, and keep the rest for when it takes more."""
        try:
            if size < LARGE:
                sent = link.stream.socket.send(b"".join(parts))
            else:
                sent = link.stream.socket.sendmsg(parts)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            link.close(f"broken: {error}")
            return
        if sent < size:
            link.unsent = memoryview(b"".join(parts))[sent:]
            link.sending = True
            self._epoll.modify(link.stream.socket.fileno(), select.EPOLLOUT)
            self._host.note_unsent(link, size)

    def _flush(self, link: Link, unsent: memoryview, now: float) -> None:
        try:
            rest = unsent[link.stream.socket.send(unsent) :]
        except BlockingIOError:
            return
        except OSError as error:
            link.close(f"broken: {error}")
            return
        link.unsent = rest or None
        if link.unsent is None:
            link.sending = False
            self._host.note_unsent(link, 0)
            link.heard = now
            if link.closing is None:
                self._epoll.modify(link.stream.socket.fileno(), select.EPOLLIN)
            else:
                self.end_if_done(link)

    # ---- what other tasks do

    def _hand_over(self, link: Link, received: bytes) -> None:
        """Leave a connection to the portable driver, which keeps its place."""
        number = link.stream.socket.fileno()
        self._epoll.unregister(number)
        del self._links[number]
        self._host.pass_on(link, received)

    def _carry_out(self, link: Link, outcome: Effects) -> None:
        self._epoll.unregister(link.stream.socket.fileno())
        link.scope = trio.CancelScope()
        self._tasks.start_soon(self._serve_alone, link, link.scope, outcome)

    async def _serve_alone(self, link: Link, scope: trio.CancelScope, outcome: Effects) -> None:
        try:
            with scope:
                await self._host.carry_out(link, outcome)
        except trio.BrokenResourceError as error:
            link.finish(f"broken: {error.__cause__ or error}")
        except Exception:  # noqa: BLE001 - the seam: one peer's trouble must not be the others'
            LOGGER.exception("connection of %s failed, it is closed", link.peer.address)
            link.finish("failed")
        finally:
            link.scope = None
            if link.closing is None:
                self._epoll.register(link.stream.socket.fileno(), select.EPOLLIN)
            else:
                self.end_if_done(link)

    # ---- the end

    def end_if_done(self, link: Link) -> None:
        """End a connection that is to be closed, unless something is still to be sent."""
        number = link.stream.socket.fileno()
        busy = link.scope is not None or link.unsent is not None
        if busy or self._links.get(number) is not link:
            return
        del self._links[number]
        with suppress(OSError, ValueError):  # a task may have had it, or all comes to an end
            self._epoll.unregister(number)
        try:
            self._host.lost(link)
        except Exception:  # noqa: BLE001 - the seam: one peer's trouble must not be the others'
            LOGGER.exception("connection of %s failed, it is closed", link.peer.address)
        finally:
            self._host.forget(link)
            link.stream.socket.close()
        if self._stopping and not self._links:
            self._scope.cancel()

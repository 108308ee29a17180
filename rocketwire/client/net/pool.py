"""``ChannelPool``: one channel to each address, opened when somebody asks for it, by everybody who talks to that address.

Rules of this file:

* What to do is decided without waiting (``_link_to``, ``_retire``); only then something is awaited.
* A channel is opened by a task of the pool: a caller that is cancelled takes nothing from the others who wait for it.
* A channel that is given up (*retired*) gets no new requests; those on their way end there, and the last one closes it.
* A request that times out on a channel over which nothing else was answered meanwhile gives that channel up: it is silent,
  not slow.  Java closes the channel whenever a synchronous call times out, and fails the requests of others with it.

Java: ``NettyRemotingClient`` (``channelTables``, ``getAndCreateChannel``, ``invokeImpl``).
"""

from __future__ import annotations

import logging
import math
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client.addresses import join_address, split_address
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    ChannelClosedError,
    ConnectFailedError,
    LocalProtocolError,
    RequestTimeoutError,
)
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.dial import connect_stream
from rocketwire.transport.nursery import background
from rocketwire.wire.command import RemotingCommand, decode
from rocketwire.wire.request_template import PreparedRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.transport.fastpath.direct_requests import StartedRequest
    from rocketwire.transport.pending import NextRequest

_LOG: Final = logging.getLogger("rocketwire.client")

_GO_AWAY: Final = int(ResponseCode.GO_AWAY)

MAX_CHANNELS: Final = 4096
"""Addresses that one pool is connected to at once; every further one is refused."""

_CO_COROUTINE: Final = 0x80  # of inspect

SILENCE: Final = 1.0
"""Seconds without any answer after which a request that times out gives its channel up."""

Connect: TypeAlias = "Callable[[str, int], Awaitable[trio.abc.Stream]]"
"""Connects to a host and port; raises ``ConnectFailedError``."""

RequestHandler: TypeAlias = "Callable[[str, RemotingCommand], Awaitable[RemotingCommand | None]]"
"""Answers a request of the peer at an address; None for no answer.  One-way requests come here too."""


class _Link:
    """A channel from the first wish for it to its end."""

    __slots__ = ("address", "channel", "error", "ready", "retired", "scope", "users")

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel: Channel | None = None
        self.error: Exception | None = None
        self.ready = trio.Event()
        self.retired = False
        self.scope = trio.CancelScope()
        self.users = 0

    @property
    def heard_at(self) -> float:
        """When something last came over it."""
        return -math.inf if self.channel is None else self.channel.received_at

    def opened(self) -> Channel:
        """The channel.

        Raises:
            ConnectFailedError: it is not open yet.
        """
        if self.channel is None:
            raise ConnectFailedError(f"{self.address}: not connected")
        return self.channel

    @property
    def is_usable(self) -> bool:
        """Whether it may still carry something: open, or about to be."""
        return self.error is None and (self.channel is None or self.channel.is_open)


def _unless_retired(
    link: _Link, follow: NextRequest, response: RemotingCommand
) -> RemotingCommand | PreparedRequest | None:
    """What follows an answer: nothing where the channel takes no more."""
    return None if link.retired or response.code == _GO_AWAY else follow(response)


def _is_async(function: object) -> bool:
    """Whether a function is surely a coroutine function, without the price of asking ``inspect``."""
    flags: int = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return bool(flags & _CO_COROUTINE)


@trio_only("request", "request_by")
class ChannelPool:
    """Channels by address; made by ``open_pool``.

    Attributes:
        changes_requests: whether requests get fields or a signature here (``prepared``).
        changes: how often what ``channel_to`` has said of an address may have ceased to hold, but for the ends of connections.
    """

    def __init__(
        self,
        config: ClientConfig,
        nursery: trio.Nursery,
        environment: Mapping[str, str],
        connect: Connect | None = None,
    ) -> None:
        """A pool without channels.

        Args:
            config: credentials, TLS, time limits and what else all requests have in common.
            nursery: where channels live.
            environment: variables that stand in for settings that are not set.
            connect: in the place of TCP and TLS, as ``rocketwire.testing`` has it.
        """
        self._connect = connect or self._connect_stream
        self._config = config
        self._nursery = nursery
        self._links: dict[str, _Link] = {}
        self._handlers: dict[int, RequestHandler] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._common = config.common_fields(environment)
        self.changes_requests = bool(self._common) or config.credentials is not None
        self.changes = 0
        self._hostnames: dict[str, str] = {}
        self._closed = False

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that are connected now."""
        return tuple(a for a, link in self._links.items() if link.channel and link.is_usable)

    def is_connected(self, address: str) -> bool:
        """Whether a channel to the address is open now."""
        link = self._links.get(address)
        return link is not None and link.channel is not None and link.channel.is_open

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer, over all channels that take new ones."""
        return sum(link.channel.in_flight for link in self._links.values() if link.channel)

    # ------------------------------------------------------------------ asking

    async def request(
        self, address: str, command: RemotingCommand, *, within: float | None = None
    ) -> RemotingCommand:
        """Send a request and wait for its answer, whatever its code; connects first if need be.

        Who answers ``GO_AWAY`` is about to end: the request is sent once more, over a new channel; the old one takes no more.

        Args:
            address: ``host:port``.
            command: what to ask; it gets namespace, zone and signature here.
            within: seconds for all of it; None for ``ClientConfig.mq_client_api_timeout``.

        Raises:
            ConnectFailedError: nobody listens there, or not in time; ``IllegalAddressError`` where that is no address.
            ChannelBrokenError: the connection ended before the answer came.
            RequestTimeoutError: no answer in time.
            ChannelClosedError: the pool is closed.
            EncodeError: the command has no form on the wire.
            LocalProtocolError: too many requests wait, or too many addresses.

        Cancellation: the request is forgotten; it may have been executed.  The channel stays.
        """
        require_trio()
        limit = self._config.mq_client_api_timeout if within is None else within
        now = trio.current_time()
        return await self.request_by(address, command, started=now, deadline=now + limit)

    async def request_by(
        self,
        address: str,
        command: RemotingCommand | PreparedRequest,
        *,
        started: float,
        deadline: float,
        follow: NextRequest | None = None,
        begun: StartedRequest | None = None,
    ) -> RemotingCommand:
        """As ``request``, from ``started``, which is now, until a deadline; both are times of trio's clock.

        Where requests are sent as they are, ``follow`` says what is asked next, over the same channel and as patiently, while that
        may be used (``Channel.request_chain``); the answer that nothing follows is returned.  ``begun`` is what ``DirectRequests.request`` has just
        begun with the channel of ``channel_to``.
        """
        require_trio()
        if self.changes_requests:
            command = self.prepared(command)
            follow = None
        link = self._links.get(address)
        channel = None if link is None else link.channel
        now: float | None = started
        try:
            if link is None or channel is None or not channel.is_open or self._closed:
                link = None
                link, channel = await self._link_by(address, deadline)
                now = None
            link.users += 1
            try:
                if begun is not None:
                    response = await channel.finish_request(begun, command.code, deadline)
                elif follow is None:
                    response = await channel.request(command, deadline=deadline, now=now)
                else:
                    goes_on = partial(_unless_retired, link, follow)
                    patience = deadline - started
                    response = await channel.request_chain(command, goes_on, response_timeout=patience)
            finally:
                link.users -= 1
                if link.retired:
                    self.released(link)
            if response.code == _GO_AWAY and self._config.reconnect_for_go_away:
                self._retire(link)
                link, channel = await self._link_by(address, deadline)
                with _Use(self, link):
                    response = await channel.request(command, deadline=deadline)
        except RequestTimeoutError as error:
            now = trio.current_time()
            if link is not None and max(link.heard_at, started) + SILENCE <= now:
                _LOG.debug("%s was silent for %.1f s and is given up", address, now - started)
                self._retire(link)
            limit = max(0.0, deadline - started)
            raise RequestTimeoutError(address, command.code, limit) from error
        return response

    def channel_to(self, address: str) -> Channel | None:
        """The open channel to an address over which requests are sent as they are; None where there is none."""
        link = self._links.get(address)
        channel = None if link is None else link.channel
        if channel is None or not channel.is_open or self._closed or self.changes_requests:
            return None
        return channel

    async def send_oneway(
        self, address: str, command: RemotingCommand, *, within: float | None = None
    ) -> None:
        """Send a request that wants no answer; connects first if need be, returns when its bytes are with the system.

        Arguments, errors: as of ``request``.
        """
        limit = self._config.mq_client_api_timeout if within is None else within
        command = self.prepared(command)
        with trio.move_on_after(limit):
            link = await self._link_to(address)
            with _Use(self, link) as channel:
                await channel.send_oneway(command)
            return
        raise RequestTimeoutError(address, command.code, limit)

    async def connect(self, address: str, *, within: float | None = None) -> None:
        """Connect without asking anything, unless connected already.

        Errors: as of ``request``.
        """
        limit = self._config.connect_timeout if within is None else within
        with trio.move_on_after(limit):
            await self._link_to(address)
            return
        raise ConnectFailedError(f"{address}: not connected within {limit:g} s")

    def connect_soon(self, address: str) -> None:
        """Begin to connect, unless connected already or connecting; nobody is told if it fails.

        Raises:
            NotInTrioError: the caller does not run in trio.
            LocalProtocolError: that is no ``host:port``, or there are channels to ``MAX_CHANNELS`` addresses already.
        """
        require_trio()
        link = self._links.get(address)
        if not self._closed and (link is None or not link.is_usable):
            self._started(address)

    def prepared(self, command: RemotingCommand | PreparedRequest) -> RemotingCommand:
        """The command with the fields that all requests carry, and signed (Java: the ``RPCHook`` of the client).

        Raises:
            LocalProtocolError: the secret key is empty.
        """
        if isinstance(command, PreparedRequest):
            command = decode(command.frame(0))
        if self._common:
            command = replace(command, ext_fields={**(command.ext_fields or {}), **self._common})
        who = self._config.credentials
        if who is None:
            return command
        from rocketwire.signing import sign

        return sign(command, who.access_key, who.secret_key, who.security_token)

    # ------------------------------------------------------------------ being asked

    def handle(self, code: int, handler: RequestHandler) -> None:
        """Answer requests of that code, from whichever address they come; replaces the handler that was there.

        Raises:
            IllegalHandlerError: the handler is not async.
        """
        if not _is_async(handler):
            from rocketwire.client.handlers import async_handler

            handler = async_handler("handler", handler, "address, request")
        self._handlers[code] = handler

    def on_connected(self, listener: Callable[[str], None]) -> None:
        """Call ``listener(address)`` whenever a channel has been opened; it must not wait for anything.

        Raises:
            IllegalHandlerError: the listener is async.
        """
        if _is_async(listener):
            from rocketwire.client.handlers import sync_function

            listener = sync_function("listener", listener, "address")
        self._listeners.append(listener)

    async def answer_to(self, address: str, request: RemotingCommand) -> RemotingCommand | None:
        """What the handler of its code answers to a request of the peer at an address."""
        handler = self._handlers.get(request.code)
        if handler is not None:
            return await handler(address, request)
        remark = f" request type {request.code} not supported"
        return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    # ------------------------------------------------------------------ channels

    def invalidate(self, address: str) -> None:
        """Use the present channel for nothing new; requests on their way end there, the next one connects anew."""
        link = self._links.get(address)
        if link is not None:
            self._retire(link)

    def name_certificate(self, address: str, hostname: str) -> None:
        """Expect a certificate of ``hostname`` at an address that a look-up of that name gave."""
        self._hostnames[address] = hostname

    async def _link_by(self, address: str, deadline: float) -> tuple[_Link, Channel]:
        """The channel to the address, open before the deadline."""
        with trio.move_on_at(deadline):
            link = await self._link_to(address)
            return link, link.opened()
        raise RequestTimeoutError(address, 0, 0.0)

    async def _link_to(self, address: str) -> _Link:
        """The channel to the address, once it is open."""
        if self._closed:
            raise ChannelClosedError("the pool was closed")
        link = self._links.get(address)
        if link is None or not link.is_usable:
            link = self._started(address)
        if link.channel is None:
            await link.ready.wait()
        if link.channel is None:
            raise ConnectFailedError(*getattr(link.error, "args", (address,))) from link.error
        return link

    def _started(self, address: str) -> _Link:
        if len(self._links) >= MAX_CHANNELS:
            raise LocalProtocolError(f"connected to {MAX_CHANNELS} addresses already")
        host, port = split_address(address)
        link = self._links[address] = _Link(address)
        self.changes += 1
        self._nursery.start_soon(self._run, link, host, port)
        return link

    async def _run(self, link: _Link, host: str, port: int) -> None:
        """One channel's life: connecting, until it ends or is no longer wanted."""
        limit = self._config.connect_timeout
        link.scope.deadline = trio.current_time() + limit
        try:
            with link.scope:
                async with open_channel_over(
                    await self._connect(host, port),
                    peer=link.address,
                    handler=partial(self.answer_to, link.address),
                    idle_timeout=self._config.channel_idle_timeout,
                ) as channel:
                    link.scope.deadline = math.inf
                    link.channel = channel
                    link.ready.set()
                    self._tell(link.address)
                    await channel.wait_closed()
        except ConnectFailedError as error:
            link.error = error
        finally:
            if link.error is None:
                why = "the pool was closed" if self._closed else f"not connected within {limit:g} s"
                link.error = ConnectFailedError(f"{link.address}: {why}")
            self._forget(link)
            link.ready.set()

    async def _connect_stream(self, host: str, port: int) -> trio.abc.Stream:
        hostname = self._config.tls_server_hostname or self._hostnames.get(join_address(host, port))
        return await connect_stream(host, port, tls=self._config.tls, server_hostname=hostname)

    def _tell(self, address: str) -> None:
        for listener in self._listeners:
            listener(address)

    def _forget(self, link: _Link) -> None:
        if self._links.get(link.address) is link:
            del self._links[link.address]
            self.changes += 1

    def _retire(self, link: _Link) -> None:
        self._forget(link)
        link.retired = True
        self.released(link)

    def released(self, link: _Link) -> None:
        """Close a channel that is given up and carries nothing any more."""
        if link.retired and not link.users and link.channel is not None:
            link.scope.cancel()

    def close(self) -> None:
        """Take no more requests; ``open_pool`` closes the channels."""
        self._closed = True
        self.changes += 1


class _Use:
    """Counts who uses a channel, for as long as they do."""

    __slots__ = ("_link", "_pool")

    def __init__(self, pool: ChannelPool, link: _Link) -> None:
        self._pool = pool
        self._link = link

    def __enter__(self) -> Channel:
        channel = self._link.opened()
        self._link.users += 1
        return channel

    def __exit__(self, *_: object) -> None:
        self._link.users -= 1
        self._pool.released(self._link)


@asynccontextmanager
async def open_pool(
    config: ClientConfig,
    *,
    environment: Mapping[str, str] | None = None,
    connect: Connect | None = None,
) -> AsyncGenerator[ChannelPool]:
    """A pool for the length of the block.

    Args:
        config: what all requests have in common.
        environment: variables that stand in for settings that are not set; None for those of this process.
        connect: in the place of TCP and TLS, as ``rocketwire.testing`` has it.

    Raises:
        NotInTrioError: the caller does not run in trio.

    Closing: at the end of the block every channel is closed and handlers are cancelled; who still waits for an answer gets
    ``ChannelClosedError``.
    """
    require_trio()
    variables = os.environ if environment is None else environment
    async with background() as nursery:
        pool = ChannelPool(config, nursery, variables, connect)
        try:
            yield pool
        finally:
            pool.close()

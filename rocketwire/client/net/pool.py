"""``ChannelPool``: one shared channel to each address, opened on first use.

* Decisions are made without waiting (``_get_connection``, ``_retire``); only then something is
  awaited.
* A task of the pool opens a channel: if one caller is cancelled, other callers still get the
  channel.
* A *retired* connection accepts no new requests. Its pending requests finish, and the last one
  closes it.
* If a request times out and nothing else arrived on its channel meanwhile, the connection is
  retired, because the peer is silent and not merely slow. Java closes the channel after every
  timeout of a synchronous request, and so fails the pending requests of other callers.

Java: ``NettyRemotingClient`` (``channelTables``, ``getAndCreateChannel``, ``invokeImpl``).
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
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
    from rocketwire.client.config import ClientConfig
    from rocketwire.transport.channel import NextRequest
    from rocketwire.transport.fastpath.direct_requests import DirectRequests, StartedRequest

_LOG: Final = logging.getLogger("rocketwire.client")

_GO_AWAY: Final = int(ResponseCode.GO_AWAY)

# Maximum addresses that a pool connects to; more are rejected with ``LocalProtocolError``
MAX_CHANNELS: Final = 4096

_CO_COROUTINE: Final = 0x80  # ``inspect.CO_COROUTINE``

# If a request times out and nothing arrived for this many seconds, the connection is retired
SILENCE: Final = 1.0

Connect: TypeAlias = "Callable[[str, int], Awaitable[trio.abc.Stream]]"
"""Connects to a host and port; raises ``ConnectFailedError``."""

RequestHandler: TypeAlias = "Callable[[str, RemotingCommand], Awaitable[RemotingCommand | None]]"
"""Serves a request of the peer at an address; None sends no response.

Also gets one-way requests.
"""


@dataclass(slots=True, eq=False)
class _Connection:
    address: str
    channel: Channel | None = None
    error: Exception | None = None
    ready: trio.Event = field(default_factory=trio.Event)
    retired: bool = False
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    users: int = 0

    def require_channel(self) -> Channel:
        if self.channel is None:
            raise ConnectFailedError(f"{self.address}: not connected")
        return self.channel

    @property
    def is_usable(self) -> bool:
        return self.error is None and (self.channel is None or self.channel.is_open)


def _follow_unless_retired(
    connection: _Connection, follow: NextRequest, response: RemotingCommand
) -> RemotingCommand | PreparedRequest | None:
    # returns the next request after a response; None if the connection accepts no more
    return None if connection.retired or response.code == _GO_AWAY else follow(response)


def _is_async(function: object) -> bool:
    # whether a function is a coroutine function; inspect takes longer to import and ask
    flags: int = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return bool(flags & _CO_COROUTINE)


@trio_only("request", "request_by")
class ChannelPool:
    """Channels by address; ``open_pool`` creates it."""

    def __init__(
        self,
        config: ClientConfig,
        nursery: trio.Nursery,
        environment: Mapping[str, str],
        connect: Connect | None = None,
    ) -> None:
        """Create a pool without channels; for the arguments see ``open_pool``."""
        self._connect = connect or self._connect_stream
        self._config = config
        self._nursery = nursery
        self._connections: dict[str, _Connection] = {}
        self._handlers: dict[int, RequestHandler] = {}
        self._listeners: list[Callable[[str], None]] = []
        #: returns the address to connect to, for the address of a peer
        #: (``ClientConfig.address_remap``)
        self.remap: Callable[[str], str] = config.address_map(environment)
        self._common = config.common_fields(environment)
        #: whether ``prepare`` adds fields or a signature to requests
        self.changes_requests: bool = bool(self._common) or config.credentials is not None
        #: counter that grows when an earlier result of ``direct_requests`` may be out of date,
        #: except when a connection ends
        self.changes: int = 0
        #: expected names in certificates, by address that DNS returned for the name
        self.hostnames: Mapping[str, str] = {}
        self._closed = False

    @property
    def is_plain(self) -> bool:
        """Whether requests go unchanged over TCP without TLS."""
        return (
            self._config.tls is None
            and not self.changes_requests
            and self._connect == self._connect_stream
        )

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(a for a, c in self._connections.items() if c.channel and c.is_usable)

    @property
    def in_flight(self) -> int:
        """Number of pending requests, over all connections that are not retired."""
        return sum(c.channel.in_flight for c in self._connections.values() if c.channel)

    # ------------------------------------------------------------------ requests to peers

    async def request(
        self, address: str, command: RemotingCommand, *, within: float | None = None
    ) -> RemotingCommand:
        """Send a request and return the response, whatever its code; connect first if necessary.

        A peer that responds ``GO_AWAY`` is about to close: the request is sent once more, over a
        new channel, and the old connection is retired.

        Args:
            command: the request; the pool adds namespace, zone and signature.
            within: timeout in seconds; None for ``ClientConfig.mq_client_api_timeout``.

        Raises:
            ConnectFailedError: the peer does not accept the connection in time;
                ``IllegalAddressError`` if the address is invalid.
            ChannelBrokenError: the connection ended before the response.
            RequestTimeoutError: there was no response in time.
            ChannelClosedError: the pool is closed.
            EncodeError: the command cannot be encoded.
            LocalProtocolError: too many pending requests, or too many addresses.

        Cancellation: the client drops the request; the peer may have executed it. The channel stays
        open.
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
        sent_request: StartedRequest | None = None,
    ) -> RemotingCommand:
        """Send a request as ``request`` does, with times of trio's clock.

        Args:
            command: the request.
            started: the current time.
            deadline: when to raise ``RequestTimeoutError``.
            follow: returns the next request for a response, to be sent over the same channel with
                the same timeout (``Channel.request_chain``); the last response is returned.
                Ignored if the pool changes requests.
            sent_request: a request that ``direct_requests`` has just sent to the address.
        """
        require_trio()
        if self.changes_requests:
            command = self.prepare(command)
            follow = None
        connection = self._connections.get(address)
        channel = None if connection is None else connection.channel
        now: float | None = started
        try:
            if connection is None or channel is None or not channel.is_open or self._closed:
                connection = None
                connection, channel = await self._get_connection_by(address, deadline)
                now = None
            connection.users += 1
            try:
                if sent_request is not None:
                    response = await channel.finish_request(sent_request, command.code, deadline)
                elif follow is None:
                    response = await channel.request(command, deadline=deadline, now=now)
                else:
                    next_request = partial(_follow_unless_retired, connection, follow)
                    patience = deadline - started
                    response = await channel.request_chain(
                        command, next_request, response_timeout=patience
                    )
            finally:
                connection.users -= 1
                if connection.retired:
                    self._close_if_unused(connection)
            if response.code == _GO_AWAY and self._config.reconnect_for_go_away:
                self._retire(connection)
                connection, channel = await self._get_connection_by(address, deadline)
                connection.users += 1
                try:
                    response = await channel.request(command, deadline=deadline)
                finally:
                    self._release(connection)
        except RequestTimeoutError as error:
            now = trio.current_time()
            heard_at = started if channel is None else max(channel.received_at, started)
            if connection is not None and heard_at + SILENCE <= now:
                _LOG.debug("%s was silent for %.1f s and is given up", address, now - started)
                self._retire(connection)
            limit = max(0.0, deadline - started)
            raise RequestTimeoutError(address, command.code, limit) from error
        return response

    def direct_requests(self, address: str) -> DirectRequests | None:
        """Return what sends direct requests over the open channel to an address, unchanged.

        None without a channel, or if the channel allows none.
        """
        connection = self._connections.get(address)
        channel = None if connection is None else connection.channel
        return None if channel is None or not channel.is_open or self._closed else channel.direct

    async def send_oneway(
        self, address: str, command: RemotingCommand, *, within: float | None = None
    ) -> None:
        """Send a one-way request; connect first if necessary.

        Returns when the system has the bytes. For arguments and errors see ``request``.
        """
        limit = self._config.mq_client_api_timeout if within is None else within
        command = self.prepare(command)
        with trio.move_on_after(limit):
            connection = await self._get_connection(address)
            channel = connection.require_channel()
            connection.users += 1
            try:
                await channel.send_oneway(command)
            finally:
                self._release(connection)
            return
        raise RequestTimeoutError(address, command.code, limit)

    async def connect(self, address: str, *, within: float | None = None) -> None:
        """Connect if there is no open channel. For errors see ``request``."""
        limit = self._config.connect_timeout if within is None else within
        with trio.move_on_after(limit):
            await self._get_connection(address)
            return
        raise ConnectFailedError(f"{address}: not connected within {limit:g} s")

    def connect_soon(self, address: str) -> None:
        """Start to connect if there is no usable connection; a failure is not reported.

        Raises:
            LocalProtocolError: the address is invalid, or the pool has ``MAX_CHANNELS`` addresses.
        """
        require_trio()
        connection = self._connections.get(address)
        if not self._closed and (connection is None or not connection.is_usable):
            self._start_connection(address)

    def prepare(self, command: RemotingCommand | PreparedRequest) -> RemotingCommand:
        """Add the fields that all requests carry, and sign (Java: the ``RPCHook`` of the client).

        Raises:
            LocalProtocolError: the secret key is empty.
        """
        if isinstance(command, PreparedRequest):
            command = decode(command.frame(0))
        if self._common:
            command = replace(command, ext_fields={**(command.ext_fields or {}), **self._common})
        credentials = self._config.credentials
        if credentials is None:
            return command
        from rocketwire.signing import sign

        return sign(
            command, credentials.access_key, credentials.secret_key, credentials.security_token
        )

    # ------------------------------------------------------------------ requests of peers

    def handle(self, code: int, handler: RequestHandler) -> None:
        """Register the handler of a request code for all addresses; replaces the previous handler.

        Raises:
            IllegalHandlerError: the handler is not async.
        """
        if not _is_async(handler):
            from rocketwire.client.handlers import async_handler

            handler = async_handler("handler", handler, "address, request")
        self._handlers[code] = handler

    def on_connected(self, listener: Callable[[str], None]) -> None:
        """Call ``listener(address)`` whenever a channel has been opened; it must not block.

        Raises:
            IllegalHandlerError: the listener is async.
        """
        if _is_async(listener):
            from rocketwire.client.handlers import sync_function

            listener = sync_function("listener", listener, "address")
        self._listeners.append(listener)

    async def handle_request(
        self, address: str, request: RemotingCommand
    ) -> RemotingCommand | None:
        """Serve a request of the peer at an address with the handler of its code."""
        handler = self._handlers.get(request.code)
        if handler is not None:
            return await handler(address, request)
        remark = f" request type {request.code} not supported"
        return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    # ------------------------------------------------------------------ channels

    def invalidate(self, address: str) -> None:
        """Retire the connection to an address: pending requests finish, the next one reconnects."""
        connection = self._connections.get(address)
        if connection is not None:
            self._retire(connection)

    async def _get_connection_by(
        self, address: str, deadline: float
    ) -> tuple[_Connection, Channel]:
        with trio.move_on_at(deadline):
            connection = await self._get_connection(address)
            return connection, connection.require_channel()
        raise RequestTimeoutError(address, 0, 0.0)

    async def _get_connection(self, address: str) -> _Connection:
        if self._closed:
            raise ChannelClosedError("the pool was closed")
        connection = self._connections.get(address)
        if connection is None or not connection.is_usable:
            connection = self._start_connection(address)
        if connection.channel is None:
            await connection.ready.wait()
        if connection.channel is None:
            raise ConnectFailedError(
                *getattr(connection.error, "args", (address,))
            ) from connection.error
        return connection

    def _start_connection(self, address: str) -> _Connection:
        if len(self._connections) >= MAX_CHANNELS:
            raise LocalProtocolError(f"the pool has {MAX_CHANNELS} addresses already")
        target = self.remap(address)
        host, port = split_address(target)
        connection = self._connections[address] = _Connection(address)
        self.changes += 1
        prefix = "" if target == address else f"{address}, mapped to "
        self._nursery.start_soon(self._run, connection, host, port, prefix)
        return connection

    async def _run(self, connection: _Connection, host: str, port: int, prefix: str) -> None:
        # ``prefix`` is the begin of the text of an error
        limit = self._config.connect_timeout
        connection.scope.deadline = trio.current_time() + limit
        try:
            with connection.scope:
                async with open_channel_over(
                    await self._connect(host, port),
                    peer=connection.address,
                    handler=partial(self.handle_request, connection.address),
                    idle_timeout=self._config.channel_idle_timeout,
                ) as channel:
                    connection.scope.deadline = math.inf
                    connection.channel = channel
                    connection.ready.set()
                    for listener in self._listeners:
                        listener(connection.address)
                    await channel.wait_closed()
        except ConnectFailedError as error:
            connection.error = ConnectFailedError(f"{prefix}{error}")
        finally:
            if connection.error is None:
                reason = "the pool was closed"
                if not self._closed:
                    reason = f"not connected within {limit:g} s"
                connection.error = ConnectFailedError(
                    f"{prefix}{join_address(host, port)}: {reason}"
                )
            self._forget(connection)
            connection.ready.set()

    async def _connect_stream(self, host: str, port: int) -> trio.abc.Stream:
        hostname = self._config.tls_server_hostname or self.hostnames.get(join_address(host, port))
        return await connect_stream(host, port, tls=self._config.tls, server_hostname=hostname)

    def _forget(self, connection: _Connection) -> None:
        if self._connections.get(connection.address) is connection:
            del self._connections[connection.address]
            self.changes += 1

    def _retire(self, connection: _Connection) -> None:
        self._forget(connection)
        connection.retired = True
        self._close_if_unused(connection)

    def _release(self, connection: _Connection) -> None:
        connection.users -= 1
        self._close_if_unused(connection)

    def _close_if_unused(self, connection: _Connection) -> None:
        if connection.retired and not connection.users and connection.channel is not None:
            connection.scope.cancel()

    def close(self) -> None:
        """Reject new requests; ``open_pool`` closes the channels."""
        self._closed = True
        self.changes += 1


@asynccontextmanager
async def open_pool(
    config: ClientConfig,
    *,
    environment: Mapping[str, str] | None = None,
    connect: Connect | None = None,
) -> AsyncGenerator[ChannelPool]:
    """Open a pool until the end of the block.

    Args:
        environment: environment variables for settings that are not set; None for ``os.environ``.
        connect: replaces TCP and TLS, for example in ``rocketwire.testing``.

    Closing: at the end of the block every channel is closed and handlers are cancelled. A pending
    request gets ``ChannelClosedError``.
    """
    require_trio()
    variables = os.environ if environment is None else environment
    async with background() as nursery:
        pool = ChannelPool(config, nursery, variables, connect)
        try:
            yield pool
        finally:
            pool.close()

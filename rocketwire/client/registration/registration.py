"""``open_registration``: being a broker to name servers, for as long as a block lasts.

Rules of this file: each name server is told by itself, and one that cannot be told is tried again at the next round; a broker
does not fail because a name server does.

Java: ``BrokerController`` (``registerBrokerAll``, ``sendHeartbeat``), ``BrokerOuterAPI``, ``AdminBrokerProcessor``.
"""

from __future__ import annotations

import logging
import os
import random
import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.addresses import join_address, split_address
from rocketwire.client.config import config_of
from rocketwire.client.handlers import async_handler, sync_function
from rocketwire.client.net.nameservers import NameServers, SingleNameServer
from rocketwire.client.net.pool import open_pool
from rocketwire.client.net.rpc import make_request
from rocketwire.client.outages import Outages
from rocketwire.client.registration.broker_topics import (
    BrokerIdentity,
    BrokerTopics,
    RegistrationSettings,
    heartbeat_header_of,
    registration_of,
    unregistration_of,
    version_question_of,
)
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import RocketWireError
from rocketwire.messages import decode_header
from rocketwire.messages.registration import (
    NotifyMinBrokerIdChangeRequestHeader,
    QueryDataVersionResponseHeader,
    RegisterBrokerResponseHeader,
    RegisterBrokerResult,
)
from rocketwire.transport.channel import over
from rocketwire.transport.nursery import background
from rocketwire.wire.command import RemotingCommand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.pool import ChannelPool, Connect, RequestHandler
    from rocketwire.messages.registration import RegisterBrokerBody
    from rocketwire.messages.topic_config import TopicConfig

_LOG: Final = logging.getLogger("rocketwire.client")

_SHORTEST, _LONGEST = 10.0, 60.0
"""Seconds between which Java keeps the time between two registrations."""


@trio_only()
class Registration:
    """A broker's presence at the name servers; made by ``open_registration``.

    Attributes:
        identity: who registers.
        settings: how.
        name_servers: where.
        results: what each name server that took the last registration said, by address.
        failures: why each other one did not, by address.
        min_broker: what a name server told last about the lowest broker id of the group (code 905); None before that.
    """

    def __init__(
        self,
        identity: BrokerIdentity,
        topics: BrokerTopics,
        settings: RegistrationSettings,
        config: ClientConfig,
        pool: ChannelPool,
        name_servers: NameServers,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        """Nobody is told yet."""
        self.identity = identity
        self.settings = settings
        self.name_servers = name_servers
        self.results: dict[str, RegisterBrokerResult] = {}
        self.failures: dict[str, RocketWireError] = {}
        self.min_broker: NotifyMinBrokerIdChangeRequestHeader | None = None
        self._topics = topics
        self._config = config
        self._pool = pool
        self._now_ms = wall_clock_ms
        self._handlers: dict[int, RequestHandler] = {}
        self._listeners: list[Callable[[NotifyMinBrokerIdChangeRequestHeader], None]] = []
        self._one_at_a_time = trio.Lock()
        self._outages = Outages(f"broker {identity.broker_name}")
        self.handle(Code.NOTIFY_MIN_BROKER_ID_CHANGE, self._min_broker_changed)

    @property
    def topics(self) -> Mapping[str, TopicConfig]:
        """The topics as they are registered."""
        return self._topics.topics

    # ------------------------------------------------------------------ telling

    async def register(self, *, force: bool = True) -> bool:
        """Register everything with all name servers now; returns whether at least one took it, or knew it.

        Args:
            force: do not ask first whether a name server knows the topics already.

        Cancellation: safe; some name servers may know and some not until the next round.
        """
        async with self._one_at_a_time:
            wanting = self.name_servers.each()
            if not force:
                wanting = await self._that_do_not_know(wanting)
            whole = self._topics.whole(self.settings.split_size, now_ms=self._now_ms())
            for body in whole if wanting else ():
                await self._tell(wanting, body)
        return bool(self.results)

    async def update_topics(self, topics: Iterable[TopicConfig]) -> bool:
        """Add or change topics, and tell only of those (Java: ``registerIncrementBrokerData``); returns as ``register``.

        Raises:
            LocalProtocolError: a topic has no name.
        """
        changed = {topic.topic_name or "": topic for topic in topics}
        async with self._one_at_a_time:
            self._topics.put(changed.values(), now_ms=self._now_ms())
            await self._tell(self.name_servers.each(), self._topics.body_of(changed))
        return bool(self.results)

    async def remove_topics(self, names: Iterable[str]) -> bool:
        """Register without these topics; name servers forget them only if they are configured so, or asked (code 216)."""
        self._topics.remove(names, now_ms=self._now_ms())
        return await self.register()

    async def heartbeat(self) -> None:
        """Say to all name servers that the broker lives, one-way: by 904, or by 322 to old ones."""
        if self.settings.old_name_servers:
            code, header = Code.QUERY_DATA_VERSION, version_question_of(self.identity)
            command = make_request(self._config, code, header, self._topics.version)
        else:
            command = make_request(
                self._config, Code.BROKER_HEARTBEAT, heartbeat_header_of(self.identity)
            )
        for server in self.name_servers.each():
            try:
                await self._pool.send_oneway(server.address, command, within=1.0)
            except RocketWireError as error:
                self._outages.report(f"heartbeats to name server {server.address}", error)
            else:
                self._outages.end(f"heartbeats to name server {server.address}")

    async def unregister(self) -> None:
        """Leave all name servers; errors are logged."""
        header = unregistration_of(self.identity)

        async def leave(server: SingleNameServer) -> None:
            try:
                await server.call(Code.UNREGISTER_BROKER, header, within=self.settings.call_timeout)
            except RocketWireError as error:
                _LOG.info("name server %s: not unregistered: %s", server.address, error)

        async with trio.open_nursery() as nursery:
            for server in self.name_servers.each():
                nursery.start_soon(leave, server)
        self.results.clear()

    async def _tell(self, servers: Iterable[SingleNameServer], body: RegisterBrokerBody) -> None:
        header, data = registration_of(self.identity, self.settings, body, self._config.version)

        async def tell(server: SingleNameServer) -> None:
            try:
                answer = await server.call(
                    Code.REGISTER_BROKER, header, data, within=self.settings.register_timeout
                )
            except RocketWireError as error:
                self._outages.report(f"registration with name server {server.address}", error)
                self.results.pop(server.address, None)
                self.failures[server.address] = error
                return
            told: RegisterBrokerResponseHeader = answer.header
            self.failures.pop(server.address, None)
            self._outages.end(f"registration with name server {server.address}")
            self.results[server.address] = RegisterBrokerResult(
                ha_server_addr=told.ha_server_addr,
                master_addr=told.master_addr,
                kv_table=answer.body,
            )

        async with trio.open_nursery() as nursery:
            for server in servers:
                nursery.start_soon(tell, server)

    async def _that_do_not_know(
        self, servers: Iterable[SingleNameServer]
    ) -> tuple[SingleNameServer, ...]:
        """Those that say the topics have changed, or that cannot say (Java: ``needRegister``)."""
        wanting: list[SingleNameServer] = []

        async def ask(server: SingleNameServer) -> None:
            header = version_question_of(self.identity)
            try:
                answer = await server.call(
                    Code.QUERY_DATA_VERSION,
                    header,
                    self._topics.version,
                    within=self.settings.call_timeout,
                )
            except RocketWireError as error:
                _LOG.debug("name server %s: %s", server.address, error)  # as registering will say
                wanting.append(server)
                return
            told: QueryDataVersionResponseHeader = answer.header
            known = answer.body is None or answer.body == self._topics.version
            if told.changed is not False or not known or server.address not in self.results:
                wanting.append(server)

        async with trio.open_nursery() as nursery:
            for server in servers:
                nursery.start_soon(ask, server)
        return tuple(wanting)

    # ------------------------------------------------------------------ being asked

    def handle(self, code: int, handler: RequestHandler) -> None:
        """Answer requests of that code at the broker's own address, if it listens; replaces the handler that was there.

        Raises:
            IllegalHandlerError: the handler is not async, or cannot be called with (address, request).
        """
        self._handlers[code] = async_handler("handler", handler, "address, request")

    def on_min_broker_change(
        self, listener: Callable[[NotifyMinBrokerIdChangeRequestHeader], None]
    ) -> None:
        """Call ``listener`` when a name server says that the group has another lowest broker id (code 905).

        Raises:
            IllegalHandlerError: the listener is async, or cannot be called with one argument.
        """
        self._listeners.append(sync_function("listener", listener, "change"))

    async def serve(
        self,
        host: str,
        port: int,
        task_status: trio.TaskStatus[list[trio.SocketListener]] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Listen, and answer by ``handle``, until cancelled; unknown codes are answered with 3."""
        await trio.serve_tcp(self._accepted, port, host=host, task_status=task_status)

    async def _accepted(self, stream: trio.SocketStream) -> None:
        host, port = stream.socket.getpeername()[:2]
        peer = join_address(host, port)
        async with over(stream, peer=peer, handler=partial(self._answer, peer)) as channel:
            await channel.wait_closed()

    async def _answer(self, peer: str, request: RemotingCommand) -> RemotingCommand | None:
        handler = self._handlers.get(request.code)
        if handler is not None:
            return await handler(peer, request)
        remark = f" request type {request.code} not supported"
        return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    async def _min_broker_changed(self, _peer: str, request: RemotingCommand) -> RemotingCommand:
        self.min_broker = decode_header(NotifyMinBrokerIdChangeRequestHeader, request.ext_fields)
        for listener in self._listeners:
            listener(self.min_broker)
        return RemotingCommand(code=ResponseCode.SUCCESS)

    # ------------------------------------------------------------------ tasks

    async def keep_registered(self) -> None:
        """Register again and again."""
        seconds = min(max(self.settings.register_interval, _SHORTEST), _LONGEST)
        while True:
            await trio.sleep(seconds)
            await self.name_servers.refresh()
            await self.register(force=self.settings.force_register)

    async def keep_alive(self) -> None:
        """Send heartbeats again and again."""
        while True:
            await trio.sleep(self.settings.heartbeat_interval)
            await self.heartbeat()


@asynccontextmanager
async def open_registration(
    identity: BrokerIdentity,
    topics: Iterable[TopicConfig],
    config: ClientConfig | str,
    *,
    settings: RegistrationSettings | None = None,
    listen: bool = False,
    environment: Mapping[str, str] | None = None,
    connect: Connect | None = None,
    wall_clock_ms: Callable[[], int] | None = None,
) -> AsyncGenerator[Registration]:
    """Be a broker for the length of the block: registered with every name server, and kept so.

    The first registration has been tried when the block begins; ``Registration.results`` says who took it.

    Args:
        identity: which broker.
        topics: what it has.  A name server refuses a new broker that has exactly one topic.
        config: name servers, credentials, TLS; or the name servers as ``host:port;host:port``.
        settings: how it registers; None for Java's ways.
        listen: accept connections at ``identity.broker_addr`` and answer them by ``Registration.handle``; name servers connect
            there to tell of a new lowest broker id.
        environment: variables that stand in for settings; None for those of this process.
        connect: in the place of TCP and TLS, as ``rocketwire.testing`` has it.
        wall_clock_ms: milliseconds since 1970, for the version of the topics.

    Raises:
        NotInTrioError: the caller does not run in trio.
        IllegalTypeError: ``config`` is something else.
        LocalProtocolError: a topic has no name, or an address is not ``host:port``.
        OSError: nobody can listen at the broker's address.

    Closing: at the end of the block, also when it is cancelled, the broker is unregistered everywhere, as far as name servers
    answer within ``settings.call_timeout``.
    """
    require_trio()
    config = config_of(config)
    settings = settings or RegistrationSettings()
    clock = wall_clock_ms or _wall_clock_ms
    variables = os.environ if environment is None else environment
    host, port = split_address(identity.broker_addr)
    known = BrokerTopics(topics, now_ms=clock())
    async with (
        open_pool(config, environment=variables, connect=connect) as pool,
        background() as nursery,
    ):
        chance = random.Random()  # noqa: S311 - spreads load, hides nothing
        name_servers = NameServers(pool, config, environment=variables, chance=chance)
        registration = Registration(identity, known, settings, config, pool, name_servers, clock)
        if listen:
            await nursery.start(registration.serve, host, port)
        try:
            await name_servers.refresh()
            await registration.register()
            nursery.start_soon(registration.keep_registered)
            if settings.enable_acting_master:
                nursery.start_soon(registration.keep_alive)
            yield registration
        finally:
            with trio.move_on_after(settings.call_timeout, shield=True):
                await registration.unregister()


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000

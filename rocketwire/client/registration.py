"""``open_registration``: registers a broker at name servers, and keeps it registered.

Every name server gets its own requests. If one fails, the next round tries it again; the broker
continues.

Java: ``BrokerController`` (``registerBrokerAll``, ``sendHeartbeat``), ``BrokerOuterAPI``,
``AdminBrokerProcessor``.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import trio

from rocketwire.client.addresses import join_address, split_address
from rocketwire.client.config import ClientConfig, to_config
from rocketwire.client.handlers import async_handler, sync_function
from rocketwire.client.net.nameservers import NameServers, SingleNameServer
from rocketwire.client.net.pool import ChannelPool, Connect, RequestHandler, open_pool
from rocketwire.client.net.rpc import make_request
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import LocalProtocolError, RocketWireError
from rocketwire.messages import decode_header
from rocketwire.messages.registration import (
    BrokerHeartbeatRequestHeader,
    NotifyMinBrokerIdChangeRequestHeader,
    QueryDataVersionRequestHeader,
    QueryDataVersionResponseHeader,
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    RegisterBrokerResponseHeader,
    RegisterBrokerResult,
    UnRegisterBrokerRequestHeader,
    encode_register_broker_body,
)
from rocketwire.messages.topic_config import (
    DataVersion,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
)
from rocketwire.transport.channel import open_channel_over
from rocketwire.transport.nursery import background, run_each
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import RemotingCommand

if TYPE_CHECKING:
    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire.messages.topic_config import TopicConfig

_LOG: Final = logging.getLogger("rocketwire.client")

_MIN_INTERVAL, _MAX_INTERVAL = 10.0, 60.0  # Java's limits for the seconds between two registrations


Header = TypeVar("Header", QueryDataVersionRequestHeader, UnRegisterBrokerRequestHeader)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdentity:
    """The identity of a broker."""

    cluster_name: str  #: name of the cluster
    broker_name: str  #: name of the broker group
    broker_addr: str  #: ``host:port`` for clients
    broker_id: int = 0  #: 0 is the master
    #: address for slaves; None for the port after ``broker_addr``'s
    ha_server_addr: str | None = None

    @property
    def ha_address(self) -> str:
        if self.ha_server_addr is not None:
            return self.ha_server_addr
        host, _, port = self.broker_addr.rpartition(":")
        return f"{host}:{int(port) + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationSettings:
    """Settings of a registration; the defaults are Java's."""

    #: seconds between two full registrations; limited to 10 to 60, as in Java
    register_interval: float = 30.0
    #: register without a query whether the name server has the same topics
    force_register: bool = True
    #: compress registrations. In Java, this setting is broken: it marks the compressed body as
    #: plain, and its own name server rejects it. Here, the mark is right.
    packed: bool = False
    split_size: int = 0  #: topics in each part; 0 to send one registration
    #: let a slave act as master; the broker then sends heartbeats
    enable_acting_master: bool = False
    heartbeat_interval: float = 1.0  #: seconds between two heartbeats
    #: seconds without a heartbeat after which the name server removes the broker
    heartbeat_timeout: float = 10.0
    #: send heartbeats as data version queries (322), which name servers of 4.x support
    old_name_servers: bool = True
    register_timeout: float = 24.0  #: timeout of a registration in seconds
    call_timeout: float = 3.0  #: timeout of other requests in seconds


class BrokerTopics:
    def __init__(
        self,
        topics: Iterable[TopicConfig],
        mappings: Iterable[TopicQueueMappingInfo] = (),
        *,
        now_ms: int,
    ) -> None:
        """Start with version 0; ``mappings`` are the logical queues of static topics."""
        self._topics = {_require_name(topic): topic for topic in topics}
        self._mappings = {mapping.topic or "": mapping for mapping in mappings}
        self.version: DataVersion = DataVersion(counter=0, state_version=0, timestamp=now_ms)

    @property
    def topics(self) -> Mapping[str, TopicConfig]:
        return self._topics

    def put(
        self,
        topics: Iterable[TopicConfig],
        mappings: Iterable[TopicQueueMappingInfo] = (),
        *,
        now_ms: int,
    ) -> None:
        self._topics |= {_require_name(topic): topic for topic in topics}
        self._mappings |= {mapping.topic or "": mapping for mapping in mappings}
        self._advance_version(now_ms)

    def remove(self, names: Iterable[str], *, now_ms: int) -> None:
        for name in names:
            self._topics.pop(name, None)
            self._mappings.pop(name, None)
        self._advance_version(now_ms)

    def build_registrations(self, split_size: int, *, now_ms: int) -> Iterator[RegisterBrokerBody]:
        """Yield the registration of all topics; parts of a split one have versions of their own."""
        names = list(self._topics)
        if not split_size or len(names) <= split_size:
            yield self.build_body(self._topics)
            return
        for start in range(0, len(names), split_size):
            self._advance_version(now_ms)
            yield self.build_body(
                {name: self._topics[name] for name in names[start : start + split_size]}
            )

    def build_body(self, topics: Mapping[str, TopicConfig]) -> RegisterBrokerBody:
        wrapper = TopicConfigAndMappingSerializeWrapper(
            data_version=self.version,
            topic_config_table=dict(topics),
            mapping_data_version=replace(self.version, counter=0),
            topic_queue_mapping_info_map={
                name: mapping for name, mapping in self._mappings.items() if name in topics
            },
        )
        return RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)

    def _advance_version(self, now_ms: int) -> None:
        counter = (self.version.counter or 0) + 1
        self.version = replace(self.version, counter=counter, timestamp=now_ms)


def _require_name(topic: TopicConfig) -> str:
    if not topic.topic_name:
        raise LocalProtocolError("a topic has no name")
    return topic.topic_name


def build_registration(
    identity: BrokerIdentity, settings: RegistrationSettings, body: RegisterBrokerBody, version: int
) -> tuple[RegisterBrokerRequestHeader, bytes]:
    data = encode_register_broker_body(body, compressed=settings.packed, version=version)
    timeout_ms = int(settings.heartbeat_timeout * 1000) if settings.enable_acting_master else None
    header = RegisterBrokerRequestHeader(
        broker_name=identity.broker_name,
        broker_addr=identity.broker_addr,
        cluster_name=identity.cluster_name,
        ha_server_addr=identity.ha_address,
        broker_id=identity.broker_id,
        enable_acting_master=settings.enable_acting_master,
        heartbeat_timeout_millis=timeout_ms,
        compressed=settings.packed,
        body_crc32=crc32(data),
    )
    return header, data


def identify(header_class: type[Header], identity: BrokerIdentity) -> Header:
    """Build the header of an unregistration (code 104), or of a query of the version (code 322)."""
    return header_class(
        broker_name=identity.broker_name,
        broker_addr=identity.broker_addr,
        cluster_name=identity.cluster_name,
        broker_id=identity.broker_id,
    )


@trio_only()
class Registration:
    """A broker's registration at the name servers; ``open_registration`` creates it."""

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
        self.identity = identity
        self.settings = settings  #: intervals, timeouts and format
        self.name_servers = name_servers
        #: last response by name server address, if the last registration succeeded
        self.results: dict[str, RegisterBrokerResult] = {}
        #: error by name server address, if the last registration failed
        self.failures: dict[str, RocketWireError] = {}
        #: last notification about the lowest broker id of the group (code 905); None before the
        #: first
        self.min_broker: NotifyMinBrokerIdChangeRequestHeader | None = None
        self._topics = topics
        self._version_query = identify(QueryDataVersionRequestHeader, identity)
        self._config = config
        self._pool = pool
        self._now_ms = wall_clock_ms
        self._handlers: dict[int, RequestHandler] = {}
        self._listeners: list[Callable[[NotifyMinBrokerIdChangeRequestHeader], None]] = []
        self._registration_lock = trio.Lock()
        self._outages = Outages(f"broker {identity.broker_name}")
        self.handle(Code.NOTIFY_MIN_BROKER_ID_CHANGE, self._handle_min_broker_change)

    @property
    def topics(self) -> Mapping[str, TopicConfig]:
        return self._topics.topics

    # ------------------------------------------------------------------ requests to name servers

    async def register(self, *, force: bool = True) -> bool:
        """Register all topics at all name servers now; returns whether at least one has them.

        Args:
            force: do not query first whether a name server has the same topics.

        Cancellation: safe; some name servers may get the registration only in the next round.
        """
        async with self._registration_lock:
            servers = self.name_servers.each()
            if not force:
                servers = await self._query_outdated(servers)
            if servers:
                for body in self._topics.build_registrations(
                    self.settings.split_size, now_ms=self._now_ms()
                ):
                    await self._send_registration(servers, body)
        return bool(self.results)

    async def update_topics(
        self, topics: Iterable[TopicConfig], mappings: Iterable[TopicQueueMappingInfo] = ()
    ) -> bool:
        """Add or change topics, and register only these (Java: ``registerIncrementBrokerData``).

        Args:
            mappings: logical queues of those that are static topics.

        Returns whether at least one name server has the topics.

        Raises:
            LocalProtocolError: a topic has no name.
        """
        changed = {topic.topic_name or "": topic for topic in topics}
        async with self._registration_lock:
            self._topics.put(changed.values(), mappings, now_ms=self._now_ms())
            body = self._topics.build_body(changed)
            await self._send_registration(self.name_servers.each(), body)
        return bool(self.results)

    async def remove_topics(self, names: Iterable[str]) -> bool:
        """Register without these topics.

        Name servers delete them only if configured so, or on request (code 216).
        """
        self._topics.remove(names, now_ms=self._now_ms())
        return await self.register()

    async def heartbeat(self) -> None:
        """Send a one-way heartbeat to all name servers: code 904, or 322 to old ones."""
        if self.settings.old_name_servers:
            code, query = Code.QUERY_DATA_VERSION, self._version_query
            command = make_request(self._config, code, query, self._topics.version)
        else:
            header = BrokerHeartbeatRequestHeader(
                cluster_name=self.identity.cluster_name,
                broker_addr=self.identity.broker_addr,
                broker_name=self.identity.broker_name,
            )
            command = make_request(self._config, Code.BROKER_HEARTBEAT, header)
        for server in self.name_servers.each():
            try:
                await self._pool.send_oneway(server.address, command, within=1.0)
            except RocketWireError as error:
                self._outages.report(f"heartbeats to name server {server.address}", error)
            else:
                self._outages.end(f"heartbeats to name server {server.address}")

    async def unregister(self) -> None:
        """Unregister from all name servers; errors are logged."""
        header = identify(UnRegisterBrokerRequestHeader, self.identity)

        async def unregister(server: SingleNameServer) -> None:
            try:
                await server.call(Code.UNREGISTER_BROKER, header, within=self.settings.call_timeout)
            except RocketWireError as error:
                _LOG.info("name server %s: not unregistered: %s", server.address, error)

        await run_each(unregister, self.name_servers.each())
        self.results.clear()

    async def _send_registration(
        self, servers: Iterable[SingleNameServer], body: RegisterBrokerBody
    ) -> None:
        header, data = build_registration(self.identity, self.settings, body, self._config.version)

        async def register(server: SingleNameServer) -> None:
            try:
                response = await server.call(
                    Code.REGISTER_BROKER, header, data, within=self.settings.register_timeout
                )
            except RocketWireError as error:
                self._outages.report(f"registration with name server {server.address}", error)
                self.results.pop(server.address, None)
                self.failures[server.address] = error
                return
            response_header: RegisterBrokerResponseHeader = response.header
            self.failures.pop(server.address, None)
            self._outages.end(f"registration with name server {server.address}")
            self.results[server.address] = RegisterBrokerResult(
                ha_server_addr=response_header.ha_server_addr,
                master_addr=response_header.master_addr,
                kv_table=response.body,
            )

        await run_each(register, servers)

    async def _query_outdated(
        self, servers: Iterable[SingleNameServer]
    ) -> tuple[SingleNameServer, ...]:
        # returns the servers with an older version or no response (Java: needRegister)
        outdated: list[SingleNameServer] = []

        async def query(server: SingleNameServer) -> None:
            try:
                response = await server.call(
                    Code.QUERY_DATA_VERSION,
                    self._version_query,
                    self._topics.version,
                    within=self.settings.call_timeout,
                )
            except RocketWireError as error:
                # the registration reports it
                _LOG.debug("name server %s: %s", server.address, error)
                outdated.append(server)
                return
            response_header: QueryDataVersionResponseHeader = response.header
            is_current = (
                response_header.changed is False
                and server.address in self.results
                and (response.body is None or response.body == self._topics.version)
            )
            if not is_current:
                outdated.append(server)

        await run_each(query, servers)
        return tuple(outdated)

    # ------------------------------------------------------------------ requests of peers

    def handle(self, code: int, handler: RequestHandler) -> None:
        """Register the handler of a request code at the broker's address, if it listens.

        It replaces the previous handler.

        Raises:
            IllegalHandlerError: the handler is not async, or cannot be called with (address,
                request).
        """
        self._handlers[code] = async_handler("handler", handler, "address, request")

    def on_min_broker_change(
        self, listener: Callable[[NotifyMinBrokerIdChangeRequestHeader], None]
    ) -> None:
        """Call ``listener`` when the lowest broker id of the group changes (code 905).

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
        """Listen, and serve requests with the handlers until cancelled; other codes get code 3."""
        await trio.serve_tcp(self._serve_connection, port, host=host, task_status=task_status)

    async def _serve_connection(self, stream: trio.SocketStream) -> None:
        host, port = stream.socket.getpeername()[:2]
        peer = join_address(host, port)
        async with open_channel_over(
            stream, peer=peer, handler=partial(self._handle_request, peer)
        ) as channel:
            await channel.wait_closed()

    async def _handle_request(self, peer: str, request: RemotingCommand) -> RemotingCommand | None:
        handler = self._handlers.get(request.code)
        if handler is not None:
            return await handler(peer, request)
        remark = f" request type {request.code} not supported"
        return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    async def _handle_min_broker_change(
        self, _peer: str, request: RemotingCommand
    ) -> RemotingCommand:
        self.min_broker = decode_header(NotifyMinBrokerIdChangeRequestHeader, request.ext_fields)
        for listener in self._listeners:
            listener(self.min_broker)
        return RemotingCommand(code=ResponseCode.SUCCESS)

    # ------------------------------------------------------------------ tasks

    async def keep_registered(self) -> None:
        """Register in every interval, until cancelled."""
        interval = min(max(self.settings.register_interval, _MIN_INTERVAL), _MAX_INTERVAL)
        while True:
            await trio.sleep(interval)
            await self.name_servers.refresh()
            await self.register(force=self.settings.force_register)

    async def keep_alive(self) -> None:
        """Send a heartbeat in every interval, until cancelled."""
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
    mappings: Iterable[TopicQueueMappingInfo] = (),
    listen: bool = False,
    environment: Mapping[str, str] | None = None,
    connect: Connect | None = None,
    wall_clock_ms: Callable[[], int] | None = None,
) -> AsyncGenerator[Registration]:
    """Register a broker at every name server, and keep it registered until the end of the block.

    The first registration is tried before the block begins; see ``Registration.results``.

    Args:
        topics: its topics. A name server rejects a new broker that has exactly one topic.
        config: name servers, credentials, TLS; or the name servers as ``host:port;host:port``.
        settings: settings of the registration; None for Java's defaults.
        mappings: logical queues of the topics that are static topics.
        listen: accept connections at ``identity.broker_addr`` and serve them with
            ``Registration.handle``; name servers connect there to report a new lowest broker id.
        environment: environment variables for settings that are not set; None for ``os.environ``.
        connect: replaces TCP and TLS, for example in ``rocketwire.testing``.
        wall_clock_ms: returns milliseconds since 1970, for the version of the topics.

    Raises:
        IllegalTypeError: ``config`` has another type.
        LocalProtocolError: a topic has no name, or an address is not ``host:port``.
        OSError: the broker's address cannot be bound.

    Closing: at the end of the block, also after cancellation, the broker is unregistered from every
    name server that responds within ``settings.call_timeout``.
    """
    require_trio()
    config = to_config(config)
    settings = settings or RegistrationSettings()
    clock = wall_clock_ms or now_millis
    variables = os.environ if environment is None else environment
    host, port = split_address(identity.broker_addr)
    broker_topics = BrokerTopics(topics, mappings, now_ms=clock())
    async with (
        open_pool(config, environment=variables, connect=connect) as pool,
        background() as nursery,
    ):
        chance = random.Random()  # noqa: S311 - spreads load, hides nothing
        name_servers = NameServers(pool, config, environment=variables, chance=chance)
        registration = Registration(
            identity, broker_topics, settings, config, pool, name_servers, clock
        )
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

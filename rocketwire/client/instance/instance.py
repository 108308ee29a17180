"""``ClientInstance``: what producers and consumers of a client id share.

If one round of a background task fails, the error is logged and the next round follows.

Java: ``MQClientInstance``.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import trio

from rocketwire.client.arguments import type_error
from rocketwire.client.config import ClientConfig, to_config
from rocketwire.client.instance.heartbeats import HeartbeatHistory, build_heartbeat
from rocketwire.client.instance.routes import BrokerAddress, Routes
from rocketwire.client.net.broker_api import BrokerCalls
from rocketwire.client.net.local_address import local_address
from rocketwire.client.net.nameservers import NameServers
from rocketwire.client.net.pool import ChannelPool, Connect, open_pool
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import repeat_every
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerNotFoundError,
    ChannelError,
    LocalProtocolError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.transport.nursery import background, run_each

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from rocketwire.client.hooks import ClientHook, HookChain
    from rocketwire.client.instance.broker_requests import ConsumerMember, ProducerMember
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.message.stored import StoredMessage

T = TypeVar("T")

_LOG: Final = logging.getLogger("rocketwire.client")

# Request codes that ``BrokerRequests`` serves
BROKER_REQUEST_CODES: Final = (
    RequestCode.CHECK_TRANSACTION_STATE,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
    RequestCode.GET_CONSUMER_RUNNING_INFO,
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
    RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
)

# Seconds between a new connection and the heartbeat of producers: the first message goes first.
# Java sends this heartbeat in its next round, up to 30 s later.
PRODUCERS_HEARTBEAT_DELAY: Final = 0.1
MAX_HEARTBEATS_AT_ONCE: Final = 32  # maximum heartbeats that are sent concurrently
VERSION_5: Final = 413  # ``MQVersion.V5_0_0``, without the import of that large enum


def _heartbeat_outage(address: str) -> str:
    return f"heartbeats to broker {address}"


@trio_only()
class ClientInstance:
    """A client with its client id; ``open_client`` creates it."""

    def __init__(
        self,
        config: ClientConfig,
        client_id: str,
        own_ip: str,
        pool: ChannelPool,
        name_servers: NameServers,
        nursery: trio.Nursery,
        chance: random.Random,
        *,
        has_own_name: bool = False,
    ) -> None:
        self.config = config  #: settings of the client, with its instance name
        self.client_id = client_id  #: id that brokers use for the client
        self.own_ip = own_ip  #: address of this machine, or the configured replacement
        #: whether the instance name was generated, so that no other client has the client id
        self.has_own_name = has_own_name
        self.pool = pool
        self.name_servers = name_servers  #: name servers that the routes come from
        self.brokers: Final = BrokerCalls(pool, config)  #: typed requests to brokers
        self.routes: Final = Routes()
        self.hooks: HookChain | None = None  #: hooks of ``config``; None without hooks
        #: producers by group; changed by ``add_producer`` and ``remove_producer``
        self.producers: dict[str, ProducerMember] = {}
        #: consumers by group; changed by ``add_consumer`` and ``remove_consumer``
        self.consumers: dict[str, ConsumerMember] = {}
        self._nursery = nursery
        self._chance = chance
        self._heartbeat_history = HeartbeatHistory()
        self._versions: dict[str, int] = {}
        self._route_locks: dict[str, trio.Lock] = {}
        self._outages = Outages()
        self._heartbeat_due = trio.Event()
        self._heartbeat_locks: dict[str, trio.Lock] = {}
        if config.hooks:
            from rocketwire.client.hooks import HookChain

            self.hooks = HookChain(cast("Sequence[ClientHook]", config.hooks))
        for code in BROKER_REQUEST_CODES:
            pool.handle(code, self._handle_first_request)
        pool.on_connected(self._send_first_heartbeat)

    # ------------------------------------------------------------------ routes

    async def route(self, topic: str) -> TopicRouteData:
        """Return the route of a topic; fetch it if the client has none.

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
            ClientError, ChannelError: see ``NameServers.call``.
        """
        route = self.routes.get(topic)
        if route is None:
            await self.refresh_route(topic)
            route = self.routes.get(topic)
        if route is None:
            raise TopicRouteNotFoundError(topic)
        return route

    async def refresh_route(self, topic: str) -> bool:
        """Fetch a route now; returns whether it has changed. Concurrent callers share one request.

        A change is passed to the producers and consumers of the topic.

        Raises:
            TopicRouteNotFoundError: no broker has the topic; the previous route stays.
            ClientError, ChannelError: see ``NameServers.call``.
        """
        lock = self._route_locks.setdefault(topic, trio.Lock())
        previous = self.routes.get(topic)
        async with lock:
            if self.routes.get(topic) is not previous:
                return True
            try:
                route = await self.name_servers.route(topic)
            except TopicRouteNotFoundError as error:
                known = (previous.broker_datas if previous else None) or ()
                error.brokers = tuple(broker.broker_name or "" for broker in known)
                raise
            return self.set_route(topic, route)

    def set_route(self, topic: str, route: TopicRouteData) -> bool:
        """Set a route, and notify producers and consumers; returns whether it has changed."""
        if not self.routes.put(topic, route):
            return False
        for member in self._members():
            if topic in member.topics():
                member.route_changed(topic, route)
        return True

    def _members(self) -> list[ProducerMember | ConsumerMember]:
        return [*self.producers.values(), *self.consumers.values()]

    async def refresh_routes(self) -> None:
        """Fetch the routes of all topics of producers and consumers; a deleted topic keeps its."""
        published = {topic for producer in self.producers.values() for topic in producer.topics()}
        for topic in dict.fromkeys(
            topic for member in self._members() for topic in member.topics()
        ):
            try:
                await self.refresh_route(topic)
            except RocketWireError as error:
                if self.routes.get(topic) is None and topic not in published:
                    _LOG.debug("topic %s: %s", topic, error)  # the consumers log a warning
                else:
                    self._outages.report_route(topic, error)
            else:
                self._outages.end_route(topic)

    # ------------------------------------------------------------------ brokers

    def broker_address(self, broker_name: str) -> str | None:
        return self.routes.master(broker_name)

    async def master(self, broker_name: str, topic: str | None = None) -> str:
        """Return the address of the master of a broker group.

        Args:
            topic: a topic of the group; its route is fetched if the client has no address.

        Raises:
            BrokerNotFoundError: there is no address.
        """
        address = self.routes.master(broker_name)
        if address is None and topic is not None:
            await self._try_refresh_route(topic)
            address = self.routes.master(broker_name)
        if address is None:
            raise BrokerNotFoundError(broker_name)
        return address

    async def replica(
        self,
        broker_name: str,
        broker_id: int = 0,
        *,
        only_this: bool = False,
        topic: str | None = None,
    ) -> BrokerAddress:
        """Return the address for reads from a broker group; see ``Routes.replica`` and ``master``.

        Raises:
            BrokerNotFoundError: there is no address.
        """
        broker = self.routes.replica(broker_name, broker_id, only_this=only_this)
        if broker is None and topic is not None:
            await self._try_refresh_route(topic)
            broker = self.routes.replica(broker_name, broker_id, only_this=only_this)
        if broker is None:
            raise BrokerNotFoundError(broker_name)
        return broker

    async def any_broker(self, topic: str) -> str:
        """Return the address of a broker of the topic, of a master if there is one.

        Raises:
            TopicRouteNotFoundError: no broker has the topic.
        """
        await self.route(topic)
        address = self.routes.pick_broker(topic, self._chance.randrange(1 << 30))
        if address is None:
            raise TopicRouteNotFoundError(topic)
        return address

    async def _try_refresh_route(self, topic: str) -> None:
        try:
            await self.refresh_route(topic)
        except RocketWireError as error:  # the caller reports the missing address
            _LOG.debug("route of %s: %s", topic, error)

    def broker_version(self, address: str) -> int | None:
        """Return the protocol version in a broker's last heartbeat response; None before it."""
        return self._versions.get(address)

    async def is_before_5(self, address: str) -> bool:
        """Return whether a broker is older than 5.0.

        If its version is not known yet, a heartbeat is sent; without a response the broker counts
        as 5.0.
        """
        if address not in self._versions:
            await self.send_heartbeat(address)
        return self._versions.get(address, VERSION_5) < VERSION_5

    def observe_settlement(
        self,
        group: str,
        operation: str,
        broker_name: str,
        messages: Sequence[StoredMessage],
        request: Awaitable[T],
    ) -> Awaitable[T]:
        """Return a request that settles messages of a topic, or with hooks one that they see."""
        if self.hooks is None:
            return request
        from rocketwire.client.hooks import SettleMessageContext

        arguments = (self, group, operation, messages[0].topic, broker_name, messages)
        return self.hooks.observe(request, partial(SettleMessageContext, *arguments))

    # ------------------------------------------------------------------ members

    def add_producer(self, producer: ProducerMember) -> None:
        """Add a producer, and send heartbeats.

        Raises:
            LocalProtocolError: the instance already has a producer of that group.
        """
        if self.producers.setdefault(producer.group, producer) is not producer:
            raise LocalProtocolError(f"there is a producer of group {producer.group} already")
        self.heartbeat_soon()

    def add_consumer(self, consumer: ConsumerMember) -> None:
        """Add a consumer, and send heartbeats.

        Raises:
            LocalProtocolError: the instance already has a consumer of that group.
        """
        if self.consumers.setdefault(consumer.group, consumer) is not consumer:
            raise LocalProtocolError(f"there is a consumer of group {consumer.group} already")
        self.heartbeat_soon()

    async def remove_producer(self, producer: ProducerMember) -> None:
        """Unregister the producer from every connected broker; nothing if it was never added.

        Cancellation: safe; other brokers notice when the connection closes.
        """
        if self.producers.get(producer.group) is producer:
            del self.producers[producer.group]
            await self._leave(producer_group=producer.group)

    async def remove_consumer(self, consumer: ConsumerMember) -> None:
        """Unregister the consumer from every connected broker, so that its group rebalances.

        Nothing happens if it was never added, as another consumer of its group was there before.

        Cancellation: safe; other brokers notice when the connection closes.
        """
        if self.consumers.get(consumer.group) is consumer:
            del self.consumers[consumer.group]
            await self._leave(consumer_group=consumer.group)

    async def _leave(
        self, *, producer_group: str | None = None, consumer_group: str | None = None
    ) -> None:
        async def unregister(address: str) -> None:
            try:
                # Brokers handle heartbeats in other threads: a heartbeat that is on its way could
                # be handled later and bring the member back for two minutes.
                async with self._heartbeat_lock(address):
                    await self.brokers.unregister_client(
                        address,
                        self.client_id,
                        producer_group=producer_group,
                        consumer_group=consumer_group,
                    )
            except RocketWireError as error:
                _LOG.info("broker %s: not unregistered: %s", address, error)

        async with trio.open_nursery() as nursery:
            for address in self.pool.addresses:
                if self.routes.broker_name(address) is not None:
                    nursery.start_soon(unregister, address)

    # ------------------------------------------------------------------ heartbeats

    def heartbeat_soon(self) -> None:
        self._heartbeat_due.set()

    async def send_heartbeats(self) -> int:
        """Send a heartbeat to every broker; returns the number of brokers that responded.

        Slaves only receive heartbeats of consumers. Without producers and consumers, nothing is
        sent.
        """
        addresses = [
            address for _, address in self.routes.all_addresses(slaves=bool(self.consumers))
        ]
        if not addresses or not (self.producers or self.consumers):
            return 0
        responded = 0
        limit = trio.CapacityLimiter(MAX_HEARTBEATS_AT_ONCE)

        async def send(address: str) -> None:
            nonlocal responded
            async with limit:
                responded += await self.send_heartbeat(address)

        await run_each(send, addresses)
        return responded

    async def send_heartbeat(self, address: str) -> bool:
        """Send a heartbeat to a broker; returns whether it responded. Errors are logged.

        The previous heartbeat to the broker has ended before.
        """
        async with self._heartbeat_lock(address):
            return await self._send_heartbeat(address)

    def _heartbeat_lock(self, address: str) -> trio.Lock:
        return self._heartbeat_locks.setdefault(address, trio.Lock())

    async def _send_heartbeat(self, address: str) -> bool:
        consumers = [consumer.heartbeat() for consumer in self.consumers.values()]
        heartbeat = build_heartbeat(self.client_id, self.producers, consumers)
        if self.config.use_heartbeat_v2:
            heartbeat = self._heartbeat_history.prepare(address, heartbeat)
        try:
            response = await self.brokers.heartbeat(address, heartbeat)
        except RocketWireError as error:
            if self.consumers and isinstance(error, ChannelError):
                _LOG.debug("no heartbeat to %s: %s", address, error)  # the consumers log a warning
            else:
                self._outages.report(_heartbeat_outage(address), error)
            return False
        self._outages.end(_heartbeat_outage(address))
        self._versions[address] = response.command.version
        self._heartbeat_history.record_response(address, heartbeat, response.command.ext_fields)
        return True

    def _send_first_heartbeat(self, address: str) -> None:
        # send a heartbeat over a new connection, because brokers bind groups to connections
        self._heartbeat_history.forget(address)
        is_broker = self.routes.broker_name(address) is not None
        if is_broker and (self.producers or self.consumers):
            self._nursery.start_soon(self._send_heartbeat_after_delay, address)

    async def _send_heartbeat_after_delay(self, address: str) -> None:
        if not self.consumers:
            await trio.sleep(PRODUCERS_HEARTBEAT_DELAY)
        if self.producers or self.consumers:
            await self.send_heartbeat(address)

    async def _handle_first_request(
        self, address: str, request: RemotingCommand
    ) -> RemotingCommand | None:
        # import and register BrokerRequests when a broker sends the first request
        from rocketwire.client.instance.broker_requests import BrokerRequests

        BrokerRequests(self).install()
        return await self.pool.handle_request(address, request)

    # ------------------------------------------------------------------ tasks

    async def start(self) -> None:
        await self.name_servers.refresh()
        self.name_servers.connect_soon()
        config = self.config
        for seconds, round_ in (
            (config.poll_name_server_interval, self._poll_routes),
            (config.fetch_name_server_interval, self.name_servers.refresh),
            (config.probe_name_server_interval, self.name_servers.probe),
        ):
            self._nursery.start_soon(repeat_every, seconds, round_, self._outages)
        self._nursery.start_soon(self._keep_sending_heartbeats)
        await trio.lowlevel.checkpoint()  # lets the connection start

    async def _poll_routes(self) -> None:
        await self.refresh_routes()
        for address in self.routes.drop_unreachable():
            self._versions.pop(address, None)
            self._heartbeat_history.forget(address)
            self._heartbeat_locks.pop(address, None)
            self._outages.forget(_heartbeat_outage(address))
            self.pool.invalidate(address)

    async def _keep_sending_heartbeats(self) -> None:
        while True:
            with trio.move_on_after(self.config.heartbeat_broker_interval):
                await self._heartbeat_due.wait()
            self._heartbeat_due = trio.Event()
            await self.send_heartbeats()

    async def close(self) -> None:
        """Unregister all producers and consumers; ``open_client`` calls it."""
        for producer in list(self.producers.values()):
            await self.remove_producer(producer)
        for consumer in list(self.consumers.values()):
            await self.remove_consumer(consumer)


CLOSE_SECONDS: Final = 3.0  # timeout for unregistering when a client closes


@asynccontextmanager
async def open_client(
    config: ClientConfig | str,
    *,
    own_instance: bool = True,
    environment: Mapping[str, str] | None = None,
    chance: random.Random | None = None,
    connect: Connect | None = None,
) -> AsyncGenerator[ClientInstance]:
    """Open a client until the end of the block.

    It connects to a name server, and to brokers on first use.

    Args:
        config: settings of the client, or its name servers as ``host:port;host:port``.
        own_instance: generate a unique client id, unless ``config.instance_name`` is set.
            Broadcasting consumers pass False, so that they find their offsets on disk again.
        environment: environment variables for settings that are not set; None for ``os.environ``.
        chance: shuffles name servers and selects brokers.
        connect: replaces TCP and TLS, for example in ``rocketwire.testing``.

    Raises:
        IllegalTypeError: ``config`` has another type.
        LocalProtocolError: a configured address is not ``host:port``.

    Closing: at the end of the block, also after cancellation, producers and consumers are
    unregistered (within three seconds), background tasks end, and every connection is closed.
    """
    require_trio()
    variables = os.environ if environment is None else environment
    config = to_config(config).with_namespace(variables)
    configured = config
    if own_instance:
        config = config.with_own_instance(os.getpid(), time.monotonic_ns())
    chance = chance or random.Random()  # noqa: S311 - spreads load, hides nothing
    own_ip = config.client_ip or local_address()
    client_id = config.client_id(own_ip)
    async with (
        open_pool(config, environment=variables, connect=connect) as pool,
        background() as nursery,
    ):
        name_servers = NameServers(pool, config, environment=variables, chance=chance)
        instance = ClientInstance(
            config,
            client_id,
            own_ip,
            pool,
            name_servers,
            nursery,
            chance,
            has_own_name=config is not configured,
        )
        await instance.start()
        if instance.hooks is not None:
            instance.hooks.started(instance)
        try:
            yield instance
        finally:
            if instance.hooks is not None:
                instance.hooks.closed(instance)
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await instance.close()


Client: TypeAlias = "ClientInstance | ClientConfig | str"
"""An open client, settings of a new client, or name servers as ``host:port;host:port``."""


@asynccontextmanager
async def open_or_reuse_client(
    client: Client, *, own_instance: bool = True, is_stream: bool = False
) -> AsyncGenerator[ClientInstance]:
    """Yield an open client until the end of the block, which closes one that it has opened."""
    require_trio()
    if isinstance(client, ClientInstance):
        yield client
    elif isinstance(client, (ClientConfig, str)):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        if is_stream:
            client = replace(to_config(client), enable_stream_request_type=True)
        async with open_client(client, own_instance=own_instance) as instance:
            yield instance
    else:
        expected = "an open client, a ClientConfig or name servers as 'host:port;host:port'"
        raise type_error("client", expected, client)

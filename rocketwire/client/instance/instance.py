"""``ClientInstance``: what the producers and consumers of one client id share; opened by ``open_client``.

It keeps routes fresh, tells brokers who lives, and hands the brokers' requests on.

Rules of this file: a background task that fails in one round logs that and goes on with the next one; the round itself is
a method that can also be awaited by whoever needs it now.

Java: ``MQClientInstance``.
"""

from __future__ import annotations

import logging
import os
import random
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.config import config_of
from rocketwire.client.instance.heartbeats import HeartbeatMemory, heartbeat_of
from rocketwire.client.instance.routes import Routes
from rocketwire.client.net.broker_api import BrokerCalls
from rocketwire.client.net.local_address import local_address
from rocketwire.client.net.nameservers import NameServers
from rocketwire.client.net.pool import open_pool
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import every
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerNotFoundError,
    ChannelError,
    LocalProtocolError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.interfaces import ConsumerMember, ProducerMember
    from rocketwire.client.instance.routes import FoundBroker
    from rocketwire.client.net.pool import ChannelPool, Connect
    from rocketwire.messages.heartbeat import HeartbeatData
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.command import RemotingCommand

_LOG: Final = logging.getLogger("rocketwire.client")

ASKED_BY_BROKERS: Final = (
    RequestCode.CHECK_TRANSACTION_STATE,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
    RequestCode.GET_CONSUMER_RUNNING_INFO,
    RequestCode.CONSUME_MESSAGE_DIRECTLY,
    RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
)
"""What ``Callbacks`` answers."""

PRODUCERS_HEARTBEAT_DELAY: Final = 0.1
"""Seconds after which a broker that was connected to is told of producers, so that the message which it was connected to for goes first.

Java tells it at its next round, up to 30 s later."""

MAX_HEARTBEATS_AT_ONCE: Final = 32
"""Brokers that a heartbeat is sent to at the same time."""

VERSION_5: Final = 413
"""``MQVersion.V5_0_0``, without its module of six hundred names."""


def _heartbeats(address: str) -> str:
    """The subject of warnings about heartbeats to a broker."""
    return f"heartbeats to broker {address}"


@trio_only()
class ClientInstance:
    """One client, as brokers see it; made by ``open_client``.

    Attributes:
        config: its settings, instance name included.
        client_id: under which brokers know it.
        own_ip: an address of this machine, or what stands for it.
        pool: its connections.
        name_servers: whom it asks for routes.
        brokers: typed calls to brokers.
        routes: what it knows of topics and brokers.
        has_own_name: whether no other client can have its client id, because its instance name was made for it.
        producers: by group; changed by ``add_producer`` and ``remove_producer``.
        consumers: by group; changed by ``add_consumer`` and ``remove_consumer``.
    """

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
        """Without producers and consumers; ``open_client`` starts its tasks."""
        self.config = config
        self.client_id = client_id
        self.own_ip = own_ip
        self.has_own_name = has_own_name
        self.pool = pool
        self.name_servers = name_servers
        self.brokers = BrokerCalls(pool, config)
        self.routes = Routes()
        self.producers: dict[str, ProducerMember] = {}
        self.consumers: dict[str, ConsumerMember] = {}
        self._nursery = nursery
        self._chance = chance
        self._memory = HeartbeatMemory()
        self._versions: dict[str, int] = {}
        self._asking: dict[str, trio.Lock] = {}
        self._outages = Outages()
        self._heart = trio.Event()
        for code in ASKED_BY_BROKERS:
            pool.handle(code, self._first_question)
        pool.on_connected(self._connected)

    # ------------------------------------------------------------------ routes

    async def route(self, topic: str) -> TopicRouteData:
        """Where a topic lives; asked for only if it is not known.

        Raises:
            TopicRouteNotFoundError: the name servers do not know either.
            ClientError, ChannelError: as of ``NameServers.call``.
        """
        known = self.routes.get(topic)
        if known is None:
            await self.refresh_route(topic)
            known = self.routes.get(topic)
        if known is None:
            raise TopicRouteNotFoundError(topic)
        return known

    async def refresh_route(self, topic: str) -> bool:
        """Ask for a route now; returns whether it says something new.  Several who ask for one topic share an answer.

        Producers and consumers that want the topic are told of a change.

        Raises:
            TopicRouteNotFoundError: the name servers do not know the topic; a route that is known already stays.
            ClientError, ChannelError: as of ``NameServers.call``.
        """
        lock = self._asking.setdefault(topic, trio.Lock())
        before = self.routes.get(topic)
        async with lock:
            if self.routes.get(topic) is not before:
                return True
            return self.take_route(topic, await self.name_servers.route(topic))

    def take_route(self, topic: str, route: TopicRouteData) -> bool:
        """Use this route of a topic from now on; returns whether it says something new, and tells whoever wants it."""
        if not self.routes.put(topic, route):
            return False
        members: list[ProducerMember | ConsumerMember]
        members = [*self.producers.values(), *self.consumers.values()]
        for member in members:
            if topic in member.topics():
                member.route_changed(topic, route)
        return True

    async def refresh_routes(self) -> None:
        """Ask for the routes of all topics that somebody wants; a topic that is gone keeps the route it had."""
        members: list[ProducerMember | ConsumerMember]
        members = [*self.producers.values(), *self.consumers.values()]
        published = {topic for producer in self.producers.values() for topic in producer.topics()}
        for topic in dict.fromkeys(topic for member in members for topic in member.topics()):
            try:
                await self.refresh_route(topic)
            except RocketWireError as error:
                if self.routes.get(topic) is None and topic not in published:
                    _LOG.debug("topic %s: %s", topic, error)  # its consumers warn
                else:
                    self._outages.report_route(topic, error)
            else:
                self._outages.end_route(topic)

    # ------------------------------------------------------------------ brokers

    async def master(self, broker_name: str, topic: str | None = None) -> str:
        """The address that a broker group is written to.

        Args:
            broker_name: the group.
            topic: one that lives there; its route is asked for anew if the address is not known.

        Raises:
            BrokerNotFoundError: nobody knows one.
        """
        address = self.routes.master(broker_name)
        if address is None and topic is not None:
            await self._refreshed(topic)
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
    ) -> FoundBroker:
        """The address that a broker group is read from; see ``Routes.replica`` and ``master``.

        Raises:
            BrokerNotFoundError: nobody knows one.
        """
        found = self.routes.replica(broker_name, broker_id, only_this=only_this)
        if found is None and topic is not None:
            await self._refreshed(topic)
            found = self.routes.replica(broker_name, broker_id, only_this=only_this)
        if found is None:
            raise BrokerNotFoundError(broker_name)
        return found

    async def any_broker(self, topic: str) -> str:
        """Some broker of the topic, a master if there is one.

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
        """
        await self.route(topic)
        address = self.routes.any_of_topic(topic, self._chance.randrange(1 << 30))
        if address is None:
            raise TopicRouteNotFoundError(topic)
        return address

    async def _refreshed(self, topic: str) -> None:
        try:
            await self.refresh_route(topic)
        except RocketWireError as error:  # the caller says that it has no address
            _LOG.debug("route of %s: %s", topic, error)

    def broker_version(self, address: str) -> int | None:
        """The protocol version that a broker's last heartbeat answer told; None before that."""
        return self._versions.get(address)

    async def is_before_5(self, address: str) -> bool:
        """Whether a broker is older than 5.0; one that has not told its version yet is sent a heartbeat, and counts as new if it does not
        answer that.
        """
        if address not in self._versions:
            await self.send_heartbeat(address)
        return self._versions.get(address, VERSION_5) < VERSION_5

    # ------------------------------------------------------------------ members

    def add_producer(self, producer: ProducerMember) -> None:
        """Tell brokers of this producer, from the next heartbeat on.

        Raises:
            LocalProtocolError: the instance has a producer of that group already.
        """
        if self.producers.setdefault(producer.group, producer) is not producer:
            raise LocalProtocolError(f"there is a producer of group {producer.group} already")
        self.heartbeat_soon()

    def add_consumer(self, consumer: ConsumerMember) -> None:
        """Tell brokers of this consumer, from the next heartbeat on.

        Raises:
            LocalProtocolError: the instance has a consumer of that group already.
        """
        if self.consumers.setdefault(consumer.group, consumer) is not consumer:
            raise LocalProtocolError(f"there is a consumer of group {consumer.group} already")
        self.heartbeat_soon()

    async def remove_producer(self, producer: ProducerMember) -> None:
        """Tell every broker that the producer is gone; a broker that cannot be told finds out by itself.

        Cancellation: safe; brokers that were not told find out when the connection closes.
        """
        if self.producers.pop(producer.group, None) is not None:
            await self._leave(producer_group=producer.group)

    async def remove_consumer(self, consumer: ConsumerMember) -> None:
        """Tell every broker that the consumer is gone, so that its group shares the queues anew; as ``remove_producer``."""
        if self.consumers.pop(consumer.group, None) is not None:
            await self._leave(consumer_group=consumer.group)

    async def _leave(
        self, *, producer_group: str | None = None, consumer_group: str | None = None
    ) -> None:
        async def tell(address: str) -> None:
            try:
                await self.brokers.unregister_client(
                    address,
                    self.client_id,
                    producer_group=producer_group,
                    consumer_group=consumer_group,
                )
            except RocketWireError as error:
                _LOG.info("%s was not told that a client leaves: %s", address, error)

        async with trio.open_nursery() as nursery:
            for address in self.pool.addresses:
                if self.routes.name_of(address) is not None:
                    nursery.start_soon(tell, address)

    # ------------------------------------------------------------------ heartbeats

    def heartbeat_soon(self) -> None:
        """Send heartbeats to all brokers now, without waiting for it."""
        self._heart.set()

    async def send_heartbeats(self) -> int:
        """Send a heartbeat to every broker that is known; returns how many answered.

        Slaves are told only of consumers.  Nothing is sent while there is neither a producer nor a consumer.
        """
        addresses = [
            address for _, address in self.routes.all_addresses(slaves=bool(self.consumers))
        ]
        if not addresses or not (self.producers or self.consumers):
            return 0
        data = self._heartbeat()
        answered = 0
        limit = trio.CapacityLimiter(MAX_HEARTBEATS_AT_ONCE)

        async def tell(address: str) -> None:
            nonlocal answered
            async with limit:
                answered += await self.send_heartbeat(address, data)

        async with trio.open_nursery() as nursery:
            for address in addresses:
                nursery.start_soon(tell, address)
        return answered

    async def send_heartbeat(self, address: str, data: HeartbeatData | None = None) -> bool:
        """Send a heartbeat to one broker; returns whether it answered.  Errors are logged."""
        data = self._heartbeat() if data is None else data
        sent = self._memory.form_for(address, data) if self.config.use_heartbeat_v2 else data
        try:
            answer = await self.brokers.heartbeat(address, sent)
        except RocketWireError as error:
            if self.consumers and isinstance(error, ChannelError):
                _LOG.debug("no heartbeat to %s: %s", address, error)  # its consumers warn
            else:
                self._outages.report(_heartbeats(address), error)
            return False
        self._outages.end(_heartbeats(address))
        self._versions[address] = answer.command.version
        self._memory.answered(address, sent, answer.command.ext_fields)
        return True

    def _heartbeat(self) -> HeartbeatData:
        told = [consumer.heartbeat() for consumer in self.consumers.values()]
        return heartbeat_of(self.client_id, self.producers, told)

    def _connected(self, address: str) -> None:
        """A channel was opened: a broker is sent a heartbeat, because groups live on channels; a consumer's goes before all else."""
        self._memory.forget(address)
        if self.routes.name_of(address) is not None and (self.producers or self.consumers):
            self._nursery.start_soon(self._introduce, address)

    async def _introduce(self, address: str) -> None:
        if not self.consumers:
            await trio.sleep(PRODUCERS_HEARTBEAT_DELAY)
        if self.producers or self.consumers:
            await self.send_heartbeat(address)

    async def _first_question(
        self, address: str, request: RemotingCommand
    ) -> RemotingCommand | None:
        """A broker asks something for the first time; what reads it is imported now, and answers from now on."""
        from rocketwire.client.instance.broker_requests import Callbacks

        Callbacks(self).install()
        return await self.pool.handle_request(address, request)

    # ------------------------------------------------------------------ tasks

    async def start(self) -> None:
        """Ask for the name servers' addresses, connect to one of them and start the background tasks; ``open_client`` does."""
        await self.name_servers.refresh()
        self.name_servers.connect_soon()
        config = self.config
        for seconds, round_ in (
            (config.poll_name_server_interval, self._poll),
            (config.fetch_name_server_interval, self.name_servers.refresh),
            (config.probe_name_server_interval, self.name_servers.probe),
        ):
            self._nursery.start_soon(every, seconds, round_, self._outages)
        self._nursery.start_soon(self._beat)
        await trio.lowlevel.checkpoint()  # the connection is on its way while the program goes on

    async def _poll(self) -> None:
        await self.refresh_routes()
        for address in self.routes.drop_unreachable():
            self._versions.pop(address, None)
            self._memory.forget(address)
            self._outages.forget(_heartbeats(address))
            self.pool.invalidate(address)

    async def _beat(self) -> None:
        while True:
            with trio.move_on_after(self.config.heartbeat_broker_interval):
                await self._heart.wait()
            self._heart = trio.Event()
            await self.send_heartbeats()

    async def close(self) -> None:
        """Tell brokers that all producers and consumers are gone; ``open_client`` does."""
        for producer in list(self.producers.values()):
            await self.remove_producer(producer)
        for consumer in list(self.consumers.values()):
            await self.remove_consumer(consumer)


CLOSE_SECONDS: Final = 3.0
"""So long a client that is closed goes on telling brokers that it leaves."""


@asynccontextmanager
async def open_client(
    config: ClientConfig | str,
    *,
    own_instance: bool = True,
    environment: Mapping[str, str] | None = None,
    chance: random.Random | None = None,
    connect: Connect | None = None,
) -> AsyncGenerator[ClientInstance]:
    """A client for the length of the block; a name server is connected to at once, and nothing else before somebody asks.

    Args:
        config: its settings, or its name servers as ``host:port;host:port``.
        own_instance: give it a client id that no other client has, unless ``config.instance_name`` is set.  Broadcasting
            consumers say False, so that the offsets on their disk are found again.
        environment: variables that stand in for settings that are not set; None for those of this process.
        chance: for the order of name servers and the choice of brokers.
        connect: in the place of TCP and TLS, as ``rocketwire.testing`` has it.

    Raises:
        NotInTrioError: the caller does not run in trio.
        IllegalTypeError: ``config`` is something else.
        LocalProtocolError: a configured address is not ``host:port``.

    Closing: at the end of the block, also when it is cancelled, brokers are told that producers and consumers are gone
    (three seconds at most), background tasks end, and every connection is closed.
    """
    require_trio()
    variables = os.environ if environment is None else environment
    config = config_of(config)
    named = config
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
        own = config is not named
        instance = ClientInstance(
            config, client_id, own_ip, pool, name_servers, nursery, chance, has_own_name=own
        )
        await instance.start()
        try:
            yield instance
        finally:
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await instance.close()

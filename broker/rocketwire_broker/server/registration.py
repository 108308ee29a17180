"""Registration of a broker at name servers: at the start, every 30 s, and when topics change.

Name servers are also asked for the queues of topics at other brokers.

Java: ``BrokerController.registerBrokerAll``, ``TopicRouteInfoManager``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.config import ClientConfig
from rocketwire.client.registration import (
    BrokerIdentity,
    Registration,
    RegistrationSettings,
    open_registration,
)
from rocketwire.errors import NameServerError, RocketWireError
from rocketwire.policy.routing import subscribe_queues

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_broker.server.server import BrokerServer
    from rocketwire_broker.state.broker import Broker

LOGGER: Final = logging.getLogger("rocketwire.broker")

RETRY_SECONDS: Final = 0.5  # time between two tries of the first registration
PATIENCE_SECONDS: Final = 3.0  # longest time that an answer waits for the registration of its topic

REGISTER_SECONDS: Final = 3.0
"""Longest time of a registration (Java: ``registerBrokerTimeoutMills`` is 24 s)."""
CALL_SECONDS: Final = 0.25  # longest time of another request to a name server


@asynccontextmanager
async def keep_registered(server: BrokerServer, name_servers: str) -> AsyncGenerator[Registration]:
    """Register a broker, and keep it registered until the end of the block.

    The block begins when at least one name server has answered.
    """
    broker = server.broker
    config = broker.config
    identity = BrokerIdentity(
        cluster_name=config.cluster_name,
        broker_name=config.broker_name,
        broker_addr=broker.address,
        broker_id=config.broker_id,
    )
    broker.topics.changed.clear()
    client = ClientConfig(
        namesrv_addr=name_servers,
        tls=await server.tls.client_context() if config.use_tls else None,
    )
    settings = RegistrationSettings(
        register_interval=config.register_period_ms / 1000,
        register_timeout=REGISTER_SECONDS,
        call_timeout=CALL_SECONDS,
    )
    async with (
        open_registration(identity, broker.topics, client, settings=settings) as registration,
        trio.open_nursery() as nursery,
    ):
        await _register_first(registration)

        async def announce(broker: Broker) -> None:
            await _announce(broker, registration)

        asked = trio.Semaphore(0, max_value=1)

        def on_asked() -> None:
            if not asked.value:
                asked.release()

        server.announce = announce
        broker.routes.on_asked = on_asked
        nursery.start_soon(_find_routes, server, registration, asked)
        try:
            yield registration
        finally:
            server.announce = None
            broker.routes.on_asked = None
            nursery.cancel_scope.cancel()


async def _register_first(registration: Registration) -> None:
    if registration.results:
        return
    while True:
        await trio.sleep(RETRY_SECONDS)
        if await registration.register():
            return


async def _announce(broker: Broker, registration: Registration) -> None:
    topics = broker.topics
    changed, removed = list(topics.changed.values()), list(topics.removed)
    topics.changed.clear()
    topics.removed.clear()
    with trio.move_on_after(PATIENCE_SECONDS):
        if removed:
            await registration.remove_topics(removed)
        if changed:
            await registration.update_topics(changed)


async def _find_routes(
    server: BrokerServer, registration: Registration, asked: trio.Semaphore
) -> None:
    routes = server.broker.routes
    while True:
        await asked.acquire()
        for topic in routes.pending():
            queues: tuple[MessageQueue, ...] | None = ()
            try:
                with trio.fail_after(PATIENCE_SECONDS):
                    queues = subscribe_queues(topic, await registration.name_servers.route(topic))
            except NameServerError as error:
                LOGGER.debug("route of %s: %s", topic, error)
            except (RocketWireError, trio.TooSlowError) as error:
                LOGGER.warning("route of %s: %s", topic, error)
                queues = None
            routes.put(topic, queues, server.clock.now())
        await server.settle()

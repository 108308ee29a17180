"""Requests to other brokers, where sections of logical queues are.

Java: ``BrokerOuterAPI.getRpcClient``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.instance.instance import ClientInstance, open_client
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.server.server import BrokerServer
    from rocketwire_broker.tables.forwards import Forward

LOGGER: Final = logging.getLogger("rocketwire.broker")

FORWARD_SECONDS: Final = 3.0
"""Longest time for the answer of another broker (Java: ``forwardTimeout``)."""

_ANY_CODE: Final = range(1 << 31)


async def forward_requests(
    server: BrokerServer, config: ClientConfig, asked: trio.Semaphore
) -> None:
    """Send requests to other brokers, until cancelled.

    Args:
        server: the broker's server.
        config: name servers that know the other brokers.
        asked: released when there are requests.
    """
    await asked.acquire()
    async with open_client(config) as client, trio.open_nursery() as nursery:
        while True:
            for forward in server.broker.forwards.take():
                nursery.start_soon(_forward, server, client, forward)
            await asked.acquire()


async def _forward(server: BrokerServer, client: ClientInstance, forward: Forward) -> None:
    answer: RemotingCommand | None = None
    try:
        with trio.fail_after(FORWARD_SECONDS):
            clusters = await client.name_servers.cluster_info()
            data = (clusters.broker_addr_table or {}).get(forward.broker_name)
            address = ((data.broker_addrs if data is not None else None) or {}).get(0)
            if address is not None:
                response = await client.brokers.call(
                    address, forward.code, forward.ext_fields, accepted=_ANY_CODE
                )
                answer = response.command
    except (RocketWireError, trio.TooSlowError) as error:
        LOGGER.warning("request %d to %s: %s", forward.code, forward.broker_name, error)
    forward.answered(answer, server.clock.now())
    await server.settle()

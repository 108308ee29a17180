"""The two programs: a broker alone, and a name server with a broker in one process.

They run until SIGTERM or SIGINT.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import trio

from rocketwire_broker.server.registering import registered
from rocketwire_broker.server.server import BrokerServer
from rocketwire_namesrv.config.config import Config as NameServerConfig
from rocketwire_namesrv.server.server import NameServer, serve

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.config import Config
    from rocketwire_broker.state.broker import Broker

Ready = Callable[[BrokerServer], None]
"""Called when a broker is registered and serves."""


@asynccontextmanager
async def open_broker(
    config: Config, topics: Iterable[TopicConfig] = (), broker: Broker | None = None
) -> AsyncGenerator[BrokerServer]:
    """Run a broker until the end of the block; it is registered when the block begins.

    Args:
        config: the settings.
        topics: topics that exist from the start, besides the system's.
        broker: the state of a broker that has stopped, to go on with.

    Raises:
        BindError: the address is not local, or the port is in use.
    """
    async with trio.open_nursery() as nursery:
        server = BrokerServer(config, broker)
        await nursery.start(server.run)
        for topic in topics:
            server.broker.topics.put(topic, server.clock.now())
        async with AsyncExitStack() as stack:
            if config.namesrv_addr:
                await stack.enter_async_context(registered(server, config.namesrv_addr))
            yield server
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_name_server(port: int, address: str) -> AsyncGenerator[str]:
    """Run a name server until the end of the block, which gets its ``host:port``.

    It keeps nothing on disk, and its configuration may be changed (code 318), as Java's may.

    Raises:
        BindError: the address is not local, or the port is in use.
    """
    async with trio.open_nursery() as nursery:
        config = NameServerConfig(listen_port=port, bind_address=address, allow_config_update=True)
        server: NameServer = await nursery.start(serve, config)
        yield f"{address}:{server.listening.port}"
        nursery.cancel_scope.cancel()


async def run_broker(config: Config, topics: Iterable[TopicConfig], on_ready: Ready) -> int:
    """Run a broker until a signal; return the signal's number."""

    async def run() -> None:
        async with open_broker(config, topics) as server:
            on_ready(server)
            await trio.sleep_forever()

    return await _until_signal(run)


async def run_dev(
    config: Config, name_server_port: int, topics: Iterable[TopicConfig], on_ready: Ready
) -> int:
    """Run a name server and a broker until a signal; return the signal's number."""

    async def run() -> None:
        async with (
            open_name_server(name_server_port, config.bind_address) as address,
            open_broker(replace(config, namesrv_addr=address), topics) as server,
        ):
            on_ready(server)
            await trio.sleep_forever()

    return await _until_signal(run)


async def _until_signal(run: Callable[[], Awaitable[None]]) -> int:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            number = await anext(signals)
            nursery.cancel_scope.cancel()
    return number

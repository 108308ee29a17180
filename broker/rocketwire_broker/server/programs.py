"""The two programs: brokers alone, and a name server with brokers in one process.

They run until SIGTERM or SIGINT.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import trio

from rocketwire.serving.tls.settings import TlsMode, TlsSettings
from rocketwire_broker.server.operators_port import OperatorsPort
from rocketwire_broker.server.registration import keep_registered
from rocketwire_broker.server.server import BrokerServer
from rocketwire_namesrv.config.config import Config as NameServerConfig
from rocketwire_namesrv.server.server import NameServer, serve

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.config import Config
    from rocketwire_broker.state.broker import Broker

Ready = Callable[[list[BrokerServer], str], None]
"""Called when all brokers are registered and serve, with the address of the status page, which is
empty if there is none."""


@asynccontextmanager
async def open_broker(
    config: Config, topics: Iterable[TopicConfig] = (), broker: Broker | None = None
) -> AsyncGenerator[BrokerServer]:
    """Run a broker until the end of the block; it is registered when the block begins.

    Args:
        config: the settings.
        topics: topics that exist from the start, besides the system's.
        broker: the state of a broker that has stopped, to continue with.

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
                await stack.enter_async_context(keep_registered(server, config.namesrv_addr))
            yield server
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_name_server(
    port: int, address: str, tls: TlsSettings | None = None
) -> AsyncGenerator[str]:
    """Run a name server until the end of the block, which gets its ``host:port``."""
    async with trio.open_nursery() as nursery:
        config = NameServerConfig(
            listen_port=port,
            bind_address=address,
            allow_config_update=True,
            tls=tls or TlsSettings(),
        )
        server: NameServer = await nursery.start(serve, config)
        yield f"{address}:{server.listening.port}"
        nursery.cancel_scope.cancel()


async def run_brokers(
    configs: Sequence[Config],
    topics: Iterable[TopicConfig],
    on_ready: Ready,
    name_server_port: int | None = None,
) -> int:
    """Run brokers until a signal, and a name server on a port; return the number of the signal."""

    async def run() -> None:
        async with AsyncExitStack() as stack:
            port = await _operators_port(stack, configs)
            joined = configs
            if name_server_port is not None:
                first = configs[0]
                address = await stack.enter_async_context(
                    open_name_server(name_server_port, first.bind_address, first.tls)
                )
                use_tls = first.tls.mode is TlsMode.ENFORCING
                joined = [
                    replace(config, namesrv_addr=address, use_tls=use_tls) for config in configs
                ]
            await _open_brokers(stack, port, joined, topics, on_ready)
            await trio.sleep_forever()

    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            number = await anext(signals)
            nursery.cancel_scope.cancel()
    return number


async def _operators_port(stack: AsyncExitStack, configs: Sequence[Config]) -> OperatorsPort:
    # opened before the brokers, so that it shows what they wait for
    port = OperatorsPort()
    nursery = await stack.enter_async_context(trio.open_nursery())
    stack.callback(nursery.cancel_scope.cancel)
    await port.start(configs[0])
    nursery.start_soon(port.serve)
    return port


async def _open_brokers(
    stack: AsyncExitStack,
    port: OperatorsPort,
    configs: Sequence[Config],
    topics: Iterable[TopicConfig],
    on_ready: Ready,
) -> None:
    topics = tuple(topics)
    for config in configs:
        port.servers.append(await stack.enter_async_context(open_broker(config, topics)))
    port.is_ready = True
    on_ready(port.servers, port.url)

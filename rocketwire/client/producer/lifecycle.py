"""``open_producer``: opens a producer, and a client for it if necessary.

The modules of a producer are imported when its client is open, while the name server accepts the
connection: the first message is sent sooner.

Java: ``DefaultMQProducer.start``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire.client.arguments import check_config
from rocketwire.client.instance.instance import Client, ClientInstance, open_or_reuse_client
from rocketwire.client.trio_only import require_trio
from rocketwire.policy.resource_names import without_namespace
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    import random

    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.producer.transactions import TransactionCheck
    from rocketwire.client.publish.config import ProducerConfig


@asynccontextmanager
async def open_producer(
    client: Client,
    group: str,
    config: ProducerConfig | None = None,
    *,
    check: TransactionCheck | None = None,
    chance: random.Random | None = None,
) -> AsyncGenerator[Producer]:
    """Open a producer until the end of the block.

    Args:
        client: an open client; or settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the producer.
        group: producer group; a client has one producer of a group.
        check: returns the state of a transaction when a broker checks it: a function or coroutine
            function of (half message). All brokers get heartbeats at once, and check also the
            transactions that an earlier process of the group left open.
        chance: selects the first queue, for tests.

    Raises:
        IllegalHandlerError: ``check`` cannot be called with a message.
        IllegalTypeError: an argument has the wrong type.
        IllegalNameError: the name of the group is invalid.
        LocalProtocolError: the client already has a producer of that group.

    Closing: at the end of the block queued trace records are sent, the producer is unregistered,
    and a client that was opened for it is closed.
    """
    if not isinstance(client, ClientInstance):
        async with (
            open_or_reuse_client(client) as instance,
            open_producer(instance, group, config, check=check, chance=chance) as producer,
        ):
            yield producer
        return
    require_trio()
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.publish.config import ProducerConfig

    check_config(config, ProducerConfig)
    if check is not None:
        from rocketwire.client.handlers import check_callable

        check_callable("check", check, "message")
    settings = config or ProducerConfig()
    producer = Producer(client, group, settings, check=check, chance=chance)
    client.add_producer(producer)
    async with background() as nursery, AsyncExitStack() as stack:
        stack.push_async_callback(_unregister, client, producer)
        if check is not None:
            from rocketwire.client.producer.background import announce_to_all_brokers

            nursery.start_soon(announce_to_all_brokers, client)
        if settings.start_detector_enable:
            nursery.start_soon(producer.detect_brokers)
        if settings.enable_trace:
            from rocketwire.client.hooks import HookChain
            from rocketwire.client.producer.trace import ProducerTrace
            from rocketwire.client.trace import open_trace

            name, within = f"{producer.group}-PRODUCE", settings.send_msg_timeout
            dispatcher = await stack.enter_async_context(
                open_trace(client, name, settings.trace_topic, within)
            )
            producer.trace = ProducerTrace(
                dispatcher, client, without_namespace(producer.group, client.config.namespace)
            )
            producer.use_hooks((client.hooks or HookChain(())).with_hook(producer.trace))
        yield producer


async def _unregister(client: ClientInstance, producer: Producer) -> None:
    with trio.move_on_after(producer.config.send_msg_timeout, shield=True):
        await client.remove_producer(producer)

"""``open_producer``: a producer, and a client for it where it has none.

Rules of this file: what a producer is made of is imported when its client is open, while the name
server takes its connection: a first message is sent sooner.

Java: ``DefaultMQProducer.start``.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from rocketwire.client.arguments import check_config
from rocketwire.client.instance.instance import ClientInstance
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.trio_only import require_trio
from rocketwire.policy.resource_names import without_namespace
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncGenerator

    from rocketwire.client.instance.opening import Client
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.producer.transactions import TransactionCheck


@asynccontextmanager
async def open_producer(
    client: Client,
    group: str,
    config: ProducerConfig | None = None,
    *,
    check: TransactionCheck | None = None,
    chance: random.Random | None = None,
) -> AsyncGenerator[Producer]:
    """A producer for the length of the block.

    Args:
        client: an open client; or settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the producer.
        group: its group; one producer of a group in a client.
        config: its settings.
        check: tells what became of a transaction when a broker asks: a function or coroutine
            function of (half message).
        chance: where turns begin, for tests.

    Raises:
        IllegalHandlerError: ``check`` cannot be called with a message.
        IllegalTypeError: an argument has the wrong type.
        NotInTrioError: the caller does not run in trio.
        IllegalNameError: the group cannot be called that.
        LocalProtocolError: the client has a producer of that group already.

    Closing: at the end of the block trace records that wait are sent, brokers are told that the
    producer is gone, and a client of its own is closed.
    """
    if not isinstance(client, ClientInstance):
        async with (
            open_or_reuse_client(client) as own,
            open_producer(own, group, config, check=check, chance=chance) as producer,
        ):
            yield producer
        return
    require_trio()
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.producer import Producer

    check_config(config, ProducerConfig)
    if check is not None:
        from rocketwire.client.handlers import check_callable

        check_callable("check", check, "message")
    settings = config or ProducerConfig()
    producer = Producer(client, group, settings, check=check, chance=chance)
    client.add_producer(producer)
    async with background() as nursery:
        if settings.start_detector_enable:
            nursery.start_soon(producer.look_after_brokers)
        if settings.enable_trace:
            from rocketwire.client.producer.trace import TraceDispatcher
            from rocketwire.client.producer.trace_records import ProducerTrace

            sends = ProducerConfig(send_msg_timeout=5.0)  # Java: getAndCreateTraceProducer
            tracer = Producer(client, f"_INNER_TRACE_PRODUCER-{group}-PRODUCE", sends)
            dispatcher = TraceDispatcher(tracer.send, settings.trace_topic)
            producer.trace = ProducerTrace(
                dispatcher, client, without_namespace(producer.group, client.config.namespace)
            )
            nursery.start_soon(dispatcher.run)
        try:
            yield producer
        finally:
            with trio.move_on_after(settings.send_msg_timeout, shield=True):
                if producer.trace is not None:
                    await producer.trace.dispatcher.flush()
                await client.remove_producer(producer)

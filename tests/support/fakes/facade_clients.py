"""Clients of the facades for a cluster in memory, and what tests ask of their threads."""

# The base classes are generic, and are called without their argument.
# pyright: reportUnknownMemberType=false

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import trio

from rocketwire import aio, sync
from rocketwire.aio.opening import FacadeClient as AsyncFacadeClient
from rocketwire.client.producer.producer import Producer as TrioProducer
from rocketwire.sync.opening import FacadeClient as BlockingFacadeClient
from tests.support.fakes.storing_cluster import StoringCluster, connect


class BlockingClient(sync.Client):
    def __init__(self, cluster: StoringCluster) -> None:
        self.reopens_after_fork = False
        BlockingFacadeClient.__init__(self, lambda: connect(cluster))


class AsyncClient(aio.Client):
    def __init__(self, cluster: StoringCluster) -> None:
        self.reopens_after_fork = False
        AsyncFacadeClient.__init__(self, lambda: connect(cluster))


async def no_request_is_pending(producer: TrioProducer) -> None:
    """Wait until no request is pending: a heartbeat may be, and passes."""
    with trio.fail_after(30):
        while producer.instance.pool.in_flight:
            await trio.sleep(0.01)


def own_connections(producer: aio.Producer) -> list[object]:
    connections: list[Any] = [*vars(vars(producer)["_direct"])["_connections"].values()]
    return [connection for connection in connections if connection.is_open]


@contextmanager
def allow_interrupts() -> Generator[None]:
    """Raise ``KeyboardInterrupt`` at SIGINT, which a shell lets programs in the background ignore."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("rocketwire")]

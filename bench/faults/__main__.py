"""``python -m bench.faults [--messages 100000]``: send and consume while servers die and
connections fail, at Java's brokers.

The exit status is 1 if an acknowledged message was not consumed, if no broker was ever busy or full
(a disk is filled only if this machine allows mounting a small one), or if tasks, requests or
connections leak.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from bench.faults.disks import small_disk
from bench.faults.traffic import SENDERS, Traffic
from bench.faults.troubles import troubles, undergo
from rocketwire.client import (
    ClientConfig,
    ProducerConfig,
    PushConsumerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.codes import ResponseCode
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.transport.dial import connect_stream
from rocketwire_tools.pytest_plugin.faults import FaultProxy
from rocketwire_tools.pytest_plugin.trio_thread import Backstage, host_and_port
from tests.java.client.messages import create_topic, until
from tests.support.java.cluster import JavaCluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.faults.disks import SmallDisk
    from rocketwire.client.net.pool import Connect
    from tests.support.java.peers import JavaBroker

TOPIC: Final = "faults"
BUSY: Final = {"sendMessageThreadPoolNums": 1, "sendThreadPoolQueueCapacity": 4}
"""One of the brokers refuses sends now and then because it is busy (flow control)."""
TROUBLED_SECONDS: Final = 100.0
"""About how long the troubles take; the messages are spread over that, and troubles go on while
that was not enough."""
CATCH_UP_SECONDS: Final = 180.0
ONCE: Final = ProducerConfig(retry_times_when_send_failed=0)
FIRST: Final = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


def through(proxies: Mapping[str, FaultProxy]) -> Connect:
    """Connects to a proxy in the place of the server that it stands for."""

    async def connect(host: str, port: int) -> trio.abc.Stream:
        proxy = proxies.get(f"{host}:{port}")
        return await connect_stream(*(host_and_port(proxy.address) if proxy else (host, port)))

    return connect


class Held:
    """The resources of this process that could leak: tasks of this loop, and descriptors."""

    def __init__(self) -> None:
        """Count them now."""
        self.tasks = trio.lowlevel.current_statistics().tasks_living
        self.descriptors = len(os.listdir("/proc/self/fd"))

    def more_than(self, reference: Held) -> bool:
        """Return whether there are more of either."""
        return self.tasks > reference.tasks or self.descriptors > reference.descriptors

    def __str__(self) -> str:
        return f"{self.tasks} tasks and {self.descriptors} descriptors"


async def run(cluster: JavaCluster, disk: SmallDisk | None, messages: int) -> list[str]:
    """All of it; returns what is wrong."""
    busy_broker = cluster.broker("broker-b", options=BUSY)
    cluster.slave()
    config = ClientConfig(namesrv_addr=cluster.address, poll_name_server_interval=2.0)
    brokers = [cluster.master, busy_broker, *([disk.broker] if disk else [])]
    async with open_client(config) as operator:
        for broker in brokers:
            await create_topic(operator, TOPIC, broker=broker.name, address=broker.address)
    traffic = Traffic(TOPIC, messages)
    held_at_start = Held()
    with ExitStack() as running:
        backstage = running.enter_context(Backstage())
        addresses = (cluster.master.address, busy_broker.address)
        proxies = {
            address: running.enter_context(FaultProxy(backstage, address)) for address in addresses
        }
        problems = await suffer(cluster, busy_broker, disk, config, traffic, proxies)
        await trio.sleep(1)
        open_connections = sum(proxy.open_connections for proxy in proxies.values())
        if open_connections:
            problems.append(f"{open_connections} connections are left")
    await trio.sleep(1)
    held_at_end = Held()
    if held_at_end.more_than(held_at_start):
        problems.append(f"{held_at_start} before, {held_at_end} after")
    print(f"failed sends, all made again: {dict(traffic.failures)}")
    return problems


async def suffer(
    cluster: JavaCluster,
    busy_broker: JavaBroker,
    disk: SmallDisk | None,
    config: ClientConfig,
    traffic: Traffic,
    proxies: Mapping[str, FaultProxy],
) -> list[str]:
    """Send and consume through it all; returns what is wrong."""
    connect, problems = through(proxies), list[str]()

    def tell(word: str) -> None:
        print(
            f"{word:<36}{len(traffic.acknowledged):>8} acknowledged{len(traffic.seen):>8} consumed"
            f"{len(traffic.missing):>8} on their way{traffic.again:>8} again",
            flush=True,
        )

    async with (
        open_client(config, connect=connect) as sending,
        open_client(config, connect=connect) as consuming,
        open_producer(sending, "faults") as producer,
        open_producer(sending, "hasty", ONCE) as hasty,
        open_push_consumer(consuming, "faults", {TOPIC: "*"}, traffic.listen, config=FIRST),
        trio.open_nursery() as nursery,
    ):
        pace = TROUBLED_SECONDS * SENDERS / traffic.total
        nursery.start_soon(traffic.send, producer, hasty, pace)
        await trio.sleep(2)
        everything = troubles(cluster, busy_broker, list(proxies.values()), disk)
        await undergo(everything, lambda: traffic.is_held_back, tell)
        traffic.calm()
        with suppress(trio.TooSlowError):
            await until(lambda: traffic.is_complete, CATCH_UP_SECONDS)
        tell("calm")
        if sending.pool.in_flight:
            problems.append(f"{sending.pool.in_flight} requests of the producer wait for ever")
        nursery.cancel_scope.cancel()
    refusals = {ResponseCode.SYSTEM_BUSY: "busy"}
    if disk is not None:
        refusals[ResponseCode.SERVICE_NOT_AVAILABLE] = "full"
    problems += [
        f"no broker was {word}" for code, word in refusals.items() if code not in traffic.refusals
    ]
    unsent = traffic.total - len(traffic.acknowledged)
    if not traffic.is_complete:
        problems.append(
            f"{unsent} not acknowledged, {len(traffic.missing)} acknowledged ones not consumed"
        )
    return problems


def main() -> None:
    """Start Java's servers, run, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="rocketwire-faults-") as folder,
        JavaCluster(Path(folder)) as cluster,
        small_disk(cluster, Path(folder) / "small") as disk,
    ):
        if disk is None:
            print("no file system can be mounted here: no disk will be full")
        problems = trio.run(run, cluster, disk, options.messages)
    print("\n".join(problems) or "nothing lost, nothing left behind")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

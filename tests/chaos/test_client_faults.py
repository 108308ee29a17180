"""Messages that a broker of Java's acknowledged are consumed despite faults of connections and servers."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from rocketwire.client import (
    ClientConfig,
    Message,
    Producer,
    PushConsumerConfig,
    open_client,
    open_producer,
    open_push_consumer,
)
from rocketwire.errors import RocketWireError
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.transport.dial import connect_stream
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.pytest_plugin.faults import FaultProxy
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, until
from tests.peers.peers import JavaBroker

pytestmark = [
    pytest.mark.java,
    pytest.mark.chaos,
    pytest.mark.full,
]

TOPIC = "faults"
MESSAGES = 100_000
SENDERS = 32
TROUBLED_SECONDS = 100.0
"""About how long the faults take; the messages are spread over that."""
CATCH_UP_SECONDS = 180.0


class Fault(NamedTuple):
    begin: Callable[[], object]
    end: Callable[[], object]
    seconds: float
    times: int = 1


class Traffic:
    def __init__(self) -> None:
        self.acknowledged: set[int] = set()
        self.consumed: Counter[int] = Counter()
        self.is_calm = False
        self._numbers = iter(range(MESSAGES))

    async def send(self, producer: Producer) -> None:
        for number in self._numbers:
            while True:
                try:
                    await producer.send(Message(TOPIC, b"%d" % number))
                    break
                except RocketWireError:
                    await trio.sleep(0.05)
            self.acknowledged.add(number)
            await trio.sleep(0 if self.is_calm else TROUBLED_SECONDS * SENDERS / MESSAGES)

    async def listen(self, messages: Sequence[StoredMessage], _: object) -> None:
        self.consumed.update(int(message.body or b"-1") for message in messages)

    def is_complete(self) -> bool:
        return len(self.acknowledged) == MESSAGES and self.acknowledged <= self.consumed.keys()


def faults(
    cluster: JavaCluster, second_broker: JavaBroker, proxies: Sequence[FaultProxy]
) -> list[Fault]:
    def on_all(change: Callable[[FaultProxy], object]) -> Callable[[], object]:
        return lambda: [change(proxy) for proxy in proxies]

    def delay(proxy: FaultProxy) -> None:
        proxy.to_server.delay = proxy.to_client.delay = 0.02

    def cut(proxy: FaultProxy) -> None:
        proxy.to_server.slice_size = proxy.to_client.slice_size = 50

    def refuse(proxy: FaultProxy) -> None:
        proxy.refusing = True
        proxy.reset()

    heal = on_all(lambda proxy: proxy.heal())
    return [
        Fault(on_all(delay), heal, 4),
        Fault(on_all(cut), heal, 4),
        Fault(on_all(lambda proxy: proxy.reset()), heal, 0.5, 6),
        Fault(on_all(lambda proxy: proxy.to_client.reset_after(777)), heal, 1, 4),
        Fault(proxies[0].to_client.stall, heal, 7),
        Fault(on_all(refuse), heal, 4),
        Fault(cluster.name_server.kill, cluster.name_server.start, 6),
        Fault(second_broker.kill, second_broker.start, 5),
        Fault(cluster.master.kill, cluster.master.start, 10),
    ]


async def test_acknowledged_messages_are_consumed_through_all_faults(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy]
) -> None:
    with JavaCluster(tmp_path) as cluster:
        second_broker = cluster.broker("broker-b")
        cluster.slave()
        proxies = {
            broker.address: fault_proxy(broker.address)
            for broker in (cluster.master, second_broker)
        }

        async def connect(host: str, port: int) -> trio.abc.Stream:
            proxy = proxies.get(f"{host}:{port}")
            host, _, text = (proxy.address if proxy else f"{host}:{port}").rpartition(":")
            return await connect_stream(host, int(text))

        config = ClientConfig(namesrv_addr=cluster.address, poll_name_server_interval=2.0)
        async with open_client(config) as operator:
            for broker in (cluster.master, second_broker):
                await create_topic(operator, TOPIC, broker=broker.name, address=broker.address)
        traffic = Traffic()
        tasks = trio.lowlevel.current_statistics().tasks_living
        descriptors = len(os.listdir("/proc/self/fd"))
        first = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
        async with (
            open_client(config, connect=connect) as sending,
            open_client(config, connect=connect) as consuming,
            open_producer(sending, "faults") as producer,
            open_push_consumer(consuming, "faults", {TOPIC: "*"}, traffic.listen, config=first),
            trio.open_nursery() as nursery,
        ):
            for _ in range(SENDERS):
                nursery.start_soon(traffic.send, producer)
            await trio.sleep(2)
            for fault in faults(cluster, second_broker, list(proxies.values())):
                for _ in range(fault.times):
                    await trio.to_thread.run_sync(fault.begin)
                    await trio.sleep(fault.seconds)
                    await trio.to_thread.run_sync(fault.end)
                await trio.sleep(2)
            traffic.is_calm = True
            await until(traffic.is_complete, CATCH_UP_SECONDS)
            assert not sending.pool.in_flight
            nursery.cancel_scope.cancel()
        await trio.sleep(2)
        assert [proxy.open_connections for proxy in proxies.values()] == [0, 0]
        assert trio.lowlevel.current_statistics().tasks_living <= tasks
        assert len(os.listdir("/proc/self/fd")) <= descriptors

"""Histories of clients of the development broker, under kills, pauses, cut connections and a failing disk."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest
import trio

from rocketwire.client import (
    ClientConfig,
    ClientInstance,
    Message,
    Producer,
    ProducerConfig,
    open_client,
    open_producer,
)
from rocketwire.client.admin import open_admin
from rocketwire.client.consumer.pop.pop import PopCalls
from rocketwire.errors import RocketWireError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.policy.pop_handle import handle_of
from rocketwire.policy.retry import SendStatus
from rocketwire.transport.dial import connect_stream
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire_tools.pytest_plugin.faults import FaultProxy
from tests.chaos.histories import History, cause
from tests.peers.cache import ROOT
from tests.peers.dev_cluster import DevBroker
from tests.support.stores.answers import pull
from tests.support.stores.cluster import Session

pytestmark = [pytest.mark.process, pytest.mark.chaos]

TOPIC: Final = "orders"
QUEUES: Final = 4
SENDERS: Final = 16
POPPERS: Final = 4
INVISIBLE_SECONDS: Final = 10.0
CATCH_UP_SECONDS: Final = 120.0
KINDS: Final = ("kill", "fill", "pause", "cut", "fail_sync")
OPTIONS: Final = {
    "storePathRootDir": "store",
    "flushDiskType": "SYNC_FLUSH",
    "mappedFileSizeCommitLog": 1 << 20,
}


class UnluckyBroker(DevBroker):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, options=OPTIONS)
        self._command = [sys.executable, "-m", "tests.chaos.unlucky_broker", *self._command[3:]]
        packages = [ROOT, ROOT / "namesrv", ROOT / "broker"]
        self._environment = {"PYTHONPATH": os.pathsep.join(map(str, packages))}

    def break_disk(self, fault: str) -> None:
        os.kill(self.pid, signal.SIGUSR1 if fault == "fill" else signal.SIGUSR2)


class Traffic:
    """Senders and poppers; each message is sent until its send is acknowledged."""

    def __init__(self, history: History, count: int) -> None:
        self.history = history
        self._keys = [f"k{number}" for number in range(count)]
        self._waiting = iter(self._keys)

    @property
    def is_complete(self) -> bool:
        return self.history.acknowledged >= {*self._keys} <= self.history.popped

    async def send(self, producer: Producer, pause_seconds: float) -> None:
        for key in self._waiting:
            while key not in self.history.acknowledged:
                self.history.attempts[key] += 1
                try:
                    result = await producer.send(Message(TOPIC, key.encode()))
                    if result.status is SendStatus.SEND_OK:
                        self.history.acknowledged.add(key)
                except RocketWireError:
                    await trio.sleep(0.05)
            await trio.sleep(pause_seconds)

    async def pop(self, pops: PopCalls) -> None:
        while True:
            try:
                start = time.monotonic()
                popped = await pops.pop(
                    TOPIC, "broker-a", invisible_time=INVISIBLE_SECONDS, poll_time=1.0
                )
                for message in popped.messages:
                    handle = handle_of(message)
                    position = (f"{handle.retry} {handle.queue_id}", handle.queue_offset)
                    self.history.record_pop(position, (message.body or b"").decode())
                    await pops.ack(message)
                    # the broker also answers 0 if the time of the pop is over
                    if time.monotonic() < start + INVISIBLE_SECONDS / 2:
                        self.history.settled[position] = time.monotonic()
            except RocketWireError:
                await trio.sleep(0.05)


async def read_stored(client: ClientInstance, address: str) -> dict[tuple[str, int], str]:
    keys: dict[tuple[str, int], str] = {}
    async with open_admin(client) as admin:
        session = Session(client, admin, address)
        for queue_id in range(QUEUES):
            queue = MessageQueue(topic=TOPIC, broker_name="broker-a", queue_id=queue_id)
            end, offset = await client.brokers.max_offset(address, queue), 0
            while offset < end:
                body = (await pull(session, queue, offset)).command.body
                for message in decode_stored_messages(body or b""):
                    offset = message.queue_offset + 1
                    keys[f"0 {queue_id}", message.queue_offset] = (message.body or b"").decode()
    return keys


async def run_history(
    folder: Path,
    proxy_of: Callable[[str], FaultProxy],
    faults: Sequence[str],
    count: int,
    seconds: float,
) -> History:
    history = History()
    traffic = Traffic(history, count)
    broker = UnluckyBroker(folder)
    proxy = proxy_of(broker.address)

    async def connect(host: str, port: int) -> trio.abc.Stream:
        is_broker = f"{host}:{port}" == broker.address
        return await connect_stream(host, int(proxy.address.split(":")[1]) if is_broker else port)

    with broker:
        config = ClientConfig(namesrv_addr=f"127.0.0.1:{broker.name_server_port}")
        once = ProducerConfig(retry_times_when_send_failed=0)
        async with (
            open_client(config, connect=connect) as client,
            open_producer(client, "senders", once) as producer,
            trio.open_nursery() as nursery,
        ):
            async with open_admin(client) as admin:
                topic = TopicConfig(
                    topic_name=TOPIC, read_queue_nums=QUEUES, write_queue_nums=QUEUES
                )
                await admin.topics.create_or_update(topic, broker=broker.address)
            for _ in range(SENDERS):
                nursery.start_soon(traffic.send, producer, seconds * SENDERS / count)
            for _ in range(POPPERS):
                nursery.start_soon(traffic.pop, PopCalls(client, "poppers"))
            for fault in faults:
                await cause(fault, broker, proxy, history)
                await trio.sleep(seconds / len(faults))
            count_before, since = -1, trio.current_time()
            while not traffic.is_complete and trio.current_time() - since < CATCH_UP_SECONDS:
                if len(history.acknowledged) != count_before:  # a busy machine takes longer
                    count_before, since = len(history.acknowledged), trio.current_time()
                await trio.sleep(0.1)
            nursery.cancel_scope.cancel()
        async with open_client(config) as reader:
            history.stored = await read_stored(reader, broker.address)
    return history


async def test_history_of_each_fault(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy]
) -> None:
    history = await run_history(tmp_path / "broker", fault_proxy, list(KINDS), 500, 3.0)

    assert history.find_contradictions() == []


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100))
async def test_history_of_random_faults(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy], seed: int
) -> None:
    kinds = random.Random(seed).choices(KINDS, k=6)

    history = await run_history(tmp_path / "broker", fault_proxy, kinds, 1_000, 3.0)

    assert history.find_contradictions() == []


@pytest.mark.full
async def test_history_of_many_messages_and_faults(
    tmp_path: Path, fault_proxy: Callable[[str], FaultProxy]
) -> None:
    kinds = ["kill"] * 20 + ["fill"] * 20 + ["cut"] * 200 + ["fail_sync"]
    random.Random(0).shuffle(kinds)

    history = await run_history(tmp_path / "broker", fault_proxy, kinds, 100_000, 100.0)

    assert len(history.acknowledged) == 100_000
    assert history.find_contradictions() == []

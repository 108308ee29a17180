"""What a broker needs for 1,000 pulls that wait, and how long sends take at 1,000 a second.

CPU time of the broker's process is meaningful beside other programs; times of sends are only on a
machine with nothing else to do.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Final

import trio

from bench.namesrv import machine
from rocketwire.client import ClientConfig, Message, ProducerConfig, open_producer
from rocketwire.wire.command import RemotingCommand, encode

POLLS: Final = 1_000
CONNECTIONS: Final = 10
HOLD_MS: Final = 15_000
"""Java's default (``BROKER_SUSPEND_MAX_TIME_MILLIS``): each poll is sent again after it."""
IDLE_SECONDS: Final = 30.0
RATE: Final = 1_000
PACED_SECONDS: Final = 10
BODY: Final = os.urandom(1024)


async def idle_share(address: str, pid: int) -> float:
    """Return the share of one CPU, in percent, that the broker takes while 1,000 pulls wait.

    Args:
        address: the broker's.
        pid: its process.
    """
    host, port = address.split(":")
    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS):
            nursery.start_soon(_poll, host, int(port))
        await trio.sleep(3)
        before, begun = machine.cpu_seconds(pid), time.monotonic()
        await trio.sleep(IDLE_SECONDS)
        share = (machine.cpu_seconds(pid) - before) / (time.monotonic() - begun) * 100
        nursery.cancel_scope.cancel()
    return share


async def _poll(host: str, port: int) -> None:
    """Keep pulls waiting, each at the end of its queue of an empty topic, as consumers do."""
    fields = {
        "consumerGroup": "idle",
        "topic": "BenchmarkTest",
        "queueOffset": "0",
        "maxMsgNums": "32",
        "sysFlag": "6",
        "commitOffset": "0",
        "suspendTimeoutMillis": str(HOLD_MS),
        "subVersion": "0",
        "subscription": "*",
    }
    requests = [
        encode(
            RemotingCommand(code=11, opaque=number, ext_fields={**fields, "queueId": str(number)})
        )
        for number in range(POLLS // CONNECTIONS)
    ]
    stream = await trio.open_tcp_stream(host, port)
    while True:
        await stream.send_all(b"".join(requests))
        answers = 0
        buffer = bytearray()
        while answers < len(requests):
            buffer += await stream.receive_some()
            while len(buffer) >= 4 and len(buffer) >= (size := 4 + int.from_bytes(buffer[:4])):
                del buffer[:size]
                answers += 1


async def paced(address: str) -> tuple[float, float]:
    """Send 1,000 messages a second; return the median and the 99th percentile in milliseconds.

    A send that is late because the one before it was counts from its planned time.
    """
    times: list[float] = []
    config = ClientConfig(namesrv_addr=address)
    async with (
        open_producer(config, "paced", ProducerConfig(send_msg_timeout=30)) as producer,
        trio.open_nursery() as nursery,
    ):

        async def send(planned: float) -> None:
            await producer.send(Message("paced", BODY))
            times.append(trio.current_time() - planned)

        for _ in range(500):
            await send(trio.current_time())
        times.clear()
        start = trio.current_time() + 0.1
        for number in range(RATE * PACED_SECONDS):
            planned = start + number / RATE
            await trio.sleep_until(planned)
            nursery.start_soon(send, planned)
    cuts = statistics.quantiles(times, n=100)
    return cuts[49] * 1000, cuts[98] * 1000

"""``TraceDispatcher``: sends trace records in the background.

Tracing never delays or fails a traced call. If the trace topic cannot keep up, the newest records
are dropped, counted and logged.

Java: ``AsyncTraceDispatcher``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.message import Message
from rocketwire.client.outages import Outages, advice_on
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from rocketwire.client.trace.records import TraceRecord

TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"

# Beginning of the trace topics of managed clouds, before the region
CLOUD_TRACE_PREFIX: Final = "rmq_sys_TRACE_DATA_"
MAX_QUEUED: Final = 2048  # maximum queued records; more are dropped
BATCH: Final = 20  # maximum records in a message
MAX_TRACE_BYTES: Final = 128_000  # approximate limit for the body of a trace message, in bytes
# Subject of warnings about dropped records
_DROPPED_RECORDS: Final = "records of the message trace"
# Approximate limit for the keys of a trace message: all properties must fit into 32,767 bytes
MAX_KEYS_BYTES: Final = 24_000
FLUSH_INTERVAL: Final = 5.0  # maximum seconds between a record and its message


class TraceDispatcher:
    """Sends records, several in a message, in a background task."""

    def __init__(
        self,
        send: Callable[[Message], Awaitable[object]],
        topic: str | None = None,
        *,
        is_cloud: bool = False,
    ) -> None:
        self.is_cloud: bool = is_cloud  # whether records go to the topic of their region
        self.topic: str = topic or TRACE_TOPIC
        self.dropped: int = 0  # number of dropped records
        self._send = send
        self._queue: deque[TraceRecord] = deque()
        self._batch_ready = trio.Event()
        self._send_lock = trio.Lock()
        self._outages = Outages()

    def append(self, record: TraceRecord) -> None:
        """Queue a record; never blocks."""
        if len(self._queue) >= MAX_QUEUED:
            self.dropped += 1
            self._outages.report(
                _DROPPED_RECORDS,
                f"{self.dropped} records were dropped: the queue has {MAX_QUEUED} records",
                "the broker stores records more slowly than the client creates them",
            )
            return
        self._queue.append(record)
        if len(self._queue) >= BATCH:
            self._batch_ready.set()

    async def run(self) -> None:
        """Send records until cancelled."""
        while True:
            with trio.move_on_after(FLUSH_INTERVAL):
                await self._batch_ready.wait()
            self._batch_ready = trio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Send all queued records, and wait for those that are being sent."""
        async with self._send_lock:
            while self._queue:
                await self._send_next()

    async def _send_next(self) -> None:
        batch = self._take_batch()
        topic = CLOUD_TRACE_PREFIX + batch[0].region if self.is_cloud else self.topic
        message = build_trace_message(topic, batch)
        try:
            await self._send(message)
        except RocketWireError as error:
            self._outages.report(
                "message trace", f"trace records were not sent: {error}", advice_on(error)
            )
        else:
            self._outages.end("message trace")
            if not self._queue:
                self._outages.end(_DROPPED_RECORDS)

    def _take_batch(self) -> list[TraceRecord]:
        batch = [self._queue.popleft()]
        first = batch[0]
        size, keys_size = len(first.text), first.keys_size
        while self._queue and len(batch) < BATCH:
            record = self._queue[0]
            size += len(record.text)
            keys_size += record.keys_size
            is_alike = record.topic == first.topic and record.region == first.region
            if not is_alike or size > MAX_TRACE_BYTES or keys_size > MAX_KEYS_BYTES:
                break
            batch.append(self._queue.popleft())
        return batch


def build_trace_message(topic: str, records: Sequence[TraceRecord]) -> Message:
    """Build the message of several records, with the keys of all of them."""
    keys = tuple(dict.fromkeys(key for record in records for key in record.keys))
    body = "".join(record.text for record in records).encode()
    return Message(topic, body, keys=keys)

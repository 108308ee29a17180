"""Message trace: records of what a client did, sent to a topic where operators look for them.

Rules of this file: the text of a record is Java's, field for field; tracing never delays or fails
what is traced, and when the trace topic cannot keep up the newest records are dropped, counted and
warned of.

Java: ``TraceDataEncoder``, ``AsyncTraceDispatcher``, ``SendMessageTraceHookImpl``,
``EndTransactionTraceHookImpl``, ``ConsumeMessageTraceHookImpl``.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.message import Message
from rocketwire.client.outages import Outages, advice_on
from rocketwire.errors import RocketWireError
from rocketwire.messages import message_const as const
from rocketwire.wire.values.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
DEFAULT_REGION: Final = "DefaultRegion"

MAX_QUEUED: Final = 2048
"""Records that wait to be sent; further ones are dropped."""

BATCH: Final = 20
"""Records in one message, at most."""

MAX_TRACE_BYTES: Final = 128_000
"""Bytes of one message of records, about."""

_NO_ROOM: Final = "records of the message trace"
"""What a warning about dropped records is about."""

MAX_KEYS_BYTES: Final = 24_000
"""Bytes of the keys of one message of records, about: all properties together fit 32,767."""

FLUSH_INTERVAL: Final = 5.0
"""Seconds for which a record waits for others."""

NORMAL, TRANS_HALF, TRANS_COMMIT, DELAY = range(4)
"""Kinds of messages, as Java numbers them (``MessageType``)."""


class TraceRecord(NamedTuple):
    """One record.

    Attributes:
        text: its fields, separated and ended as Java does.
        keys: what it is found by.
        topic: of the traced message; one trace message holds records of one topic.
    """

    text: str
    keys: tuple[str, ...]
    topic: str = ""


def record(kind: str, *fields: object) -> str:
    """The text of a record; None is written as ``null``, a bool as in Java."""
    return "\x01".join(map(_text, (kind, *fields))) + "\x02"


def _text(field: object) -> str:
    if field is None:
        return "null"
    if isinstance(field, bool):
        return "true" if field else "false"
    return str(field)


def publish_record(
    *,
    timestamp: int,
    region: str | None,
    group: str,
    topic: str,
    msg_id: str,
    tags: str | None,
    keys: str | None,
    store_host: str,
    body_length: int,
    cost_millis: int,
    kind: int,
    offset_msg_id: str,
    is_success: bool,
) -> TraceRecord:
    """A message was sent."""
    text = record(
        "Pub", timestamp, region, group, topic, msg_id, tags, keys, store_host, body_length,
        cost_millis, kind, offset_msg_id, is_success,
    )  # fmt: skip
    return TraceRecord(text, (msg_id, *_split(keys)), topic)


def end_transaction_record(
    *,
    timestamp: int,
    region: str | None,
    group: str,
    topic: str,
    msg_id: str,
    tags: str | None,
    keys: str | None,
    store_host: str,
    transaction_id: str | None,
    state: str,
    from_check: bool,
) -> TraceRecord:
    """A transaction ended."""
    text = record(
        "EndTransaction", timestamp, region or DEFAULT_REGION, group, topic, msg_id, tags, keys,
        store_host, TRANS_COMMIT, transaction_id, state, from_check,
    )  # fmt: skip
    return TraceRecord(text, (msg_id, *_split(keys)), topic)


def recall_record(
    *, timestamp: int, region: str | None, group: str, topic: str, msg_id: str, is_success: bool
) -> TraceRecord:
    """A delayed message was taken back."""
    text = record("Recall", timestamp, region, group, topic, msg_id, is_success)
    return TraceRecord(text, (msg_id,), topic)


def consume_before_record(
    *,
    timestamp: int,
    region: str,
    group: str,
    topic: str,
    request_id: str,
    msg_id: str,
    retry_times: int,
    keys: str | None,
) -> TraceRecord:
    """A handler is called with a message."""
    text = record("SubBefore", timestamp, region, group, request_id, msg_id, retry_times, keys)
    return TraceRecord(text, (msg_id, *_split(keys)), topic)


def consume_after_record(
    *,
    timestamp: int,
    group: str,
    topic: str,
    request_id: str,
    msg_id: str,
    cost_millis: int,
    is_success: bool,
    keys: str | None,
    outcome: int,
) -> TraceRecord:
    """A handler has returned from a message, or has raised."""
    text = record(
        "SubAfter", request_id, msg_id, cost_millis, is_success, keys, outcome, timestamp, group
    )
    return TraceRecord(text, (msg_id, *_split(keys)), topic)


def _split(keys: str | None) -> list[str]:
    return [key for key in (keys or "").split(const.KEY_SEPARATOR) if key]


class TraceDispatcher:
    """Sends records, several in one message, in a task of its own.

    Attributes:
        topic: where to.
        dropped: records that found no room.
    """

    def __init__(
        self, send: Callable[[Message], Awaitable[object]], topic: str | None = None
    ) -> None:
        """Nothing to send yet.

        Args:
            send: sends a message; its errors are logged.
            topic: where to; None for ``TRACE_TOPIC``.
        """
        self.topic = topic or TRACE_TOPIC
        self.dropped = 0
        self._send = send
        self._queue: deque[TraceRecord] = deque()
        self._enough = trio.Event()
        self._sending = trio.Lock()
        self._outages = Outages()

    def append(self, one: TraceRecord) -> None:
        """A record, to be sent soon; never waits."""
        if len(self._queue) >= MAX_QUEUED:
            self.dropped += 1
            self._outages.report(
                _NO_ROOM,
                f"{self.dropped} records were dropped: {MAX_QUEUED} wait already",
                "the broker takes them more slowly than they come",
            )
            return
        self._queue.append(one)
        if len(self._queue) >= BATCH:
            self._enough.set()

    async def run(self) -> None:
        """Send what comes, until cancelled."""
        while True:
            with trio.move_on_after(FLUSH_INTERVAL):
                await self._enough.wait()
            self._enough = trio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Send what has come so far; what is being sent already is waited for."""
        async with self._sending:
            while self._queue:
                await self._send_next()

    async def _send_next(self) -> None:
        """Send the oldest records, and warn if they are not taken."""
        message = trace_message(self.topic, self._next())
        try:
            await self._send(message)
        except RocketWireError as error:
            self._outages.report(
                "message trace", f"trace records were not sent: {error}", advice_on(error)
            )
        else:
            self._outages.end("message trace")
            if not self._queue:
                self._outages.end(_NO_ROOM)

    def _next(self) -> list[TraceRecord]:
        """The oldest records that go into one message."""
        taken = [self._queue.popleft()]
        size, keys = len(taken[0].text), _size_of_keys(taken[0])
        while self._queue and len(taken) < BATCH and self._queue[0].topic == taken[0].topic:
            size += len(self._queue[0].text)
            keys += _size_of_keys(self._queue[0])
            if size > MAX_TRACE_BYTES or keys > MAX_KEYS_BYTES:
                break
            taken.append(self._queue.popleft())
        return taken


def _size_of_keys(one: TraceRecord) -> int:
    return sum(len(key) + 1 for key in one.keys)


def trace_message(topic: str, records: Sequence[TraceRecord]) -> Message:
    """The message that holds some records, found by the keys of all of them."""
    keys = tuple(dict.fromkeys(key for one in records for key in one.keys))
    body = "".join(one.text for one in records).encode()
    return Message(topic, body, keys=keys)

"""Prints messages as JSON lines and stops after the requested count.

A message counts as printed if its whole line was written. Consumers must not acknowledge a message
for which ``show`` returns False.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import trio

from rocketwire.messages import message_const as const

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.cli.command import Value
    from rocketwire_tools.cli.signals import Stop
    from rocketwire_tools.cli.stdio import JsonLines


def as_members(message: StoredMessage, topic: str, broker_name: str) -> dict[str, Value]:
    """The members of a message's JSON object.

    ``topic`` is that of the subscription, without namespace, also for a message from a retry topic.
    """
    properties = dict(message.properties or {})
    text, encoded = _body(message.body or b"")
    members: dict[str, Value] = {
        "msgId": message.msg_id,
        "topic": topic,
        "tags": properties.get(const.TAGS),
        "keys": properties.get(const.KEYS),
        "body": text,
        "brokerName": broker_name,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "reconsumeTimes": message.reconsume_times,
        "properties": properties,
    }
    if encoded is not None:
        members["bodyBase64"] = encoded
    return members


def _body(body: bytes) -> tuple[str | None, str | None]:
    try:
        return body.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(body).decode()


class MessagePrinter:
    def __init__(self, output: JsonLines, topic: str, count: int | None, stop: Stop) -> None:
        self.printed = 0
        self.last = trio.current_time()  # trio's time of the last message, initially of the start
        self.timed_out = False  # whether the timeout requested the stop
        self._output = output
        self._topic = topic
        self._count = count
        self._stop = stop
        self._turn = trio.Lock()

    async def show(self, message: StoredMessage, broker_name: str) -> bool:
        """Print a message; False if the count is reached or the reader is gone.

        Cancellation: the message does not count as printed.
        """
        async with self._turn:
            if self._stop.is_requested:
                return False
            try:
                await self._output.write(as_members(message, self._topic, broker_name))
            except BrokenPipeError:
                self._stop.requested.set()
                return False
            self.printed += 1
            self.last = trio.current_time()
            if self.printed == self._count:
                self._stop.requested.set()
            return True

    @property
    def is_short(self) -> bool:
        return self._count is not None and self.printed < self._count

    async def watch(self, seconds: float | None) -> None:
        """Request a stop after ``seconds`` without a message, or when the reader is gone."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_reader)
            if seconds is not None:
                nursery.start_soon(self._watch_clock, seconds)

    async def _watch_reader(self) -> None:
        await self._output.until_reader_closes()
        self._stop.requested.set()

    async def _watch_clock(self, seconds: float) -> None:
        last = None
        while last != self.last:
            last = self.last
            await trio.sleep_until(last + seconds)
        self.timed_out = True
        self._stop.requested.set()

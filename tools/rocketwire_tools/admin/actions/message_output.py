"""Messages as JSON lines, and when there have been enough.

Rules of this file: a message counts as printed when all of its line was written.  Whoever shows messages must not acknowledge one
for which ``show`` says False.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import trio

from rocketwire.messages import message_const as const

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.admin.cli.signals import Stop
    from rocketwire_tools.admin.cli.stdio import JsonLines
    from rocketwire_tools.admin.command import Value


def as_members(message: StoredMessage, topic: str, broker_name: str) -> dict[str, Value]:
    """A message as it is printed.

    Args:
        message: as a consumer has got it.
        topic: that of the subscription, without namespace, also for messages from a retry topic.
        broker_name: where it is from.
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
    """As text, or as base64 where it is no UTF-8."""
    try:
        return body.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(body).decode()


class Printing:
    """What was printed, and what is to be.

    Attributes:
        printed: how many messages.
        last: when the last one was, on trio's clock; when waiting began before there was one.
        timed_out: whether waiting for messages ended it.
    """

    def __init__(self, output: JsonLines, topic: str, count: int | None, stop: Stop) -> None:
        """Nothing is printed yet.

        Args:
            output: where to.
            topic: of the subscription.
            count: after how many to stop; None for never.
            stop: set after so many, or when nobody reads any more.
        """
        self.printed = 0
        self.last = trio.current_time()
        self.timed_out = False
        self._output = output
        self._topic = topic
        self._count = count
        self._stop = stop
        self._turn = trio.Lock()

    async def show(self, message: StoredMessage, broker_name: str) -> bool:
        """Print a message; False if there have been enough already, or nobody reads.

        Cancellation: the message does not count as printed.
        """
        async with self._turn:
            if self._stop.is_asked:
                return False
            try:
                await self._output.write(as_members(message, self._topic, broker_name))
            except BrokenPipeError:
                self._stop.asked.set()
                return False
            self.printed += 1
            self.last = trio.current_time()
            if self.printed == self._count:
                self._stop.asked.set()
            return True

    @property
    def is_short(self) -> bool:
        """Whether there were fewer messages than were wanted."""
        return self._count is not None and self.printed < self._count

    async def watch(self, seconds: float | None) -> None:
        """Ask to stop when there was no message for so many seconds, or when nobody reads any more."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_reader)
            if seconds is not None:
                nursery.start_soon(self._watch_clock, seconds)

    async def _watch_reader(self) -> None:
        await self._output.until_nobody_reads()
        self._stop.asked.set()

    async def _watch_clock(self, seconds: float) -> None:
        last = None
        while last != self.last:
            last = self.last
            await trio.sleep_until(last + seconds)
        self.timed_out = True
        self._stop.asked.set()

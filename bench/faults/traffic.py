"""Messages that are sent until they are acknowledged, and a consumer that ticks them off."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import Message
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import Producer
    from rocketwire.wire.stored import StoredMessage

SENDERS: Final = 32
HELD_BACK: Final = 0.1
"""Share of the messages that is sent only after the last trouble."""
PAUSE: Final = 0.05


class Traffic:
    """So many numbered messages.

    Attributes:
        total: how many.
        acknowledged: numbers that a broker has stored.
        seen: how often each number was consumed.
        failures: why sends failed, which then are made again.
    """

    def __init__(self, topic: str, total: int) -> None:
        """None is sent yet."""
        self.total = total
        self.acknowledged: set[int] = set()
        self.seen: Counter[int] = Counter()
        self.failures: Counter[str] = Counter()
        self._topic = topic
        self._numbers = iter(range(total))
        self._calm = trio.Event()

    def calm(self) -> None:
        """The troubles are over: send the rest."""
        self._calm.set()

    async def send(self, producer: Producer, pace: float) -> None:
        """Send them all.

        Args:
            producer: sends.
            pace: seconds between two messages of one task.
        """

        async def some() -> None:
            for number in self._numbers:
                if number > self.total * (1 - HELD_BACK):
                    await self._calm.wait()
                await self._until_acknowledged(producer, number)
                await trio.sleep(0 if self._calm.is_set() else pace)

        async with trio.open_nursery() as nursery:
            for _ in range(SENDERS):
                nursery.start_soon(some)

    async def _until_acknowledged(self, producer: Producer, number: int) -> None:
        body = b"%d" % number
        while True:
            try:
                await producer.send(Message(self._topic, body))
            except RocketWireError as error:
                cause = error.__cause__ or error
                code = getattr(cause, "code", None)
                self.failures[type(cause).__name__ + ("" if code is None else f" {code:d}")] += 1
                await trio.sleep(PAUSE)
            else:
                self.acknowledged.add(number)
                return

    async def listen(self, messages: Sequence[StoredMessage], _: object) -> None:
        """Tick messages off."""
        for message in messages:
            self.seen[int(message.body or b"-1")] += 1

    @property
    def missing(self) -> set[int]:
        """Numbers that were acknowledged and not consumed."""
        return self.acknowledged - self.seen.keys()

    @property
    def is_complete(self) -> bool:
        """Whether all were acknowledged and consumed."""
        return len(self.acknowledged) == self.total and not self.missing

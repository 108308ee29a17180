"""Messages that are sent until they are acknowledged, and a consumer that ticks them off."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import Message
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import Producer
    from rocketwire.wire.message.stored import StoredMessage

SENDERS: Final = 32
HELD_BACK: Final = 0.1
"""Share of the messages that is sent only after the last trouble."""
PAUSE: Final = 0.05
HASTY: Final = 8
"""One of this many messages is first sent by a producer without retries, so that refusals are
counted."""


class Traffic:
    """Numbered messages.

    Attributes:
        total: their number.
        held_back: the first that is sent only after the last trouble.
        acknowledged: numbers that a broker has stored.
        seen: how often each number was consumed.
        failures: why sends failed, which then are made again.
        refusals: the codes that brokers answered those with.
    """

    def __init__(self, topic: str, total: int) -> None:
        """None is sent yet."""
        self.total = total
        self.held_back = round(total * (1 - HELD_BACK))
        self.acknowledged: set[int] = set()
        self.seen: Counter[int] = Counter()
        self.failures: Counter[str] = Counter()
        self.refusals: set[int] = set()
        self._topic = topic
        self._numbers = iter(range(total))
        self._calm = trio.Event()

    def calm(self) -> None:
        """The troubles are over: send the rest."""
        self._calm.set()

    async def send(self, producer: Producer, hasty: Producer, pace: float) -> None:
        """Send them all.

        Args:
            producer: sends.
            hasty: sends some of them, without retries.
            pace: seconds between two messages of one task.
        """

        async def some() -> None:
            for number in self._numbers:
                if number >= self.held_back:
                    await self._calm.wait()
                first = hasty if number % HASTY == 0 else producer
                await self._until_acknowledged(first, producer, number)
                await trio.sleep(0 if self._calm.is_set() else pace)

        async with trio.open_nursery() as nursery:
            for _ in range(SENDERS):
                nursery.start_soon(some)

    async def _until_acknowledged(self, first: Producer, then: Producer, number: int) -> None:
        body = b"%d" % number
        for producer in itertools.chain([first], itertools.repeat(then)):
            try:
                await producer.send(Message(self._topic, body))
            except RocketWireError as error:
                cause = error.__cause__ or error
                code = getattr(cause, "code", None)
                self.failures[type(cause).__name__ + ("" if code is None else f" {code:d}")] += 1
                if code is not None:
                    self.refusals.add(code)
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
    def again(self) -> int:
        """Deliveries beyond the first of each message."""
        return self.seen.total() - len(self.seen)

    @property
    def is_held_back(self) -> bool:
        """Whether only those are left that wait for the end of the troubles."""
        return len(self.acknowledged) >= self.held_back

    @property
    def is_complete(self) -> bool:
        """Whether all were acknowledged and consumed."""
        return len(self.acknowledged) == self.total and not self.missing

"""Batches of pulled messages, and the part that a worker has claimed.

A handler that never blocks costs its call and little more: the bookkeeping of handled messages is
done for many messages at once, before any other task can run (``notify_before_wait``).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

T = TypeVar("T")


@dataclass(slots=True, eq=False, repr=False)
class PulledBatch:
    """Messages of a queue, claimed by workers from the front."""

    queue: MessageQueue
    process: ProcessQueue[StoredMessage]
    messages: Sequence[StoredMessage]
    next_index: int = 0  # index of the first unclaimed message

    @property
    def is_open(self) -> bool:
        """Whether there are unclaimed messages, and handlers may start with them."""
        process = self.process
        return self.next_index < len(self.messages) and not (process.dropped or process.retiring)

    def drop(self) -> None:
        self.next_index = len(self.messages)


class WorkerClaim:
    """The messages of a batch that a worker has claimed."""

    __slots__ = ("announced", "batch", "begin", "end", "since")

    def __init__(self, batch: PulledBatch, since: float) -> None:
        self.batch: PulledBatch = batch
        self.since: float = since  # start of the handler calls on trio's clock
        # index of the first handled message that is still in the process queue
        self.begin: int = batch.next_index
        # index after the last handled message; the running handler's messages start here
        self.end: int = self.begin
        # index after the last message that was returned by ``announce``
        self.announced: int = self.begin

    def announce(self) -> Sequence[StoredMessage]:
        """Return the messages of the running handler; empty if they were returned before."""
        if self.announced > self.end:
            return ()
        self.announced = self.batch.next_index
        return self.batch.messages[self.end : self.announced]

    def take_handled(self) -> Sequence[StoredMessage]:
        """Return the handled messages once; the list of the batch itself if it is all of them."""
        messages, begin, end = self.batch.messages, self.begin, self.end
        self.begin = end
        return messages[begin:end] if begin or end < len(messages) else messages


@coroutine
def notify_before_wait(
    work: Coroutine[Any, Any, T], notify: Callable[[], object]
) -> Generator[Any, Any, T]:
    """Await ``work``, and call ``notify()`` each time before it waits and other tasks can run.

    ``notify`` must neither block nor raise.
    """
    resume: Callable[[Any], Any] = work.send
    value: Any = None
    while True:
        try:
            trap = resume(value)
        except StopIteration as end:
            result: T = end.value
            return result
        notify()
        try:
            value = yield trap
        except BaseException as error:  # noqa: BLE001 - passed to the coroutine
            resume, value = work.throw, error
        else:
            resume = work.send

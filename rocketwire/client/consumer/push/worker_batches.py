"""Messages that handlers work off in one go, and who does.

Rules of this file: a handler that never waits costs its call and next to nothing else.  So what
follows from a handled message is done for many at once, at the latest before any other task can see
that it was not done yet (``telling``).
"""

from __future__ import annotations

from types import coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Sequence

    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

T = TypeVar("T")


class Run:
    """Messages of one queue, handed out from the front.

    Attributes:
        queue: where they are from.
        process: its window.
        messages: all of them.
        at: index of the first that nobody has taken.
    """

    __slots__ = ("at", "messages", "process", "queue")

    def __init__(
        self,
        queue: MessageQueue,
        process: ProcessQueue[StoredMessage],
        messages: Sequence[StoredMessage],
    ) -> None:
        """Nobody has taken any."""
        self.queue = queue
        self.process = process
        self.messages = messages
        self.at = 0

    @property
    def is_open(self) -> bool:
        """Whether there are some to take, and they may be begun."""
        process = self.process
        return self.at < len(self.messages) and not (process.dropped or process.retiring)

    def drop(self) -> None:
        """What nobody has taken is taken by nobody."""
        self.at = len(self.messages)


class Hand:
    """What a worker has taken of a run.

    Attributes:
        run: the run.
        begin: index of the first message that was handled and is still in the window.
        end: index behind the last of them; what a handler works on begins there.
        told: index behind the last message of which others know that a handler works on it, or has.
        since: time since which they were handled.
    """

    __slots__ = ("begin", "end", "run", "since", "told")

    def __init__(self, run: Run, since: float) -> None:
        """Nothing yet."""
        self.run = run
        self.since = since
        self.begin = self.end = self.told = run.at

    def untold(self) -> Sequence[StoredMessage]:
        """What a handler works on that has not waited yet; from now on others know of it."""
        if self.told > self.end:
            return ()
        self.told = self.run.at
        return self.run.messages[self.end : self.told]

    def done(self) -> Sequence[StoredMessage]:
        """What was handled and is still in the window, which is forgotten here: the run's own messages if it is all of them."""
        messages, begin, end = self.run.messages, self.begin, self.end
        self.begin = end
        return messages[begin:end] if begin or end < len(messages) else messages


@coroutine
def telling(work: Coroutine[Any, Any, T], waits: Callable[[], object]) -> Generator[Any, Any, T]:
    """Awaits ``work``, and calls ``waits()`` each time before others run because it waits for something.

    Args:
        work: what to await.
        waits: called without arguments; must neither wait nor raise.
    """
    resume: Callable[[Any], Any] = work.send
    given: Any = None
    while True:
        try:
            trap = resume(given)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        waits()
        try:
            given = yield trap
        except BaseException as error:  # noqa: BLE001 - it is the other coroutine's
            resume, given = work.throw, error
        else:
            resume = work.send

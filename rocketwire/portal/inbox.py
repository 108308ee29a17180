"""``Inbox``: messages that an application takes when it wants, and settles."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from rocketwire.errors import IllegalValueError

if TYPE_CHECKING:
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.loans import Loan, Loans
    from rocketwire.wire.message.stored import StoredMessage

# Seconds after which an application that lags looks again, before it waits to be woken. A wake
# costs as much as the whole handling of a batch. Meanwhile several batches arrive.
PAUSE: Final = 0.002
# Messages that wait at the broker, in the queue of the last batch, if the application lags
LAG: Final = 32


def check_limit(limit: int) -> None:
    """Raise ``IllegalValueError`` if a batch cannot have so many messages."""
    if not isinstance(limit, int) or limit < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        raise IllegalValueError(f"max: expected a positive number of messages, got {limit!r}")


class Batch:
    """Messages of a queue that the application handles; iterate over it.

    A batch is handled when ``ack`` is called, or when the next one is taken from the same iterator.
    """

    __slots__ = ("_inbox", "_is_settled", "_loan", "message_queue", "messages")

    def __init__(self, inbox: Inbox, loan: Loan, messages: Sequence[StoredMessage]) -> None:
        self.messages: Sequence[StoredMessage] = messages  #: the messages, in order
        self.message_queue: MessageQueue = loan.queue  #: queue of the messages
        self._inbox = inbox
        self._loan = loan
        self._is_settled = False

    def __iter__(self) -> Iterator[StoredMessage]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def ack(self) -> None:
        """Acknowledge the messages that were not rejected."""
        if not self._is_settled:
            self._is_settled = True
            self._inbox.settle(self._loan, len(self.messages))

    def reject(self, message: StoredMessage, delay_level: int = 0) -> None:
        """Let the broker redeliver one message later; ``ack`` acknowledges the others.

        Args:
            message: a message of the batch.
            delay_level: see ``reconsume_later``.
        """
        if not self._is_settled:
            self._loan.reject([message], delay_level)

    def reconsume_later(self, delay_level: int = 0) -> None:
        """Let the broker redeliver all messages later; -1 makes them dead letters.

        An orderly queue waits until its messages are handled, and ignores the level.
        """
        if not self._is_settled:
            self._loan.reject(self.messages, delay_level)
            self.ack()


class Delivery(Batch):
    """A message that the application handles."""

    __slots__ = ()

    @property
    def message(self) -> StoredMessage:
        return self.messages[0]


class Inbox:
    """Loans that no thread or task has taken yet."""

    def __init__(self, notify: Callable[[], None]) -> None:
        """Start empty; ``notify`` is called in trio when there are messages."""
        self.loans: Loans | None = None
        # many messages of the last queue wait at the broker, and come without a wake of trio
        self.lags: bool = False
        self._notify = notify
        self._lock = Lock()
        self._queue: deque[Loan] = deque()
        self._position = 0  # of the next message in the first loan
        self._open: dict[int, int] = {}  # id of a loan -> its messages that are not settled
        _inboxes.add(self)

    def clear(self) -> None:
        """Start anew, in a fork, which must not handle messages of its parent."""
        self._lock = Lock()
        self._queue.clear()
        self._open.clear()
        self._position = 0
        self.lags = False

    def drop(self) -> None:
        """Drop what was not taken, at the end of the consumer: it is redelivered."""
        with self._lock:
            self._queue.clear()
            self._position = 0

    def put(self, loans: Sequence[Loan]) -> None:
        """Add loans; called in trio."""
        self._queue.extend(loans)
        self._notify()

    def take(self, limit: int) -> Batch | None:
        """Return at most ``limit`` messages, or None; from any thread."""
        taken = self._take(limit)
        return None if taken is None else Batch(self, *taken)

    def take_one(self) -> Delivery | None:
        """Return one message, or None; from any thread."""
        taken = self._take(1)
        return None if taken is None else Delivery(self, *taken)

    def _take(self, limit: int) -> tuple[Loan, Sequence[StoredMessage]] | None:
        with self._lock:
            if not self._queue:
                return None
            loan, start = self._queue[0], self._position
            messages, part = loan.messages, loan.part
            end = start + limit
            if start == 0 and part is not None:
                part.taken_at = perf_counter()
            if end >= len(messages):
                self._queue.popleft()
                self._position = 0
                self.lags = part is not None and part.process.backlog > LAG and not part.is_awaited
                return loan, messages if start == 0 else messages[start:]
            if start == 0:
                self._open[id(loan)] = len(messages)
            self._position = end
            return loan, messages[start:end]

    def settle(self, loan: Loan, count: int) -> None:
        """Note that messages of a loan are handled or rejected."""
        if count < len(loan.messages):
            with self._lock:
                left = self._open.pop(id(loan), 0) - count
                if left > 0:
                    self._open[id(loan)] = left
                if left != 0:  # a loan of the parent, in a fork, is unknown
                    return
        if loan.part is not None:
            loan.part.settled_at = perf_counter()
        if self.loans is not None:
            self.loans.settle(loan, soon=True)


_inboxes: WeakSet[Inbox] = WeakSet()


def _clear_inboxes() -> None:
    for inbox in list(_inboxes):
        inbox.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_clear_inboxes)

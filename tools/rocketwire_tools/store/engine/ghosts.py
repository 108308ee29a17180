"""Whether messages after damage belong to the log, or are older bytes that Java has cut off.

A file keeps its old bytes when Java cuts a log and writes on.  Two marks show them:

* they were stored before the last message of the log.  The median of three times decides, so that
  one odd time (a bit that flipped, a clock that was wrong for a moment) decides nothing;
* they repeat queue offsets.  Java numbers the messages that it writes after a cut as it numbered
  the old ones, so this mark holds too where the clock of the broker was set back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rocketwire.flags import MessageSysFlag

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Messages

REMEMBERED: Final = 256  # last messages of the log whose queue offsets are compared
COMPARED: Final = 16  # first messages after damage that are compared
_TIMES: Final = 3
_REPEATS: Final = 2  # messages that must repeat an offset: a single number may be damaged
_WITHOUT_OFFSET: Final = int(MessageSysFlag.TRANSACTION_PREPARED)
"""Bit of the system flag of half messages and rollbacks, to which Java gives no queue offset."""

_QueuePosition = tuple[bytes, int, int]


@dataclass(slots=True)
class LogTrail:
    """The last messages of a log, to compare with those that may follow."""

    newest: int = 0  # store timestamp of the last one, milliseconds since 1970
    # topic, queue id and queue offset of the last ones
    positions: deque[_QueuePosition] = field(
        default_factory=lambda: deque[_QueuePosition](maxlen=REMEMBERED)
    )

    def follow(self, messages: Messages) -> None:
        """Note further messages of the log; there is at least one."""
        self.newest = int(messages.heads["store_timestamp"][-1])
        self.positions.extend(_queue_positions(messages, max(0, len(messages) - REMEMBERED)))

    def are_ghosts(self, messages: Messages) -> bool:
        """Whether messages after damage, at most ``COMPARED``, are older than the log."""
        times = sorted(messages.numbers("store_timestamp")[:_TIMES].tolist())
        if times[len(times) // 2] < self.newest:
            return True
        last = {(topic, queue): offset for topic, queue, offset in self.positions}
        repeats = [
            offset <= last[topic, queue]
            for topic, queue, offset in _queue_positions(messages, 0)
            if (topic, queue) in last
        ]
        return sum(repeats) >= min(_REPEATS, max(1, len(repeats)))


def _queue_positions(messages: Messages, first: int) -> list[_QueuePosition]:
    heads = messages.heads[first:]
    starts = messages.topics[first:]
    ends = (starts + messages.topic_sizes[first:]).tolist()
    topics = [
        messages.data[start:end].tobytes() for start, end in zip(starts.tolist(), ends, strict=True)
    ]
    columns = zip(
        topics,
        heads["queue_id"].tolist(),
        heads["queue_offset"].tolist(),
        heads["sys_flag"].tolist(),
        strict=True,
    )
    return [
        (topic, queue, offset)
        for topic, queue, offset, flag in columns
        if not flag & _WITHOUT_OFFSET
    ]

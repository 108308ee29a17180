"""Where the units of a rebuilt queue go.

Messages name their queue offsets, but no checksum covers the offset, the topic and the queue id.
So a single message with an unexpected offset waits for the next one of its queue, which shows
whether messages are missing before it, its offset is damaged, or it is of another queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.store import commit_log
from rocketwire.store.consume_queue import UNIT_SIZE

if TYPE_CHECKING:
    from rocketwire.store.writer import QueueWriter


@dataclass(slots=True)
class NumberingReport:
    """Counts of a rebuild that concern queue offsets."""

    messages: int = 0  # that were copied
    bytes_filled: int = 0  # of places without a message
    # queue offsets of lost messages; their units point to the next message
    missing_offsets: int = 0
    misplaced_messages: int = 0  # with a queue offset that cannot be; they follow the one before
    unqueued_messages: int = 0  # with the queue offset of another message; no unit points to them
    # queue offsets of which a later run of messages took the place; no unit points to the earlier
    # ones
    replaced_offsets: int = 0
    restarted_queues: int = 0  # that began again at 0; only the later messages count


class _Units(NamedTuple):
    """Units with successive queue offsets."""

    number: int  # queue offset of the first one
    data: bytes  # the units
    timestamp: int  # store timestamp of the last one's message


class NumberedQueue:
    """Puts units at the queue offsets of their messages."""

    def __init__(self, writer: QueueWriter, report: NumberingReport, log_start: int) -> None:
        self._writer = writer
        self._report = report
        self._log_start = log_start
        self._held: _Units | None = None
        self._following = -1  # queue offset that agrees with the last unit

    @property
    def units_per_file(self) -> int:
        """Units that fit into a file of the queue."""
        return self._writer.units_per_file

    def put(self, number: int, data: bytes, timestamp: int) -> None:
        """Put successive units; ``timestamp`` is the store timestamp of the last one's message."""
        units = _Units(number, data, timestamp)
        if self._held is not None:
            held_unit, self._held = self._held, None
            self._settle(held_unit, number)
        if len(data) == UNIT_SIZE and number != (self._writer.end or 0):
            self._held = units
        else:
            self._put(units, is_sure=True)

    def finish(self) -> None:
        """Put what waits for a unit that does not come."""
        if self._held is not None:
            held_unit, self._held = self._held, None
            self._put(held_unit, is_sure=held_unit.number == self._following)

    def _settle(self, held_unit: _Units, following: int) -> None:
        """Put a unit whose queue offset was unexpected."""
        number, end = held_unit.number, self._writer.end
        if following == number + 1 or (end is None and following > number):
            self._put(held_unit, is_sure=True)
        elif end is None:
            self._put_before(held_unit, following)
        elif following == end:
            self._report.unqueued_messages += 1
        elif following > number > end:
            self._put(held_unit, is_sure=True)
        elif following > end:
            self._report.misplaced_messages += 1
            self._put(held_unit._replace(number=end), is_sure=True)
        else:
            self._put(held_unit, is_sure=number == self._following)

    def _put_before(self, first: _Units, following: int) -> None:
        if following:
            self._report.misplaced_messages += 1
            self._put(first._replace(number=following - 1), is_sure=True)
        else:
            self._report.unqueued_messages += 1

    def _put(self, units: _Units, *, is_sure: bool) -> None:
        """Put units at their queue offset if that can be, otherwise after the last unit."""
        writer, report = self._writer, self._report
        number, data, timestamp = units
        unit = data[:UNIT_SIZE]
        if writer.end is None:
            self._following = number + len(data) // UNIT_SIZE
            # units before the first one: Java's pre-blank points below a log that starts later
            writer.put(number, data, timestamp, gap=None if self._log_start else unit)
            return
        if number == 0 < writer.end:
            writer.clear()
            report.restarted_queues += 1
        elif number < writer.end and not is_sure:  # a single one hides no other message
            report.unqueued_messages += 1
            self._following = -1
            return
        elif number < writer.end:
            report.replaced_offsets += min(writer.end - number, len(data) // UNIT_SIZE)
        elif number > writer.end:
            missing = number - writer.end
            limit = report.bytes_filled // commit_log.SMALLEST_MESSAGE
            if is_sure:  # lost messages may have another topic or queue id now
                limit += report.messages
            if missing + report.missing_offsets > limit:
                report.misplaced_messages += 1
                number = writer.end
            else:
                report.missing_offsets += missing
        self._following = number + len(data) // UNIT_SIZE
        writer.put(number, data, timestamp, gap=unit)

"""Which messages the consume queues of a store lead to.

A unit of a queue that points to its message is certain: Java cuts queues with the log.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import nlargest
from typing import TYPE_CHECKING, Final

from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire_tools.store.lookup import at_physical_offset
from rocketwire_tools.store.queued.parts import LogPart, UnitRange, between
from rocketwire_tools.store.queued.units import QueueUnits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from rocketwire_tools.store.lookup import StoredBytes
    from rocketwire_tools.store.opened import OpenedStore

    Range = tuple[int | None, int | None]

NEWEST_QUEUES: Final = 64
"""Queues whose files were changed last, in which the last message is looked for."""


class Queues:
    """The queues of a store in files whose units point to messages of their own topic.

    Args:
        store: the store.
        names: topic and queue id of those to look at; all by default.

    Attributes:
        all: of them.
    """

    def __init__(self, store: OpenedStore, names: Iterable[tuple[str, int]] | None = None) -> None:
        self._store = store
        table = store.folder.queues
        self.all = [
            QueueUnits(topic, queue_id, table[topic, queue_id])
            for topic, queue_id in (table if names is None else names)
            if not topic.startswith(LMQ_PREFIX)
        ]

    def first_message(self, queues: Iterable[QueueUnits], offset: int) -> StoredBytes | None:
        """The first message at an offset of the log or after it to which a unit of some points."""
        messages: list[StoredBytes] = []
        for queue in queues:
            place = queue.offset_at(offset)
            message = self.message(queue, place) if place < queue.stop else None
            if message is not None and message.physical_offset >= offset:
                messages.append(message)
        return min(messages, key=lambda message: message.physical_offset, default=None)

    def last_message(self) -> StoredBytes | None:
        """The last message of the log to which a unit points; None if it is not there."""
        ends = [
            (queue.unit(queue.stop - 1).physical_offset, number)
            for number, queue in enumerate(self.all)
            if len(queue)
        ]
        if not ends:
            return None
        queue = self.all[max(ends)[1]]
        return self.message(queue, queue.stop - 1)

    def message(self, queue: QueueUnits, queue_offset: int) -> StoredBytes | None:
        """The message of a unit; None if it is not the one of that queue offset."""
        unit = queue.unit(queue_offset)
        if not unit.points_to_message:
            return None
        message = at_physical_offset(self._store, unit.physical_offset, "consume queue")
        if message is None or len(message.data) != unit.size:
            return None
        rows = message.rows()
        is_it = (
            rows.column("topic")[0] == queue.topic
            and int(rows.column("queue_id")[0]) == queue.queue_id
            and int(rows.column("queue_offset")[0]) == queue_offset
        )
        return message if is_it else None

    def leads_to_all(self, queue: QueueUnits) -> bool:
        """Whether a queue has a unit for each of its messages in the log, as far as it can tell."""
        log_start = self._store.folder.commit_log[0].offset
        return queue.is_contiguous and (
            queue.start == 0
            or (len(queue) > 0 and queue.unit(queue.start).physical_offset < log_start)
        )


def parts_of_topics(
    name: str,
    store: OpenedStore,
    *,
    topics: Collection[str],
    queue_id: int | None,
    offsets: Range,
    size: int | None = None,
    end_of: Callable[[LogPart, StoredBytes], int] | None = None,
) -> list[LogPart] | None:
    """Parts of a log that are read by the queues of some topics; None to read the log.

    What no queue of the store leads to yet is read from the log.

    Args:
        name: path of the store.
        store: the store.
        topics: names.
        queue_id: one queue of them; None for all.
        offsets: first and last queue offset.
        size: bytes of a part, about; None for one part.
        end_of: the offset after the last message of a log, to the last of which a unit points; None
            to read all files.
    """
    folder = store.folder
    if not (topics and folder.commit_log) or folder.dledger:
        return None
    names = set(topics)
    with_queues = {topic for topic, _ in folder.queues}
    if names - with_queues or names & {topic for topic, _ in folder.batch_queues}:
        return None
    files = tuple(folder.commit_log)
    whole = LogPart(store=name, files=files, start=files[0].offset, stop=files[-1].end)
    wanted = {
        (topic, number)
        for topic, number in folder.queues
        if topic in names and queue_id in (None, number)
    }
    # what follows the last message that these know is read from the log, so that a few do
    queues = Queues(store, _with_newest(store, wanted) if end_of is None else None)
    last = queues.last_message()
    chosen = [queue for queue in queues.all if (queue.topic, queue.queue_id) in wanted]
    if last is None or not all(map(queues.leads_to_all, chosen)):
        return None
    starts = [whole, *_starts(whole, queues, chosen, size)]
    end = last.physical_offset + len(last.data)
    planned = [
        replace(part, units=tuple(_units_between(chosen, part.start, part.stop, offsets)))
        for part in between(starts, end)
    ]
    tail = replace(whole, start=end, newest=store_time(last))
    if end_of is not None:
        tail = replace(tail, stop=end_of(whole, last))
    return [part for part in planned if part.units] + between([tail], tail.stop)


def _with_newest(store: OpenedStore, queues: Collection[tuple[str, int]]) -> list[tuple[str, int]]:
    """Some queues, and those of the others whose files were changed last."""
    table = store.folder.queues
    others = (
        queue for queue in table if queue not in queues and not queue[0].startswith(LMQ_PREFIX)
    )
    newest = nlargest(NEWEST_QUEUES, others, key=lambda queue: table[queue][-1].modified)
    return [*(queue for queue in table if queue in queues), *newest]


def _starts(
    whole: LogPart, queues: Queues, chosen: Sequence[QueueUnits], size: int | None
) -> Iterable[LogPart]:
    """Parts that begin where units of the longest of some queues point to."""
    longest = max(chosen, key=len, default=None)
    if size is None or longest is None or not len(longest):
        return
    total = sum(len(queue) * queue.unit((queue.start + queue.stop) // 2).size for queue in chosen)
    step = max(1, -(-len(longest) // max(1, -(-total // size))))
    last = whole.start
    for place in range(longest.start + step, longest.stop, step):
        message = queues.message(longest, place)
        if message is not None and message.physical_offset > last:
            last = message.physical_offset
            yield replace(whole, start=last, newest=store_time(message))


def _units_between(
    queues: Iterable[QueueUnits], start: int, stop: int, offsets: Range
) -> Iterable[UnitRange]:
    least, most = offsets
    for queue in queues:
        first, end = queue.offset_at(start), queue.offset_at(stop)
        first = first if least is None else max(first, least)
        end = end if most is None else min(end, most + 1)
        if first < end:
            yield UnitRange(
                topic=queue.topic,
                queue_id=queue.queue_id,
                files=tuple(
                    file for file in queue.files if file.end > 20 * first and file.offset < 20 * end
                ),
                start=first,
                stop=end,
            )


def store_time(message: StoredBytes | None) -> int:
    """Store timestamp of a message, milliseconds since 1970; 0 without one."""
    return 0 if message is None else int(message.rows().column("store_timestamp")[0])

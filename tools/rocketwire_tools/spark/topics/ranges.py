"""How much of each queue a batch takes, and how that is cut into the partitions of Spark.

Rules of this file: pure; the same numbers give the same ranges.  Queue offsets have no gaps, so
numbers of messages are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rocketwire_tools.spark.topics.offsets import QueueRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocketwire_tools.spark.topics.offsets import Queue


def share(limit: int, waiting: Mapping[Queue, int]) -> dict[Queue, int]:
    """Share a number of messages among queues, in proportion to what waits in each.

    The shares add up to the limit exactly, or to all that waits.  A queue with messages gets one at
    least if the limit is that large: a short queue does not wait for a long one to end.
    """
    total = sum(waiting.values())
    if total <= limit:
        return dict(waiting)
    busy = sorted(queue for queue, count in waiting.items() if count > 0)
    shares = dict.fromkeys(waiting, 0)
    if limit < len(busy):
        # the ones with most first: what is left out grows, and comes first later
        for queue in sorted(busy, key=lambda queue: -waiting[queue])[: max(limit, 0)]:
            shares[queue] = 1
        return shares
    rest = limit - len(busy)  # one for each, and the others in proportion
    over = total - len(busy)
    exact = {queue: divmod((waiting[queue] - 1) * rest, over) for queue in busy}
    for queue, (whole, _) in exact.items():
        shares[queue] = 1 + whole
    left = limit - sum(shares.values())
    for queue in sorted(busy, key=lambda queue: (-exact[queue][1], queue))[:left]:
        shares[queue] += 1
    return shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    max_offsets: int = 0  # most messages
    max_bytes: int = 0  # most bytes of messages, about
    min_offsets: int = 0  # fewest messages
    max_delay: float = 900.0  # seconds after which fewer messages become a batch, too

    def are_too_few(self, waiting: int, since: float) -> bool:
        return waiting < self.min_offsets and since < self.max_delay

    def apportion(
        self, waiting: Mapping[Queue, int], sizes: Mapping[str, float]
    ) -> dict[Queue, int]:
        """How many messages a batch takes of each queue.

        Args:
            waiting: messages that wait in each queue.
            sizes: mean size of a message of each topic; a topic without one has no bytes.
        """
        takes = dict(waiting)
        if self.max_bytes:
            # one unit for a message of the mean size of all that waits
            size = sum(sizes.get(queue.topic, 0.0) * count for queue, count in waiting.items())
            total = sum(waiting.values())
            if size > self.max_bytes:
                takes = share(max(1, int(total * self.max_bytes / size)), takes)
        if self.max_offsets:
            takes = share(self.max_offsets, takes)
        return takes


class Chunk(NamedTuple):
    begin: int  # first offset
    end: int  # offset after the last one; messages outside belong to other chunks
    bodies: list[bytes]  # of the responses, in order; each has whole stored messages
    shift: int  # what has to be added to the offsets in the messages
    lost: int  # number of messages that are lost


def ranges_between(begin: Mapping[Queue, int], end: Mapping[Queue, int]) -> list[QueueRange]:
    return [
        QueueRange(
            topic=queue.topic,
            broker=queue.broker,
            queue_id=queue.queue_id,
            begin=begin[queue],
            end=end[queue],
        )
        for queue in sorted(end)
        if begin[queue] < end[queue]
    ]


def cut(
    ranges: Sequence[QueueRange], min_partitions: int = 0, max_records: int = 0
) -> list[QueueRange]:
    """Cut ranges by count.

    Args:
        ranges: with at least one message each.
        min_partitions: fewest partitions, if there are as many messages; long ranges are cut into
            more parts.
        max_records: most messages of a partition; 0 for no limit.
    """
    if max_records:
        ranges = [part for each in ranges for part in parts(each, -(-len(each) // max_records))]
    if len(ranges) >= min_partitions:
        return list(ranges)
    counts = [1] * len(ranges)
    room = [len(each) - 1 for each in ranges]
    for _ in range(min(min_partitions, sum(map(len, ranges))) - len(ranges)):
        # the part that is longest now
        longest = max(
            (number for number, left in enumerate(room) if left),
            key=lambda number: (len(ranges[number]) / counts[number], -number),
        )
        counts[longest] += 1
        room[longest] -= 1
    return [part for each, count in zip(ranges, counts, strict=True) for part in parts(each, count)]


def parts(whole: QueueRange, count: int) -> list[QueueRange]:
    edges = [whole.begin + len(whole) * index // count for index in range(count + 1)]
    return [
        QueueRange(
            topic=whole.topic,
            broker=whole.broker,
            queue_id=whole.queue_id,
            begin=begin,
            end=end,
        )
        for begin, end in pairwise(edges)
    ]


def total(ranges: Iterable[QueueRange]) -> int:
    return sum(map(len, ranges))

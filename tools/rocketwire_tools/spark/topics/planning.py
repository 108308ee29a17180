"""Where queries begin and end, and the ranges of batch queries.

Rules of this file: pure; ``Questions`` are asked of a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.offsets import EARLIEST, LATEST, Queue
from rocketwire_tools.spark.topics.options import Edge
from rocketwire_tools.spark.topics.ranges import cut, ranges_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire_tools.spark.topics.offsets import Bounds, QueueRange
    from rocketwire_tools.spark.topics.options import Settings

FROM_EARLIEST: Final = Edge(everywhere=EARLIEST)
FROM_LATEST: Final = Edge(everywhere=LATEST)


class UnreachableError(Exception):
    """A cluster does not answer; the text names the server, and gives advice."""


class Questions(Protocol):
    """Questions to ``cluster.Cluster``; each may raise ``UnreachableError``."""

    def topics(self) -> tuple[str, ...]: ...
    def queues(self, topics: Iterable[str], *, may_be_gone: bool = False) -> tuple[Queue, ...]: ...
    def bounds(
        self, queues: Iterable[Queue], *, may_be_missing: bool = False
    ) -> dict[Queue, Bounds]: ...
    def offsets_at(self, times: Mapping[Queue, int]) -> dict[Queue, int]: ...
    def commit(self, offsets: Mapping[Queue, int]) -> None: ...
    def mean_sizes(self, begins: Mapping[Queue, int]) -> dict[str, float]: ...


def starts(
    settings: Settings, questions: Questions, bounds: Mapping[Queue, Bounds], default: Edge
) -> dict[Queue, int]:
    edge = settings.start or default
    at_times = _at_times("startingTimestamp", edge, questions, bounds)
    begins: dict[Queue, int] = {}
    for queue, pair in bounds.items():
        min_offset, max_offset = pair.min_offset, pair.max_offset
        if queue in at_times:
            begin = at_times[queue]
            if begin >= max_offset and settings.by_time_fails:
                raise OptionError(
                    f"option 'startingTimestamp': {queue} has no message since that time; set"
                    " startingOffsetsByTimestampStrategy=latest to begin at its end"
                )
        else:
            begin = _offset("startingOffsets", edge, queue)
            begin = {EARLIEST: min_offset, LATEST: max_offset}.get(begin, begin)
        if begin > max_offset:
            raise OptionError(
                f"option 'startingOffsets': {queue} ends before offset {begin}: its next message"
                f" has {max_offset}"
            )
        begins[queue] = begin
    _refuse_unknown("startingOffsets", edge, bounds)
    return begins


def ends(
    settings: Settings, questions: Questions, bounds: Mapping[Queue, Bounds]
) -> dict[Queue, int]:
    edge = settings.end or FROM_LATEST
    at_times = _at_times("endingTimestamp", edge, questions, bounds)
    ends_by_queue: dict[Queue, int] = {}
    for queue, pair in bounds.items():
        max_offset = pair.max_offset
        end = at_times.get(queue)
        if end is None:
            end = _offset("endingOffsets", edge, queue)
            end = max_offset if end == LATEST else end
        if end > max_offset:
            raise OptionError(
                f"option 'endingOffsets': {queue} has no message before offset {end}: its next"
                f" message has {max_offset}; use -1 to read to the end"
            )
        ends_by_queue[queue] = end
    _refuse_unknown("endingOffsets", edge, bounds)
    return ends_by_queue


def _offset(option: str, edge: Edge, queue: Queue) -> int:
    offset = edge.offsets.of(queue)
    offset = edge.everywhere if offset is None else offset
    if offset is None:
        raise OptionError(
            f"option {option!r} has no offset of {queue}: add one, with -1 for its end"
            + (" or -2 for its first message" if option.startswith("s") else "")
        )
    return offset


def _at_times(
    option: str, edge: Edge, questions: Questions, bounds: Mapping[Queue, Bounds]
) -> dict[Queue, int]:
    if edge.times is None and edge.time is None:
        return {}
    if edge.times is not None:
        _refuse_unknown(option, Edge(offsets=edge.times), bounds)
    times: dict[Queue, int] = {}
    for queue in bounds:
        time = edge.time_of(queue)
        if time is None:
            raise OptionError(f"option {option!r} has no time of {queue}: add one")
        times[queue] = time
    return questions.offsets_at(times)


def _refuse_unknown(option: str, edge: Edge, bounds: Mapping[Queue, Bounds]) -> None:
    unknown = edge.offsets.unknown(bounds)
    if unknown:
        raise OptionError(f"option {option!r}: the query does not read {unknown}")


def batch_ranges(settings: Settings, questions: Questions) -> list[QueueRange]:
    topics = questions.topics()
    if not topics:
        raise OptionError(f"option 'subscribePattern': no topic matches {settings.pattern!r}")
    bounds = questions.bounds(questions.queues(topics))
    start = settings.start
    if start is not None and bounds and all(start.is_latest(queue) for queue in bounds):
        raise OptionError(
            "option 'startingOffsets': a batch that begins at 'latest' reads nothing; use"
            " 'earliest', offsets, or option 'startingTimestamp'"
        )
    _refuse_backwards(settings, bounds)
    begins = starts(settings, questions, bounds, FROM_EARLIEST)
    limits = ends(settings, questions, bounds)
    for queue, begin in begins.items():
        if settings.start is not None and queue in settings.start.offsets.by_queue:
            min_offset = bounds[queue].min_offset
            if 0 <= begin < min_offset and begin < limits[queue]:
                from rocketwire_tools.spark.topics import loss

                lost = loss.Loss(*queue, begin, min(min_offset, limits[queue]), loss.DELETED)
                loss.report_loss(lost, fails=settings.fails_on_loss)
                begins[queue] = min_offset
    return cut(ranges_between(begins, limits), settings.min_partitions, settings.max_records)


def _refuse_backwards(settings: Settings, queues: Iterable[Queue]) -> None:
    start, end = settings.start, settings.end
    if start is None or end is None:
        return
    for queue in queues:
        first, last = start.time_of(queue), end.time_of(queue)
        if first is not None and last is not None and last < first:
            raise OptionError(
                f"option 'endingTimestamp': {queue} would end before it begins: {last} is before"
                f" 'startingTimestamp' {first}"
            )
        first, last = start.offsets.of(queue), end.offsets.of(queue)
        if first is not None and last is not None and 0 <= last < first:
            raise OptionError(
                f"option 'endingOffsets': {queue} would end before it begins: {last} is less than"
                f" {first} of 'startingOffsets'"
            )

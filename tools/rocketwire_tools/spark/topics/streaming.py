"""How far a stream can read its queues now, and the ranges of a micro-batch.

Rules of this file: the ranges are a function of the offsets in Spark's log alone, so a batch is the
same again after a restart.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics import loss
from rocketwire_tools.spark.topics.offsets import begins_of, flat, nest, with_begins
from rocketwire_tools.spark.topics.planning import FROM_LATEST, UnreachableError, starts
from rocketwire_tools.spark.topics.ranges import cut, ranges_between

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.spark.topics.offsets import Bounds, Queue, QueueRange
    from rocketwire_tools.spark.topics.options import Settings
    from rocketwire_tools.spark.topics.planning import Questions

Offset: TypeAlias = dict[str, Any]

ROUTES: Final = 10.0  # Seconds after which new topics, brokers and queues are looked for
LONGEST: Final = 60.0
"""Maximum seconds between two such questions while no name server answers; each pause is twice the
one before it, from ``ROUTES`` on."""
GONE: Final = 120.0  # Seconds for which a stream waits for the broker of a queue
PATIENCE: Final = 10.0  # Seconds for which it waits for a queue that ends before its offset
_PAUSE: Final = 0.5
_SAMPLES: Final = 8  # Queues of which a pull shows how large messages are


class Stream:
    def __init__(
        self,
        settings: Settings,  # options
        questions: Questions,  # to the cluster
        clock: Callable[[], float] = time.monotonic,  # seconds
        sleep: Callable[[float], None] = time.sleep,  # waits some seconds
    ) -> None:
        self._settings = settings
        self._questions = questions
        self._clock = clock
        self._sleep = sleep
        self._initial: Offset | None = None
        self._queues: tuple[Queue, ...] = ()
        self._until: dict[Queue, int] | None = None
        self._ends: dict[Queue, int] = {}
        self._next_refresh = float("-inf")
        self._pause = ROUTES
        self._silence: UnreachableError | None = None
        self._last_batch = float("-inf")
        self._committed: dict[Queue, int] = {}
        self._reported: set[Queue] = set()
        self._missing: dict[Queue, float] = {}
        self._is_checked = False

    # ------------------------------------------------------------------ offsets

    def initial(self) -> Offset:
        topics = self._questions.topics()
        if not topics and not self._settings.pattern:
            raise OptionError("the query reads no topic")
        self._queues = self._questions.queues(topics)
        self._next_refresh = self._clock() + ROUTES
        bounds = self._questions.bounds(self._queues)
        self._initial = nest(starts(self._settings, self._questions, bounds, FROM_LATEST))
        return self._initial

    def stop_at_present(self) -> None:
        """Let the query end at the messages that exist now (``Trigger.AvailableNow``)."""
        self._refresh(is_due=True)
        bounds = self._questions.bounds(self._queues, may_be_missing=True)
        self._until = {queue: pair.max_offset for queue, pair in bounds.items()}

    def latest(self, start: Offset, *, is_limited: bool = True) -> Offset:
        settings = self._settings
        begin = flat(start)
        is_initial = start == self._initial
        self._check_choice(begin)
        if settings.commits and not is_initial:
            self.commit(start)  # Spark calls it once every earlier batch has ended
        bounds = self._complete_bounds(begin, is_initial=is_initial)
        begins = {queue: begin.get(queue, pair.min_offset) for queue, pair in bounds.items()}
        again = self._restart_short(begins, bounds)
        stops = {queue: pair.max_offset for queue, pair in bounds.items()}
        self._ends = {**begin, **stops}
        if self._until is not None:
            stops = {queue: min(stop, self._until[queue]) for queue, stop in stops.items()}
        waiting = {queue: max(0, stops[queue] - offset) for queue, offset in begins.items()}
        limits = settings.limits
        total = sum(waiting.values())
        if is_limited and self._until is None:
            is_early = limits.are_too_few(total, self._clock() - self._last_batch)
        else:
            is_early = False
        if is_early or not total:
            return start
        self._last_batch = self._clock()
        self._reported -= again  # they have begun again
        takes = limits.apportion(waiting, self._sizes(begins, waiting)) if is_limited else waiting
        end = begin | {queue: offset + takes[queue] for queue, offset in begins.items()}
        known: set[Queue] = set() if is_initial else begin.keys() - again
        return with_begins(end, {queue: at for queue, at in begins.items() if queue not in known})

    def newest(self) -> Offset | None:
        return nest(self._ends) if self._ends else None

    def ranges(self, start: Offset, end: Offset) -> list[QueueRange]:
        stop = flat(end)
        begin = dict.fromkeys(stop, 0) | flat(start) | begins_of(end)
        settings = self._settings
        return cut(ranges_between(begin, stop), settings.min_partitions, settings.max_records)

    def commit(self, end: Offset) -> None:
        if not self._settings.commits:
            return
        offsets = flat(end)
        moved = {
            queue: offset
            for queue, offset in offsets.items()
            if self._committed.get(queue, -1) < offset
        }
        if not moved:
            return
        try:
            self._questions.commit(moved)
        except UnreachableError as error:  # the next commit repeats it
            print(f"rocketmq: {error}; group {self._settings.group} stays behind", file=sys.stderr)
        else:
            self._committed.update(moved)

    # ------------------------------------------------------------------ parts

    def _refresh(self, *, is_due: bool, must_answer: bool = False) -> None:
        """Ask the name servers for queues, if it is time; without an answer the last ones count."""
        if not (is_due or self._clock() >= self._next_refresh):
            return
        try:
            topics = self._questions.topics()
            self._queues = self._questions.queues(topics, may_be_gone=True)
        except UnreachableError as error:
            if must_answer or not self._queues:
                raise
            self._silence = error
            print(f"rocketmq: {error}; its last routes are used", file=sys.stderr)
            self._next_refresh = self._clock() + self._pause
            self._pause = min(2 * self._pause, LONGEST)
        else:
            if self._silence is not None:
                self._missing.clear()  # brokers can only be missing from now on
            self._silence, self._pause = None, ROUTES
            self._next_refresh = self._clock() + ROUTES

    def _check_choice(self, begin: Mapping[Queue, int]) -> None:
        if self._is_checked:
            return
        others = sorted(queue for queue in begin if not self._settings.reads(queue))
        if others:
            text = f"the checkpoint has offsets of {others[0]}, which the options do not choose"
            if self._settings.fails_on_loss:
                raise OptionError(
                    f"{text}: choose it again, start with a new checkpoint, or set"
                    " failOnDataLoss=false to leave it where it is"
                )
            print(f"rocketmq: {text}; it is left where it is", file=sys.stderr)
        self._reported.update(others)
        self._is_checked = True

    def _complete_bounds(
        self, begin: Mapping[Queue, int], *, is_initial: bool
    ) -> dict[Queue, Bounds]:
        """First and last offsets of queues; those without a broker are waited for.

        ``Trigger.AvailableNow`` ends with the first batch that has nothing to read, so it reads the
        queues that are there, and then does not answer before the others are back or lost.
        """
        while True:
            bounds = self._bounds(begin)
            self._report_missing(begin, bounds)
            until = self._until
            if until is None:
                return bounds
            for queue in bounds.keys() - until.keys():
                # new since the run began, and so for the next one; or it was away
                until[queue] = begin[queue] if is_initial else bounds[queue].max_offset
            is_waiting = begin.keys() - bounds.keys() - self._reported
            if not is_waiting or any(
                begin.get(queue, pair.min_offset) < until[queue] for queue, pair in bounds.items()
            ):
                return bounds
            self._sleep(_PAUSE)

    def _bounds(self, begin: Mapping[Queue, int]) -> dict[Queue, Bounds]:
        """First and last offsets of the queues that are there now.

        A queue may end before the stream's offset for a moment, while its broker starts. One of a
        lagging slave is left out: its master may come back with all messages.
        """
        self._refresh(is_due=False)
        limit = self._clock() + PATIENCE
        while True:
            bounds = self._questions.bounds(self._queues, may_be_missing=True)
            if self._until is not None:  # queues that are new have to wait for the next run
                known = self._until.keys() | begin.keys()
                bounds = {queue: pair for queue, pair in bounds.items() if queue in known}
            short = {
                queue for queue, pair in bounds.items() if begin.get(queue, 0) > pair.max_offset
            }
            self._reported -= bounds.keys() - short  # a second loss is another one
            if not short - self._reported - self._missing.keys() or self._clock() >= limit:
                return {
                    queue: pair
                    for queue, pair in bounds.items()
                    if pair.is_master or queue not in short
                }
            self._sleep(_PAUSE)

    def _report_missing(self, begin: Mapping[Queue, int], bounds: Mapping[Queue, Bounds]) -> None:
        now = self._clock()
        for queue in bounds:
            self._missing.pop(queue, None)
        for queue, offset in begin.items():
            if queue in bounds or queue in self._reported:
                continue
            since = self._missing.setdefault(queue, now)
            if since == now:
                print(
                    f"rocketmq: {queue}: no broker answers, or only a slave that is behind;"
                    " waiting for one",
                    file=sys.stderr,
                )
            if now - since >= GONE:
                if self._silence is not None:  # no name server answered: the broker may exist
                    self._refresh(is_due=True, must_answer=True)
                    return
                self._reported.add(queue)
                lost = loss.Loss(*queue, offset, None, loss.QUEUE_GONE)
                loss.report_loss(lost, fails=self._settings.fails_on_loss)

    def _restart_short(
        self, begins: dict[Queue, int], bounds: Mapping[Queue, Bounds]
    ) -> set[Queue]:
        short = {queue for queue, pair in bounds.items() if begins[queue] > pair.max_offset}
        for queue in sorted(short):
            min_offset, max_offset = bounds[queue].min_offset, bounds[queue].max_offset
            if queue not in self._reported:
                self._reported.add(queue)
                lost = loss.Loss(*queue, max_offset, begins[queue], loss.RECREATED)
                loss.report_loss(lost, fails=self._settings.fails_on_loss)
            begins[queue] = min_offset
        return short

    def _sizes(self, begins: Mapping[Queue, int], waiting: Mapping[Queue, int]) -> dict[str, float]:
        if not self._settings.limits.max_bytes:
            return {}
        busy = sorted(
            (queue for queue, count in waiting.items() if count), key=lambda q: -waiting[q]
        )
        return self._questions.mean_sizes({queue: begins[queue] for queue in busy[:_SAMPLES]})

"""Messages that a query had to read and that no broker has any more.

Rules of this file: a loss is an error, or with ``failOnDataLoss=false`` a line on standard error;
both name the queue, the offsets and the reason.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

DELETED: Final = "they were deleted: the retention time of the broker has passed"
RECREATED: Final = (
    "the queue ends before: the topic was deleted and created again, or a broker lost messages"
)
TOPIC_GONE: Final = "the topic was deleted"
QUEUE_GONE: Final = "no broker has the queue any more"
SHORT: Final = (
    "the broker that was asked has fewer messages: it is behind, or another one took its place"
)
REMOVED: Final = "the broker skipped them: their file was removed while it was read"

ADVICE: Final = (
    "set failOnDataLoss=false to go on without them, or choose other startingOffsets and a new"
    " checkpoint"
)


class DataLossError(Exception):
    """Messages of a query do not exist any more."""


@dataclass(frozen=True, slots=True)
class Loss:
    topic: str  # topic of the queue
    broker: str  # name of its broker
    queue_id: int  # number of the queue
    begin: int  # first lost offset
    end: int | None  # offset after the last one; None for all from ``begin`` on
    reason: str  # why, as a part of a sentence

    def __str__(self) -> str:
        last = "the end" if self.end is None else str(self.end - 1)
        return (
            f"topic {self.topic}, broker {self.broker}, queue {self.queue_id}: messages"
            f" {self.begin} to {last} are lost, {self.reason}"
        )


def report_loss(loss: Loss, *, fails: bool) -> None:
    if fails:
        raise DataLossError(f"{loss}; {ADVICE}")
    print(f"rocketmq: {loss}", file=sys.stderr)


class Losses:
    """Losses of a queue, in the order of offsets; those that follow each other get one line."""

    def __init__(self) -> None:
        self._last: Loss | None = None

    def take(self, losses: Iterable[Loss]) -> int:
        count = 0
        for loss in losses:
            last = self._last
            if last is not None and (last.end, last.reason) == (loss.begin, loss.reason):
                self._last = replace(last, end=loss.end)
            else:
                self.report()
                self._last = loss
            count += (loss.end or loss.begin) - loss.begin
        if not count:
            self.report()
        return count

    def report(self) -> None:
        if self._last is not None:
            report_loss(self._last, fails=False)
        self._last = None

"""Messages of a block by queue, in the order of the log, as arrays over all queues at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire_tools.store.engine.rows import COMMITTED, INNER_BATCH, TRANSACTION

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Int64s
    from rocketwire_tools.store.engine.rows import Rows

QUEUE_MASK: Final = 0xFFFFFFFF
_BATCH_SIZE: Final = re.compile(r"[0-9]{1,5}", re.ASCII)
"""Java counts the messages of a batch with 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueGroups:
    """Messages of a block that are in queues; those of one queue are a group and stand together."""

    # number of the topic and queue id of each group, as ``number << 32 | queue id``
    keys: list[int]
    names: list[tuple[str, int]]  # topic and queue id of each group
    bounds: Int64s  # first message of each group, and the number of messages
    rows: Int64s  # row of each message in the block
    offsets: Int64s  # its queue offset
    steps: Int64s  # messages that it stands for

    def part(self, number: int) -> slice:
        return slice(int(self.bounds[number]), int(self.bounds[number + 1]))

    def all_of_each(self, holds: Bools) -> list[bool]:
        """Whether something holds for all messages of each group."""
        if holds.all():
            return [True] * len(self.names)
        each: list[bool] = np.logical_and.reduceat(holds, self.bounds[:-1]).tolist()
        return each


def group_by_queue(rows: Rows) -> QueueGroups:
    """Group the messages of a block by queue, without those of open transactions."""
    messages = rows.messages
    sys_flags = messages.numbers("sys_flag")
    transactions = sys_flags & TRANSACTION
    is_queued = (transactions == 0) | (transactions == COMMITTED)
    keys = rows.topic_numbers << 32 | (messages.numbers("queue_id") & QUEUE_MASK)
    order = _stable_order(keys)
    if not is_queued.all():
        order = order[is_queued[order]]
    steps = np.ones(len(rows), np.int64)
    for row in np.flatnonzero((sys_flags & INNER_BATCH) == INNER_BATCH).tolist():
        count = rows.properties[row].get(message_const.INNER_NUM, "")
        steps[row] = int(count) if _BATCH_SIZE.fullmatch(count) else 1
    keys = keys[order]
    bounds = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(keys))
    queues: list[int] = keys[bounds[:-1]].tolist()
    topics = rows.topics.names
    return QueueGroups(
        keys=queues,
        names=[(topics[key >> 32], key & QUEUE_MASK) for key in queues],
        bounds=bounds,
        rows=order,
        offsets=messages.numbers("queue_offset")[order],
        steps=steps[order],
    )


def _stable_order(keys: Int64s) -> Int64s:
    """The order of keys ``topic << 32 | queue id``; numpy sorts 16 bits in linear time."""
    queues = int((keys & QUEUE_MASK).max()) + 1
    if queues * (int(keys.max() >> 32) + 1) < 1 << 16:
        small = ((keys >> 32) * queues + (keys & QUEUE_MASK)).astype(np.uint16)
        return np.argsort(small, kind="stable")
    return np.argsort(keys, kind="stable")

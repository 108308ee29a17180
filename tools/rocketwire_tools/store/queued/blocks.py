"""Blocks of the messages to which units of consume queues point.

Rules of this file: each unit is compared with the message that stands there.  If one of them does
not agree, the rest of the part is read from the log, so that a wrong queue costs time alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire.store import commit_log, consume_queue
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.scan import Block, State
from rocketwire_tools.store.queued.units import UNIT, QueueUnits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rocketwire_tools.store.engine.blocks import FileBlocks
    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.scan import LogScan
    from rocketwire_tools.store.queued.parts import LogPart

_MAX_GAP: Final = 64 << 10
"""Bytes between two messages that are read with them."""


class UnitBlocks:
    """The messages of a part, by the units of its queues; iterate over it once.

    Attributes:
        bytes_read: of the log, while units agree.
    """

    def __init__(self, part: LogPart, scan: LogScan, tags: Collection[str]) -> None:
        self._part = part
        self._scan = scan
        self._tags = tags
        self.bytes_read = 0

    def __iter__(self) -> Iterator[Block]:
        end = self._part.start
        targets = _targets(self._part, self._tags)
        if targets is None:
            yield from self._log_from(end)
            return
        for file in self._part.files:
            in_file = targets.chosen(
                np.flatnonzero((targets.offsets >= file.offset) & (targets.ends <= file.end))
            )
            with open_blocks(file, block_size=_MAX_GAP) as blocks:
                for run in in_file.runs(self._scan.block_size):
                    block = self._block(blocks, run)
                    if block is None:
                        yield from self._log_from(end)
                        return
                    yield block
                    end = int(run.ends[-1])

    def _log_from(self, offset: int) -> Iterator[Block]:
        self._scan.start = offset
        yield from self._scan

    def _block(self, blocks: FileBlocks, targets: _Targets) -> Block | None:
        """The messages of some targets; None if one of them is not there."""
        base, end = int(targets.offsets[0]), int(targets.ends[-1])
        view = blocks.read(base - blocks.file.offset, end - base)
        self.bytes_read += len(view)
        if len(view) < end - base:
            return None
        messages = Messages(np.frombuffer(view, np.uint8), targets.offsets - base)
        sizes = targets.ends - targets.offsets
        have_sizes = messages.sizes == sizes  # else topics may stand behind what was read
        have_sizes &= messages.bodies - messages.positions + 3 <= sizes
        if not have_sizes.all():
            return None
        agree = messages.are_sound(base)
        agree &= messages.numbers("queue_id") == targets.queue_ids
        agree &= messages.numbers("queue_offset") == targets.queue_offsets
        if not (agree.all() and targets.have_topics_of(messages)):
            return None
        return Block(blocks.file, base, messages, view, State.LIVE)


@dataclass(frozen=True, slots=True)
class _Targets:
    """Where units point to, by column; in the order of the log.

    Attributes:
        topics: names of topics, as bytes.
        topic_numbers: number of the topic of each unit.
        queue_ids: queue of each unit.
        queue_offsets: queue offset of each unit.
        offsets: first byte of the message in the log.
        ends: byte after its last one.
    """

    topics: Sequence[bytes]
    topic_numbers: Int64s
    queue_ids: Int64s
    queue_offsets: Int64s
    offsets: Int64s
    ends: Int64s

    def chosen(self, rows: Int64s) -> _Targets:
        """Some of them."""
        return _Targets(
            self.topics,
            self.topic_numbers[rows],
            self.queue_ids[rows],
            self.queue_offsets[rows],
            self.offsets[rows],
            self.ends[rows],
        )

    def runs(self, max_size: int) -> Iterator[_Targets]:
        """Those that are read together, in turn."""
        first = 0
        while first < len(self.offsets):
            near = self.offsets[first + 1 :] - self.ends[first:-1] <= _MAX_GAP
            near &= self.ends[first + 1 :] - self.offsets[first] <= max_size
            last = first + 1 + (len(near) if near.all() else int(np.argmin(near)))
            yield self.chosen(np.arange(first, last))
            first = last

    def have_topics_of(self, messages: Messages) -> bool:
        """Whether each message is of the topic of its queue."""
        for number, topic in enumerate(self.topics):
            of_topic = messages.chosen(self.topic_numbers == number)
            if not (of_topic.topic_sizes == len(topic)).all():
                return False
            places = of_topic.topics[:, None] + np.arange(len(topic))
            if not (messages.data[places] == np.frombuffer(topic, np.uint8)).all():
                return False
        return True


def _targets(part: LogPart, tags: Collection[str]) -> _Targets | None:
    """Where the units of a part point to; None if that cannot be.

    Args:
        part: of the log.
        tags: only units with the code of one of these, or with an extension; empty for all.
    """
    ranges = part.units or ()
    units = np.empty(0, UNIT)
    for unit_range in ranges:
        queue = QueueUnits(unit_range.topic, unit_range.queue_id, unit_range.files)
        units = np.concatenate([units, queue.read(unit_range.start, unit_range.stop)])
    counts = [unit_range.stop - unit_range.start for unit_range in ranges]
    if len(units) != sum(counts):
        return None
    topics = list(dict.fromkeys(unit_range.topic for unit_range in ranges))
    offsets = units["physical_offset"].astype(np.int64)
    targets = _Targets(
        [topic.encode() for topic in topics],
        np.repeat(np.array([topics.index(of.topic) for of in ranges], np.int64), counts),
        np.repeat(np.array([of.queue_id for of in ranges], np.int64), counts),
        np.concatenate([np.arange(of.start, of.stop) for of in ranges]),
        offsets,
        offsets + units["size"].astype(np.int64),
    )
    is_chosen = (units["size"] != consume_queue.PRE_BLANK_SIZE) | (offsets != 0)
    if tags and SCHEDULE_TOPIC not in topics:
        codes = [consume_queue.tags_code(tag) for tag in tags]
        is_chosen &= np.isin(units["tags_code"], codes) | (
            units["tags_code"] <= consume_queue.MAX_EXTENSION_ADDRESS
        )
    rows = np.flatnonzero(is_chosen)
    targets = targets.chosen(rows[np.argsort(targets.offsets[rows], kind="stable")])
    edges = np.concatenate([[part.start], targets.ends])
    starts = np.concatenate([targets.offsets, [part.stop]])
    sizes = targets.ends - targets.offsets
    is_sound = (starts >= edges).all() and (sizes >= commit_log.SMALLEST_MESSAGE).all()
    return targets if is_sound else None

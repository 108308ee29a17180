"""Passes through the messages of chosen topics alone, found through their queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire_tools.store.engine.scan import LogScan
from rocketwire_tools.store.queued.blocks import UnitBlocks
from rocketwire_tools.store.queued.parts import scan_of
from rocketwire_tools.store.queued.planning import parts_of_topics

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Iterator

    from rocketwire_tools.store.engine.scan import Block
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.queued.parts import LogPart


@dataclass(slots=True, kw_only=True)
class QueuedScan(LogScan):
    """A pass through the messages to which units of a part lead; each of them counts as live.

    Attributes:
        part: of the log, with units.
        tags: only messages with one of these; empty for all.
    """

    part: LogPart
    tags: Collection[str]

    def __iter__(self) -> Iterator[Block]:
        log = scan_of(self.part, block_size=self.block_size)
        log.regions = self.regions
        yield from UnitBlocks(self.part, log, self.tags)
        self.regions_left_out += log.regions_left_out


def scans_of_topics(stores: Iterable[OpenedStore], arguments: argparse.Namespace) -> list[LogScan]:
    """Passes that together read the messages of the topics that a command asks for.

    A store whose queues do not lead to all of them is read from its log.

    Raises:
        ValueError: no topic was asked for, or something that queues do not know.
    """
    if not arguments.topic:
        raise ValueError("--queues takes the queues of topics: give --topic")
    if arguments.ghosts or arguments.compacted or arguments.jobs > 1:
        raise ValueError("--queues cannot have --ghosts, --compacted or --jobs")
    scans: list[LogScan] = []
    for store in stores:
        parts = parts_of_topics(
            str(store.folder.roots[0]),
            store,
            topics=arguments.topic,
            queue_id=arguments.queue,
            offsets=arguments.offsets or (None, None),
        )
        if parts is None:
            scans += store.scans()
            continue
        for part in parts:
            if part.units is None:
                scans.append(scan_of(part))
                continue
            scans.append(
                QueuedScan(
                    files=part.files,
                    start=part.start,
                    stop=part.stop,
                    part=part,
                    tags=arguments.tag,
                )
            )
    return scans

"""The options that choose messages, as a ``Selection``, and the rows of a store that pass it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.nearest import did_you_mean
from rocketwire.sql92 import compile_expression
from rocketwire_tools.cli.file_program import NothingFoundError
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.opened import are_whole, open_stores
from rocketwire_tools.store.output import with_progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from rocketwire_tools.store.engine.scan import Block, LogScan
    from rocketwire_tools.store.opened import OpenedStore


def selection_of(arguments: argparse.Namespace) -> Selection:
    return Selection(
        topics=frozenset(arguments.topic),
        with_system=arguments.system,
        queue_id=arguments.queue,
        offsets=arguments.offsets or (None, None),
        physical=arguments.physical or (None, None),
        times=(arguments.begin, arguments.end),
        tags=frozenset(arguments.tag),
        key=arguments.key,
        message_id=arguments.message_id,
        matches=None if arguments.sql is None else compile_expression(arguments.sql),
        with_ghosts=arguments.ghosts,
    )


def describe_absence(stores: Iterable[OpenedStore], arguments: argparse.Namespace) -> str | None:
    """Return the error for an empty result; None if an empty result is no error.

    A topic that the store knows can be empty, and so can a range of offsets or times.
    """
    known_topics = {topic for store in stores for topic, _ in store.queue_names if arguments.topic}
    for topic in arguments.topic:
        if known_topics and topic not in known_topics:
            return f"the store has no topic {topic!r}{did_you_mean(topic, known_topics)}"
    bounds = ("queue", "offsets", "physical", "begin", "end", "sql")
    if any(getattr(arguments, bound) is not None for bound in bounds):
        return None
    topics: list[str] = [] if known_topics else arguments.topic
    names: list[str | None] = [*topics, *arguments.tag, arguments.key, arguments.message_id]
    searched = ", ".join(repr(name) for name in names if name)
    return f"no message has {searched}" if searched else None


class SelectedLogs:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self._selection = selection_of(arguments)
        self.stores = open_stores(arguments.paths)
        self._absence = describe_absence(self.stores, arguments)
        self.scans: list[LogScan] = []  # a pass through each log
        for store in self.stores:
            self.scans += store.scans()
            store.folder.queues.clear()  # 50 MB for 100,000 queues

    def rows(self, *, is_folded: bool = False, block_size: int = BLOCK_SIZE) -> Iterator[Rows]:
        """Yield the rows that pass; raises ``NothingFoundError`` at the end if none does."""
        topics, is_empty = TopicNames(), True
        for scan in self.scans:
            scan.block_size = block_size
            for rows in select_rows(
                with_progress(scan), self._selection, topics, is_folded=is_folded
            ):
                is_empty = False
                yield rows
        if is_empty and self._absence is not None:
            raise NothingFoundError(self._absence)

    @property
    def is_damaged(self) -> bool:
        return any(scan.is_damaged for scan in self.scans)

    @property
    def are_whole(self) -> bool:
        return are_whole(self.stores) and not self.is_damaged


def select_rows(
    blocks: Iterable[Block], selection: Selection, topics: TopicNames, *, is_folded: bool = False
) -> Iterator[Rows]:
    """Rows that pass a selection, block by block; each is valid until the next."""
    for block in blocks:
        rows = selection.apply(Rows(block, topics))
        if not len(rows):
            continue
        if not is_folded:
            rows = rows.unfold()
        passes = selection.messages_pass(rows)
        if passes.all():
            yield rows
        elif passes.any():
            yield rows.choose(passes)

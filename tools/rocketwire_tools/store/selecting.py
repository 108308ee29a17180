"""The options that choose messages, as a ``Selection``, and the rows of a store that pass it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocketwire.sql92 import compile_expression
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.output import with_progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from rocketwire_tools.store.engine.scan import Block, LogScan

    Range = tuple[int | None, int | None]


def selection_of(arguments: argparse.Namespace) -> Selection:
    """What the options of the group *which messages* ask for.

    Raises:
        ValueError: the SQL92 expression is invalid.
    """
    return chosen(
        topics=arguments.topic,
        system=arguments.system,
        queue_id=arguments.queue,
        offsets=arguments.offsets or (None, None),
        physical=arguments.physical or (None, None),
        times=(arguments.begin, arguments.end),
        tags=arguments.tag,
        key=arguments.key,
        message_id=arguments.message_id,
        sql=arguments.sql,
        ghosts=arguments.ghosts,
    )


def chosen(
    *,
    topics: Iterable[str],
    system: bool,
    queue_id: int | None,
    offsets: Range,
    physical: Range,
    times: Range,
    tags: Iterable[str],
    key: str | None,
    message_id: str | None,
    sql: str | None,
    ghosts: bool,
) -> Selection:
    """What options ask for, of the command or of another reader.

    Raises:
        ValueError: the SQL92 expression is invalid.
    """
    return Selection(
        topics=frozenset(topics),
        with_system=system,
        queue_id=queue_id,
        min_queue_offset=offsets[0],
        max_queue_offset=offsets[1],
        min_physical_offset=physical[0],
        max_physical_offset=physical[1],
        begin=times[0],
        end=times[1],
        tags=frozenset(tags),
        key=key,
        message_id=message_id,
        matches=None if sql is None else compile_expression(sql),
        with_ghosts=ghosts,
    )


def selected_rows(
    scan: LogScan, selection: Selection, topics: TopicNames, *, is_folded: bool = False
) -> Iterator[Rows]:
    """Rows of a log that pass a selection, with progress on a terminal; as ``passing_rows``."""
    return passing_rows(with_progress(scan), selection, topics, is_folded=is_folded)


def passing_rows(
    blocks: Iterable[Block], selection: Selection, topics: TopicNames, *, is_folded: bool = False
) -> Iterator[Rows]:
    """Rows that pass a selection, block by block; each is valid until the next.

    Args:
        blocks: of the log.
        selection: which rows.
        topics: names of topics, filled as they come.
        is_folded: whether an inner batch stays one row.
    """
    for block in blocks:
        rows = selection.apply(Rows(block, topics))
        if not len(rows):
            continue
        if not is_folded:
            rows = rows.unfolded()
        passes = selection.messages_pass(rows)
        if passes.all():
            yield rows
        elif passes.any():
            yield rows.picked(np.flatnonzero(passes))

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
    from collections.abc import Iterator

    from rocketwire_tools.store.engine.scan import LogScan


def selection_of(arguments: argparse.Namespace) -> Selection:
    """What the options of the group *which messages* ask for.

    Raises:
        ValueError: the SQL92 expression is invalid.
    """
    first, last = arguments.offsets or (None, None)
    begin, end = arguments.physical or (None, None)
    matches = None
    if arguments.sql is not None:
        matches = compile_expression(arguments.sql)
    return Selection(
        topics=frozenset(arguments.topic),
        with_system=arguments.system,
        queue_id=arguments.queue,
        min_queue_offset=first,
        max_queue_offset=last,
        min_physical_offset=begin,
        max_physical_offset=end,
        begin=arguments.begin,
        end=arguments.end,
        tags=frozenset(arguments.tag),
        key=arguments.key,
        message_id=arguments.message_id,
        matches=matches,
        with_ghosts=arguments.ghosts,
    )


def selected_rows(
    scan: LogScan, selection: Selection, topics: TopicNames, *, is_folded: bool = False
) -> Iterator[Rows]:
    """Rows of a log that pass a selection, block by block; each is valid until the next.

    Args:
        scan: of the log.
        selection: which rows.
        topics: names of topics, filled as they come.
        is_folded: whether an inner batch stays one row.
    """
    for block in with_progress(scan):
        rows = selection.apply(Rows(block, topics))
        if not len(rows):
            continue
        if not is_folded:
            rows = rows.unfolded()
        passes = selection.messages_pass(rows)
        if all(passes):
            yield rows
        elif any(passes):
            yield rows.picked(np.flatnonzero(passes))

"""The options that choose messages, as a ``Selection``, and the rows of a store that pass it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rocketwire.nearest import did_you_mean
from rocketwire.sql92 import compile_expression
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.output import with_progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Iterator

    from rocketwire_tools.store.engine.scan import Block, LogScan
    from rocketwire_tools.store.opened import OpenedStore

    Range = tuple[int | None, int | None]

T = TypeVar("T")


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


class NothingFoundError(ValueError):
    """No message has what the options name."""


def describe_absence(stores: Iterable[OpenedStore], arguments: argparse.Namespace) -> str | None:
    """What to say if no message is found; None if nothing is wrong with an empty result.

    A topic that the store knows can be empty, and so can a range of offsets or times.
    """
    known = {topic for store in stores for topic, _ in store.queue_names if arguments.topic}
    for topic in arguments.topic:
        if known and topic not in known:
            return f"the store has no topic {topic!r}{did_you_mean(topic, known)}"
    bounds = ("queue", "offsets", "physical", "begin", "end", "sql")
    if any(getattr(arguments, bound) is not None for bound in bounds):
        return None
    topics: list[str] = [] if known else arguments.topic
    names: list[str | None] = [*topics, *arguments.tag, arguments.key, arguments.message_id]
    searched = ", ".join(repr(name) for name in names if name)
    return f"no message has {searched}" if searched else None


def require_messages(
    pieces: Generator[T], absence: str | None, has_messages: Callable[[T], object] = bool
) -> Generator[T]:
    """Yield pieces; raises ``NothingFoundError`` at the end if none has a message.

    Args:
        pieces: of a result.
        absence: as ``describe_absence`` returns it.
        has_messages: whether a piece has one.
    """
    is_empty = True
    with closing(pieces):
        for piece in pieces:
            is_empty = is_empty and not has_messages(piece)
            yield piece
    if is_empty and absence is not None:
        raise NothingFoundError(absence)


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

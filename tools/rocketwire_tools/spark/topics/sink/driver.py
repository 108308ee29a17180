"""What the driver does when the tasks of a job or micro-batch have ended: commit or roll back."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from rocketwire_tools.spark.topics.sink.ending import end_transactions
from rocketwire_tools.spark.topics.sink.halves import Half, unpack
from rocketwire_tools.spark.topics.sink.journal import Journal
from rocketwire_tools.spark.topics.sink.task import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.spark.topics.sink.options import SinkSettings


def commit_job(settings: SinkSettings, packed: Sequence[bytes]) -> None:
    """Make the rows of a job visible.

    Args:
        settings: options.
        packed: half messages of each task.

    Raises:
        SinkError: a message could not be committed; others are visible.
    """
    if any(packed):
        _end(settings, commits=_unpack(packed))


def abort_job(settings: SinkSettings, packed: Sequence[bytes]) -> None:
    """Drop the rows of a job; what cannot be reached stays invisible."""
    if any(packed):
        _end(settings, rollbacks=_unpack(packed))


def abort_batch(settings: SinkSettings, packed: Sequence[bytes], batch: int) -> None:
    """Drop the rows of a micro-batch, except those that it was decided to commit.

    Spark calls it after a failed commit, too; the next attempt of the micro-batch goes on with it.
    """
    if any(packed):
        decided = set(_unpack(Journal(settings.checkpoint or "").decision(batch) or ()))
        _end(settings, rollbacks=[half for half in _unpack(packed) if half not in decided])


def commit_batch(settings: SinkSettings, packed: Sequence[bytes], batch: int) -> None:
    """Make the rows of a micro-batch visible, once, whatever driver began it.

    Args:
        settings: options, with ``checkpoint``.
        packed: half messages of each task.
        batch: number of the micro-batch.

    Raises:
        SinkError: a message could not be committed; the next attempt goes on with it.
    """
    journal = Journal(settings.checkpoint or "")
    earlier = journal.decision(batch)
    if earlier is None:
        if not any(packed):
            return
        journal.decide(batch, list(packed))
        _end(settings, commits=_unpack(packed))
    elif journal.is_done(batch):
        _end(settings, rollbacks=_unpack(packed))
        return
    else:
        _end(settings, commits=_unpack(earlier), rollbacks=_unpack(packed), may_be_ended=True)
    journal.finish(batch)


def _unpack(packed: Iterable[bytes]) -> Iterator[Half]:
    return chain.from_iterable(map(unpack, packed))


def _end(
    settings: SinkSettings,
    *,
    commits: Iterable[Half] = (),
    rollbacks: Iterable[Half] = (),
    may_be_ended: bool = False,
) -> None:
    async def end() -> None:
        await end_transactions(settings, commits, rollbacks, may_be_ended=may_be_ended)

    run(end)

"""Parts of a commit log, some of which queues lead to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocketwire.store.folder import files_between
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.ghosts import LogTrail
from rocketwire_tools.store.engine.scan import LogScan, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.store.folder import StoreFile


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRange:
    """Units of a queue, one after the other.

    Attributes:
        topic: of the queue.
        queue_id: of the queue.
        files: of the queue, by offset.
        start: queue offset of the first unit.
        stop: queue offset after the last one.
    """

    topic: str
    queue_id: int
    files: tuple[StoreFile, ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """A part of a commit log.

    Attributes:
        store: path of the store.
        files: of the log, by offset; those that the part needs.
        is_dledger: whether entries of DLedger hold the messages.
        start: offset of its first record.
        stop: offset of the first record after it.
        state: of the message at ``start``.
        newest: last store timestamp of the messages before it.
        units: units that lead to all its messages of the chosen topics; None to read all of it.
    """

    store: str
    files: tuple[StoreFile, ...]
    is_dledger: bool = False
    start: int
    stop: int
    state: State = State.LIVE
    newest: int = 0
    units: tuple[UnitRange, ...] | None = None

    @property
    def whole_size(self) -> int:
        """Bytes to read; of units only their own."""
        if self.units is None:
            return self.stop - self.start
        return 20 * sum(units.stop - units.start for units in self.units)


def scan_of(part: LogPart, *, block_size: int = BLOCK_SIZE) -> LogScan:
    """Return a pass through a part."""
    scan = LogScan(
        files=part.files,
        is_dledger=part.is_dledger,
        block_size=block_size,
        start=part.start,
        stop=part.stop,
    )
    scan.resume(part.state, LogTrail(part.newest))
    return scan


def between(starts: Sequence[LogPart], stop: int) -> list[LogPart]:
    """Parts that end where the next begins, the last one at ``stop``."""
    stops = [part.start for part in starts[1:]] + [stop]
    return [
        replace(part, stop=end, files=tuple(files_between(part.files, part.start, end)))
        for part, end in zip(starts, stops, strict=True)
        if part.start < end
    ]

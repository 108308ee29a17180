"""The parts of a store that tasks read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire_tools.store.engine.scan import State

if TYPE_CHECKING:
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

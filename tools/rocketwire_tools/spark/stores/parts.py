"""Parts of a commit log, each of which one task reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocketwire.store.folder import files_between
from rocketwire_tools.store.engine.scan import LogScan, LogTrail, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.store.folder import StoreFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    store: str  # path of the store
    files: tuple[StoreFile, ...]  # of the log, by offset; those that the part needs
    start: int  # offset of its first record
    stop: int  # offset of the first record after it
    state: State = State.LIVE  # of the message at ``start``
    newest: int = 0  # last store timestamp of the messages before it

    @property
    def whole_size(self) -> int:
        """Bytes to read."""
        return self.stop - self.start


def scan_of(part: LogPart, *, block_size: int) -> LogScan:
    scan = LogScan(files=part.files, block_size=block_size, start=part.start, stop=part.stop)
    scan.resume(part.state, LogTrail(part.newest))
    return scan


def parts_between(starts: Sequence[LogPart], stop: int) -> list[LogPart]:
    """Return parts that end where the next begins, the last one at ``stop``."""
    stops = [part.start for part in starts[1:]] + [stop]
    return [
        replace(part, stop=end, files=tuple(files_between(part.files, part.start, end)))
        for part, end in zip(starts, stops, strict=True)
        if part.start < end
    ]

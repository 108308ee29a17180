"""Where a Java broker would cut the log at its next start, and what it would give up.

A broker reads the newest files of the log only, and cuts it at the first record there that is no
message.  Which files it reads depends on its release; these are the usual ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.store.checks.view import NextStart
from rocketwire_tools.store.engine.scan import RegionKind

if TYPE_CHECKING:
    from rocketwire_tools.store.checks.view import StoreView

_READ_FILES: Final = 3
"""Files that a broker reads which was shut down cleanly (Java: ``CommitLog.recoverNormally``)."""

_NO_RECORD: Final = (RegionKind.END, RegionKind.HOLE, RegionKind.DAMAGE)


def find_next_start(view: StoreView) -> NextStart | None:
    """Find where a broker would cut the log that was read; None if not all of it was read."""
    scan, log, store = view.scan, view.log, view.store
    if scan is None or view.unread or view.is_in_use:
        return None
    is_clean = store.abort is None
    offsets = [file.offset for file in scan.files]
    start = offsets[-_READ_FILES:][0] if is_clean else _first_unflushed(view, offsets)
    positions = [region.start for region in scan.regions if region.kind in _NO_RECORD]
    positions += log.broken.values()
    cut = min((position for position in positions if position >= start), default=log.end)
    return NextStart(is_clean, cut, *log.count_from(cut))


def _first_unflushed(view: StoreView, offsets: list[int]) -> int:
    """Offset of the first file that a broker reads that was killed."""
    checkpoint = view.store.checkpoint
    for offset in reversed(offsets):
        stored = view.log.first_stored.get(offset)
        if checkpoint is None or stored is None:
            continue
        if checkpoint.queue_physical_offset > 0:
            is_flushed = offset <= checkpoint.queue_physical_offset
        else:
            is_flushed = stored <= checkpoint.min_timestamp
        if is_flushed:
            return offset
    return offsets[0]

"""How far a stream has read the logs of stores, and how far it can read now.

Rules of this file: an offset is plain JSON: the log → where to go on, the state there, and the last
store timestamp.  The last message of a log may still be written.  It counts if a unit of its queue
points to it, or if its checksum holds and its bytes are the same at two looks.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.store import dledger
from rocketwire.store.folder import files_between
from rocketwire_tools.spark.sizing import part_size
from rocketwire_tools.spark.stores.planning import (
    LARGEST_PART,
    SMALLEST_PART,
    DamageError,
    Plan,
    opened_stores,
    survey,
)
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.scan import State
from rocketwire_tools.store.lookup import at_physical_offset, queue_unit
from rocketwire_tools.store.queued.parts import between, scan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.spark.stores.options import Settings
    from rocketwire_tools.store.opened import OpenedStore
    from rocketwire_tools.store.queued.parts import LogPart

Offset: TypeAlias = dict[str, dict[str, Any]]
"""Log → ``offset``, ``state`` and ``newest``, as of ``LogPart``."""
Cuts: TypeAlias = dict[str, tuple[int, list["LogPart"]]]
"""Log → the offset up to which ``latest`` has read it, and parts that begin where it may be cut."""

_BETWEEN_LOOKS: Final = 0.1
"""Seconds; a broker writes a message at once."""
_SMALLEST_BLOCK: Final = 64 << 10


def ends(settings: Settings) -> dict[str, int]:
    """Return the offset after the last message of each log."""
    return {
        name: Plan(name, store, settings, LARGEST_PART).end_of(log)
        for name, store, log in _logs(settings)
    }


def latest(
    settings: Settings,
    start: Offset,
    max_bytes: int,
    until: dict[str, int] | None = None,
    cuts: Cuts | None = None,
) -> Offset:
    """Return how far the logs can be read.

    Args:
        settings: options.
        start: from where they are read.
        max_bytes: of all logs together, about; 0 for no limit.
        until: offsets after which nothing is read; None for no limit.
        cuts: gets the cuts, so that ``parts_between`` need not read the logs again.

    Raises:
        DamageError: files were deleted that the stream had to read, and ``mode`` is ``FAILFAST``;
            or a log ends before the place that the stream has reached.
    """
    places = dict(start)
    logs = list(_logs(settings))
    for name, store, log in logs:
        rest = _rest(log, start.get(name), settings)
        if until is not None:
            rest = replace(rest, stop=min(rest.stop, until.get(name, rest.start)))
        places[name], starts = _reached(
            store, rest, -(-max_bytes // len(logs)), _size_of_parts(rest, settings)
        )
        if cuts is not None:
            cuts[name] = places[name]["offset"], starts
    return places


def parts_between(
    settings: Settings, start: Offset, end: Offset, cuts: Cuts | None = None
) -> list[LogPart]:
    """Return the parts of a micro-batch.

    Args:
        settings: options.
        start: where the micro-batch begins in the logs.
        end: where it ends.
        cuts: from ``latest``, which are taken for logs with the same start and end.

    Raises:
        DamageError: as of ``latest``.
    """
    planned: list[LogPart] = []
    logs = {name: log for name, _, log in _logs(settings)}
    for name, place in end.items():
        if name not in logs:
            _report(f"{name}: the store is gone", settings)
            continue
        rest = _rest(logs[name], start.get(name), settings)
        rest = replace(rest, stop=place["offset"])
        known_end, starts = (cuts or {}).get(name, (-1, []))
        size = _size_of_parts(rest, settings)
        if known_end == rest.stop and starts[0].start == rest.start:
            planned += between([part for part in starts if part.start < rest.stop], rest.stop)
        elif rest.stop - rest.start > size:
            planned += survey(rest, size).parts
        elif rest.start < rest.stop:
            files_of_rest = tuple(files_between(rest.files, rest.start, rest.stop))
            planned.append(replace(rest, files=files_of_rest))
    return planned


def _size_of_parts(rest: LogPart, settings: Settings) -> int:
    files = [str(file.path) for file in rest.files]
    return part_size(files, settings.split_size, smallest=SMALLEST_PART, largest=LARGEST_PART)


def _logs(settings: Settings) -> Iterator[tuple[str, OpenedStore, LogPart]]:
    for path, store in opened_stores(settings, may_be_none=True).items():
        for log in Plan(path, store, settings, LARGEST_PART).logs():
            name = f"{path} (DLedger)" if log.is_dledger and store.folder.commit_log else path
            yield name, store, log


def _rest(log: LogPart, place: dict[str, Any] | None, settings: Settings) -> LogPart:
    """What a stream has not read of a log."""
    if place is None:
        return log
    offset = place["offset"]
    if offset > log.stop:
        raise DamageError(
            f"{log.store}: the log ends at {log.stop}, and the stream has read it to {offset}"
        )
    if offset < log.start:
        _report(
            f"{log.store}: the files from offset {offset} to {log.start} were deleted before the"
            " stream read them",
            settings,
        )
    start = max(offset, log.start)
    return replace(
        log,
        files=tuple(files_between(log.files, start, log.stop)),
        start=start,
        state=State(place["state"]),
        newest=place["newest"],
    )


def _reached(
    store: OpenedStore, rest: LogPart, max_bytes: int, size: int
) -> tuple[dict[str, Any], list[LogPart]]:
    """The place after the last whole message, or after the first ones with ``max_bytes``.

    With it come parts of about ``size`` bytes, as ``survey`` cuts them.
    """
    starts = [rest]
    last, end, state, newest = None, rest.start, rest.state, rest.newest
    block_size = min(BLOCK_SIZE, size, max(_SMALLEST_BLOCK, max_bytes or BLOCK_SIZE))
    scan = scan_of(rest, block_size=block_size)
    for block in scan:
        if block.base - starts[-1].start >= size:
            starts.append(replace(rest, start=block.base, state=block.state, newest=newest))
        if block.state is State.GHOST:
            continue
        newest = scan.trail.newest
        state = block.state
        last = block.base + int(block.messages.positions[-1])
        end = last + int(block.messages.sizes[-1])
        if max_bytes and end - rest.start >= max_bytes:
            break
    if last is not None and not _is_whole(store, last):
        end = last - (dledger.HEAD_SIZE if rest.is_dledger else 0)
    return {"offset": end, "state": str(state), "newest": newest}, starts


def _is_whole(store: OpenedStore, offset: int) -> bool:
    """Whether the last message of a log has been written to its end."""
    message = at_physical_offset(store, offset, "log")
    if message is None:
        return False
    rows = message.rows()
    topic, queue_id = rows.column("topic")[0], int(rows.column("queue_id")[0])
    unit = queue_unit(store, topic, queue_id, int(rows.column("queue_offset")[0]))
    if unit is not None and unit.physical_offset == offset:
        return True
    time.sleep(_BETWEEN_LOOKS)
    again = at_physical_offset(store, offset, "log")
    return bool(rows.crc_holds[0]) and again is not None and again.data == message.data


def _report(message: str, settings: Settings) -> None:
    """Report messages that a stream can no longer read."""
    if settings.mode == "failfast":
        raise DamageError(message)
    print(f"rocketmq-store: {message}", file=sys.stderr)

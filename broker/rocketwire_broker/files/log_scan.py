"""Reading a commit log from its first message to its last, at the start.

As in Java, the first bytes of the last file that are no message end the log. Java leaves the bytes
after them, and may take them for messages after its next kill. This broker copies them into
``cut/`` if there are messages in them, and replaces them by zeros.

Java also gives up all messages after damage in an earlier file, if it reads that file at its start.
This broker copies the damage into ``cut/`` and overwrites it with messages of no queue, so that
neither broker gives up the messages after it.

Java: ``CommitLog.recoverAbnormally``, ``CommitLog.checkMessageAndReturnSize``.
"""

from __future__ import annotations

import logging
import mmap
import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rocketwire.store.commit_log import blank_size, body_crc_holds, message_parts, next_message
from rocketwire.store.writer import blank, filler
from rocketwire_broker.files.log_files import LogFiles, name_of

if TYPE_CHECKING:
    from rocketwire.store.commit_log import MessageParts
    from rocketwire_broker.files.disk import Disk

LOGGER: Final = logging.getLogger("rocketwire.broker")

ASIDE: Final = "cut"  # folder of the bytes that were cut from the log

_PIECE: Final = 1 << 20


class Entry(NamedTuple):
    parts: MessageParts
    topic: bytes
    properties: bytes


class End(NamedTuple):
    position: int  # in the file
    is_full: bool  # whether a blank fills the rest


def scan(disk: Disk, log: LogFiles) -> Iterator[Entry]:
    """Yield the messages of a log; afterwards its end is known, and only zeros follow."""
    starts = list(log.starts())
    for index, start in enumerate(starts):
        later_files = starts[index + 1 :]
        end = End(0, is_full=False)
        while True:
            with _map_file(disk, start) as data:
                end = yield from _messages(data, start, end.position)
            if end.is_full or not _goes_on(disk, later_files):
                break
            end = _mend(disk, start, end.position)
        log.end = start + (log.file_size if end.is_full else end.position)
        if end.is_full:
            continue
        _put_aside(disk, start, end.position)
        for later in later_files:
            _put_file_aside(disk, later)
            log.forget(later)
        return


def _map_file(disk: Disk, start: int, size: int = 0) -> mmap.mmap:
    with (disk.root / name_of(start)).open("rb") as file:
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)


def _messages(data: mmap.mmap, start: int, position: int) -> Generator[Entry, None, End]:
    size = len(data)
    view = memoryview(data)
    try:
        while True:
            entry = entry_at(view, position, start)
            if entry is None:
                is_full = position == size or blank_size(view, position) == size - position
                return End(position, is_full)
            yield entry
            position += entry.parts.size
    finally:
        view.release()


def entry_at(view: memoryview, position: int, start: int) -> Entry | None:
    parts = message_parts(view, position)
    if parts is None or parts.physical_offset != start + position:
        return None
    end = position + parts.size
    # a kill may have left a part of the last message, and its properties have no checksum
    if not body_crc_holds(view, parts) or (parts.properties_size and not view[end - 1]):
        return None
    topic = bytes(view[parts.topic : parts.topic + parts.topic_size])
    return Entry(parts, topic, bytes(view[parts.properties : end]))


def _goes_on(disk: Disk, starts: list[int]) -> bool:
    for start in starts:
        with _map_file(disk, start) as data, memoryview(data) as view:
            if entry_at(view, 0, start) is not None:
                return True
    return False


def _mend(disk: Disk, start: int, position: int) -> End:
    # Messages of no queue, or a blank, take the place of damage inside the log.
    name = name_of(start)
    with _map_file(disk, start) as data:
        size = len(data)
        following = next_message(cast("bytes", data), position + 1, start)
        end = size if following is None else following
        with memoryview(data) as view:
            entry = None if following is None else entry_at(view, following, start)
    _copy_aside(disk, start, position, end)
    LOGGER.warning("%s: bytes %d to %d are no message, they are put aside", name, position, end)
    if following is None:
        disk.write(name, position, blank(size - position), size)
    else:
        time = 0 if entry is None else entry.parts.store_time
        filling = filler(start + position, end - position, time)
        if filling is not None:
            disk.write(name, position, filling, size)
    return End(end, is_full=False)


def _put_aside(disk: Disk, start: int, position: int) -> None:
    name = name_of(start)
    last = _last_byte(disk, name, position)
    if last <= position:
        return
    count = _count_messages(disk, start, position, last)
    if count:
        copy = _copy_aside(disk, start, position, last)
        LOGGER.warning(
            "%s: %d messages behind the end at %d are in no queue, they are put aside into %s",
            *(name, count, position, copy),
        )
    disk.clear_from(name, position)


def _count_messages(disk: Disk, start: int, position: int, end: int) -> int:
    count = 0
    with _map_file(disk, start, end) as data, memoryview(data) as view:
        following = next_message(cast("bytes", data), position, start)
        while following is not None:
            entry = entry_at(view, following, start)
            count += entry is not None
            step = 1 if entry is None else entry.parts.size
            following = next_message(cast("bytes", data), following + step, start)
    return count


def _copy_aside(disk: Disk, start: int, position: int, end: int) -> str:
    copy = f"{ASIDE}/{start + position:020d}"
    for offset in range(position, end, _PIECE):
        piece = disk.read(name_of(start), offset, min(_PIECE, end - offset))
        disk.write(copy, offset - position, piece, 0)
    return copy


def _put_file_aside(disk: Disk, start: int) -> None:
    name = name_of(start)
    last = _last_byte(disk, name, 0)
    if last:
        count, copy = _count_messages(disk, start, 0, last), f"{ASIDE}/{start:020d}"
        disk.move(name, copy)
        LOGGER.warning(
            "%s is behind the end of the log, it is put aside into %s with %d messages",
            *(name, copy, count),
        )
    else:
        disk.remove(name)


def _last_byte(disk: Disk, name: str, position: int) -> int:
    # holes in the file have no data, so a search of all bytes would read gigabytes of zeros
    path = disk.root / name
    last = position
    with path.open("rb") as file:
        descriptor = file.fileno()
        while True:
            try:
                data = os.lseek(descriptor, position, os.SEEK_DATA)
            except OSError:  # the rest is a hole
                return last
            piece = os.pread(descriptor, _PIECE, data)
            if not piece:
                return last
            used = len(piece.rstrip(b"\0"))
            if used:
                last = data + used
            position = data + len(piece)

"""Reading a commit log from its first message to its last, at the start.

As in Java, the first bytes that are no message end the log. Java leaves what stands behind them,
and may take it for messages after its next kill; here it is put aside into ``cut/`` if there are
messages in it, and replaced by zeros.

Java: ``CommitLog.recoverAbnormally``, ``CommitLog.checkMessageAndReturnSize``.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Generator, Iterator
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.store.commit_log import (
    MAX_MESSAGE_SIZE,
    blank_size,
    message_parts,
    next_message,
)
from rocketwire.wire.checksum import crc32
from rocketwire_broker.files.log_files import LogFiles, name_of

if TYPE_CHECKING:
    from rocketwire_broker.files.disk import Disk

ASIDE: Final = "cut"
"""Folder of bytes that stood behind the end of the log."""

_HEAD: Final = Struct(">8x4xi4xqqi").unpack_from
"""Queue id, queue offset, physical offset, ``sys_flag``."""
_INT64: Final = Struct(">q").unpack_from
_PIECE: Final = 1 << 20


class Entry(NamedTuple):
    """A message of the log.

    Attributes:
        physical: its physical offset.
        size: its bytes.
        topic: bytes of its topic.
        queue_id, queue_offset: its place.
        sys_flag: bits of ``MessageSysFlag``.
        store_time: milliseconds since 1970.
        prepared: physical offset of the half message that it ends.
        properties: bytes of its properties.
    """

    physical: int
    size: int
    topic: bytes
    queue_id: int
    queue_offset: int
    sys_flag: int
    store_time: int
    prepared: int
    properties: bytes


class End(NamedTuple):
    """Where the messages of a file end.

    Attributes:
        position: in the file.
        is_full: whether a blank fills the rest.
    """

    position: int
    is_full: bool


def scan(disk: Disk, log: LogFiles) -> Iterator[Entry]:
    """Yield the messages of a log; afterwards its end is known and nothing stands behind it.

    Raises:
        OSError: the disk fails.
    """
    starts = list(log.starts())
    for number, start in enumerate(starts):
        with _mapped(disk, start) as data:
            end = yield from _messages(data, start)
        log.end = start + (log.file_size if end.is_full else end.position)
        if end.is_full:
            continue
        _put_aside(disk, start, end.position)
        for later in starts[number + 1 :]:
            _put_file_aside(disk, later)
            log.forget(later)
        return


def _mapped(disk: Disk, start: int) -> mmap.mmap:
    with (disk.root / name_of(start)).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _messages(data: mmap.mmap, start: int) -> Generator[Entry, None, End]:
    """Yield the messages of a file; the generator's value is their ``End``."""
    position, size = 0, len(data)
    view = memoryview(data)
    try:
        while True:
            entry = _entry(view, position, start)
            if entry is None:
                return End(position, blank_size(view, position) == size - position)
            yield entry
            position += entry.size
    finally:
        view.release()


def _entry(view: memoryview, position: int, start: int) -> Entry | None:
    parts = message_parts(view, position)
    if parts is None or parts.physical_offset != start + position:
        return None
    topic = parts.topic
    if parts.body_size > 0:
        body = view[parts.body : parts.body + parts.body_size]
        if crc32(body) != parts.body_crc & 0x7FFFFFFF:
            return None
    end = position + parts.size
    # a kill may have left a part of the last message, and its properties have no checksum
    if parts.properties_size and not view[end - 1]:
        return None
    queue_id, queue_offset, _, sys_flag = _HEAD(view, position)
    prepared = parts.body - 12
    store_time = position + (68 if sys_flag & 0x10 else 56)
    return Entry(
        parts.physical_offset,
        parts.size,
        bytes(view[topic : topic + parts.topic_size]),
        queue_id,
        queue_offset,
        sys_flag,
        _INT64(view, store_time)[0],
        _INT64(view, prepared)[0],
        bytes(view[parts.properties : end]),
    )


# ---------------------------------------------------------------------------- behind the end


def _put_aside(disk: Disk, start: int, position: int) -> None:
    """Replace what stands behind the end by zeros; messages there are put aside before."""
    name = name_of(start)
    last = _last_byte(disk, name, position)
    if last <= position:
        return
    tail = disk.read(name, position, min(last - position, MAX_MESSAGE_SIZE + _PIECE))
    if next_message(tail, 0, start + position) is not None:
        copy = f"{ASIDE}/{start + position:020d}"
        for place in range(position, last, _PIECE):
            piece = disk.read(name, place, min(_PIECE, last - place))
            disk.write(copy, place - position, piece, 0)
    disk.clear_from(name, position)


def _put_file_aside(disk: Disk, start: int) -> None:
    """Remove a file behind the end, unless messages may be in it; then it is moved."""
    name = name_of(start)
    if _last_byte(disk, name, 0):
        disk.move(name, f"{ASIDE}/{start:020d}")
    else:
        disk.remove(name)


def _last_byte(disk: Disk, name: str, position: int) -> int:
    """Return the position after the last byte of a file that is not zero; ``position`` if none."""
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

"""The journal of a replay: how far each queue of the store has been sent.

Lines of JSON.  The first line has the options that choose messages, each other one the progress of
a queue; of several lines of a queue the last one counts.  A queue gets a line before its first
message is sent, and then at most one a second.  A process that is killed loses what it has sent
since: the target is then searched for these messages.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.durable_file import open_replacement, write_all
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FORMAT: Final = 2
INTERVAL: Final = 1.0  # seconds between two writes
_FEW: Final = 10_000  # lines beyond one for each queue after which the journal is written anew


class JournalLane(msgspec.Struct):
    topic: str  # in the store
    queue_id: int
    target: tuple[str, str, int]  # topic, broker and queue id
    cluster: str  # of the target
    next_offset: int  # smallest queue offset that the next message can have at the target
    # of the last message that is done, in the order of the log; None before the first
    position: tuple[int, int] | None = None

    @property
    def queue(self) -> MessageQueue:
        topic, broker, queue_id = self.target
        return MessageQueue(topic=topic, broker_name=broker, queue_id=queue_id)

    def has_done(self, position: tuple[int, int]) -> bool:
        return self.position is not None and position <= self.position


class _FirstLine(msgspec.Struct):
    replay: int
    selection: dict[str, Any]


class Journal:
    """Progress of a replay, in a file or only in memory.

    Raises ``ValueError`` if the file is no journal, is in use, or has other options.
    """

    def __init__(
        self, path: Path | None, selection: dict[str, Any], *, is_read_only: bool = False
    ) -> None:
        self.lanes: dict[tuple[str, int], JournalLane] = {}  # topic and queue of the store → lane
        # seconds since the file was changed before it was opened; None for a new one
        self.age: float | None = None
        self._path = None if is_read_only else path
        self._first_line = _FirstLine(FORMAT, selection)
        self._descriptor = -1
        self._changed: dict[tuple[str, int], JournalLane] = {}
        self._lines = 0
        self._written = time.monotonic()
        if self._path is not None:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if self._path is not None:
                _lock(self._descriptor, self._path)
            if path is not None and path.exists() and path.stat().st_size:
                self._read(path)
            self._rewrite()
        except BaseException:
            self._close()
            raise

    def _read(self, path: Path) -> None:
        first, *lines = path.read_bytes().splitlines(keepends=True)
        try:
            head = msgspec.json.decode(first, type=_FirstLine)
        except (msgspec.DecodeError, UnicodeDecodeError):
            head = None
        if head is None or head.replay != FORMAT or not first.endswith(b"\n"):
            raise ValueError(f"{path} is no journal of a replay")
        if head.selection != self._first_line.selection:
            texts = [
                msgspec.json.encode(each.selection).decode() for each in (head, self._first_line)
            ]
            raise ValueError(
                f"{path} is the journal of another replay, with the options {' not '.join(texts)}"
            )
        self.age = max(0.0, time.time() - path.stat().st_mtime)
        for line in lines:
            try:
                lane = msgspec.json.decode(line, type=JournalLane)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return  # half a line of a process that was killed
            self.lanes[lane.topic, lane.queue_id] = lane

    def add_lane(self, lane: JournalLane) -> None:
        self.lanes[lane.topic, lane.queue_id] = lane
        self._append([lane])

    def note(self, lane: JournalLane, position: tuple[int, int], offset: int | None) -> None:
        lane.position = position
        if offset is not None:
            lane.next_offset = offset + 1
        self._changed[lane.topic, lane.queue_id] = lane
        if time.monotonic() - self._written >= INTERVAL:
            self._write_changes()

    def _write_changes(self) -> None:
        if self._lines > _FEW + len(self.lanes):
            self._rewrite()
        else:
            self._append(self._changed.values())
        self._changed.clear()
        self._written = time.monotonic()

    def _append(self, lines: Iterable[object]) -> None:
        if self._path is not None:
            self._write(self._descriptor, lines)
            os.fsync(self._descriptor)

    def _write(self, descriptor: int, lines: Iterable[object]) -> None:
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        write_all(descriptor, data)
        self._lines += data.count(b"\n")

    def _rewrite(self) -> None:
        if self._path is None:
            return
        with open_replacement(self._path, 0o644, suffix=".new") as descriptor:
            _lock(descriptor, self._path)
            self._lines = 0
            self._write(descriptor, [self._first_line, *self.lanes.values()])
            new = os.dup(descriptor)
        os.close(self._descriptor)
        self._descriptor = new

    def close(self) -> None:
        try:
            self._write_changes()
        finally:
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path} is in use by another replay") from None

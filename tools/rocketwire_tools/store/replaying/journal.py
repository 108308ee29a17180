"""The journal of a replay: how far each queue of the store has been sent.

Lines of JSON.  The first line says what is replayed.  A line with ``lane`` gives a queue of the
store its queue of the target.  All others are the last message of a lane that is done:
``[lane, physical offset, batch index, queue offset at the target, digest]``, with -1 for a message
that the target refused.  A lane sends its messages one after another, in the order of the log: its
last line stands for all before it.

A killed process can leave half a line, and a machine that went down can lose lines after the last
one with ``lane``: reading ends at the first line that is none.  The target is then searched for
messages that the journal does not have.
"""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT: Final = 1
MAX_LINES: Final = 200_000
"""Lines after which the journal is written anew, with the last lines of each lane."""


REFUSED: Final = -1
"""Queue offset of a message that the target refused."""


class Progress(NamedTuple):
    """A message of a lane that is done.

    Attributes:
        physical_offset, batch_index: its place in the store.
        target_offset: its queue offset at the target, or ``REFUSED``.
        digest: of the stored record.
    """

    physical_offset: int
    batch_index: int
    target_offset: int
    digest: str

    @property
    def position(self) -> tuple[int, int]:
        """Place in the order of the log."""
        return self.physical_offset, self.batch_index


class FirstMessage(NamedTuple):
    """The first message of a store: its physical offset, and the digest of its record."""

    physical_offset: int
    digest: str


@dataclass(slots=True)
class JournalLane:
    """A queue of the store and its queue of the target.

    Attributes:
        number: of the lane, from 0.
        topic, queue_id: in the store.
        queue: of the target.
        cluster: of the target.
        begin: queue offset at the target before the first message was sent.
        last: the last message that is done; None before the first.
        stored: the last message that the target has; None before the first.
    """

    number: int
    topic: str
    queue_id: int
    queue: MessageQueue
    cluster: str
    begin: int
    last: Progress | None = None
    stored: Progress | None = None

    @property
    def next_offset(self) -> int:
        """Smallest queue offset that the lane's next message can have at the target."""
        return self.begin if self.stored is None else self.stored.target_offset + 1

    def advance(self, progress: Progress) -> None:
        """Take over the next message that is done."""
        self.last = progress
        if progress.target_offset != REFUSED:
            self.stored = progress


class Journal:
    """Progress of a replay, in a file or only in memory.

    Attributes:
        lanes: topic and queue of the store → lane.
        store: first message of the store when the journal was created.
        age: seconds since the file was changed before it was opened; None for a new one.
    """

    def __init__(
        self,
        path: Path | None,
        selection: dict[str, Any],
        store: FirstMessage | None,
        *,
        is_read_only: bool = False,
    ) -> None:
        """Open or create a journal.

        Args:
            path: the file; None for none.
            selection: options that choose messages; those of the file must be equal.
            store: its first message, for a new journal.
            is_read_only: read the file if it exists, and write nothing.

        Raises:
            ValueError: the file is no journal, belongs to another replay, or is in use.
            OSError: it cannot be read or written.
        """
        self.lanes: dict[tuple[str, int], JournalLane] = {}
        self.age: float | None = None
        self._by_number: list[JournalLane] = []
        self._path = path
        self._selection = selection
        self.store = store
        self._descriptor = -1
        self._lines = 0
        if path is None or (is_read_only and not path.exists()):
            self._path = None
            return
        flags = os.O_RDONLY if is_read_only else os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
        try:
            self._open(path, is_read_only=is_read_only)
        except BaseException:
            os.close(self._descriptor)
            raise
        if is_read_only:
            self._path = None
            self.close()

    def _open(self, path: Path, *, is_read_only: bool) -> None:
        if not is_read_only:
            _lock(self._descriptor, path)
        end = self._read(path)
        if is_read_only:
            return
        os.ftruncate(self._descriptor, end)
        if not end:
            self._write(self._first_line)

    def _read(self, path: Path) -> int:
        """Read the file; returns where its last whole line ends."""
        end = 0
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            first = file.readline()
            if first:
                self._take_first_line(path, first)
                self.age = max(0.0, time.time() - status.st_mtime)
                end = len(first)
            for line in file:
                if not line.endswith(b"\n") or not self._apply(line):
                    break
                end += len(line)
                self._lines += 1
        return end

    def _take_first_line(self, path: Path, line: bytes) -> None:
        try:
            first = msgspec.json.decode(line, type=_FirstLine)
        except (msgspec.DecodeError, UnicodeDecodeError):
            first = None
        if first is None or first.replay != FORMAT or not line.endswith(b"\n"):
            raise ValueError(f"{path} is no journal of a replay")
        if first.selection != self._selection:
            raise ValueError(
                f"{path} is the journal of another replay, with the options"
                f" {_text(first.selection)}, not {_text(self._selection)}"
            )
        self.store = first.store

    @property
    def _first_line(self) -> _FirstLine:
        return _FirstLine(replay=FORMAT, selection=self._selection, store=self.store)

    def _apply(self, line: bytes) -> bool:
        """Take over a line; returns whether it is one."""
        try:
            value = _LINE.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        if isinstance(value, _LaneLine):
            topic, queue_id = value.source
            name, broker, target_id = value.target
            queue = MessageQueue(topic=name, broker_name=broker, queue_id=target_id)
            number = len(self._by_number)
            lane = JournalLane(number, topic, queue_id, queue, value.cluster, value.begin)
            self._by_number.append(lane)
            self.lanes[topic, queue_id] = lane
            return True
        number, *_ = value
        if not 0 <= number < len(self._by_number):
            return False
        self._by_number[number].advance(Progress(*value[1:]))
        return True

    # -------------------------------------------------------------- writing

    def add_lane(
        self, topic: str, queue_id: int, queue: MessageQueue, cluster: str, begin: int
    ) -> JournalLane:
        """Add a queue of the store; for the arguments see ``JournalLane``."""
        lane = JournalLane(len(self.lanes), topic, queue_id, queue, cluster, begin)
        self.lanes[topic, queue_id] = lane
        self._by_number.append(lane)
        self._write(_lane_line(lane))
        self._flush()  # a continued replay searches from ``begin`` on
        return lane

    def add(self, lane: JournalLane, progress: Progress) -> None:
        """Note a message that is done.

        Raises:
            OSError: the line cannot be written.
        """
        lane.advance(progress)
        self._lines += 1
        if self._lines > MAX_LINES:
            self._rewrite()
        else:
            self._write([lane.number, *progress])

    def _flush(self) -> None:
        if self._path is not None:
            os.fsync(self._descriptor)

    def _write(self, value: object) -> None:
        if self._path is not None:
            _write_all(self._descriptor, _encoded(value))

    def _rewrite(self) -> None:
        """Replace the file by one with the last lines of each lane."""
        self._lines = 0
        if self._path is None:
            return
        path = self._path.with_name(f"{self._path.name}.new")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        try:
            _lock(descriptor, path)
            for line in (self._first_line, *self._all_lines()):
                _write_all(descriptor, _encoded(line))
            os.fsync(descriptor)
            path.replace(self._path)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(self._descriptor)
        self._descriptor = descriptor

    def _all_lines(self) -> Iterator[object]:
        for lane in self.lanes.values():
            yield _lane_line(lane)
            for progress in dict.fromkeys((lane.stored, lane.last)):
                if progress is not None:
                    yield [lane.number, *progress]

    def close(self) -> None:
        """Flush the file to the disk and close it."""
        if self._descriptor >= 0:
            self._flush()
            os.close(self._descriptor)
            self._descriptor = -1


class _FirstLine(msgspec.Struct):
    replay: int
    selection: dict[str, Any]
    store: FirstMessage | None


class _LaneLine(msgspec.Struct):
    lane: int
    source: tuple[str, int]
    target: tuple[str, str, int]
    cluster: str
    begin: int


_ProgressLine: TypeAlias = tuple[int, int, int, int, str]
_LINE: Final[msgspec.json.Decoder[_LaneLine | _ProgressLine]] = msgspec.json.Decoder(
    _LaneLine | _ProgressLine
)


def _lane_line(lane: JournalLane) -> _LaneLine:
    queue = lane.queue
    return _LaneLine(
        lane=lane.number,
        source=(lane.topic, lane.queue_id),
        target=(queue.topic or "", queue.broker_name or "", queue.queue_id),
        cluster=lane.cluster,
        begin=lane.begin,
    )


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path} is in use by another replay") from None


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _encoded(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]

"""DLedger's entries against their index, and the logs of compacted topics against their queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.store import consume_queue, dledger
from rocketwire.store.folder import file_at
from rocketwire_tools.store.checks.findings import Finding, FindingKind, Findings
from rocketwire_tools.store.engine.blocks import FileBlocks, open_blocks
from rocketwire_tools.store.engine.rows import Rows, TopicNames
from rocketwire_tools.store.engine.scan import LogScan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.dledger import DLedgerEntry
    from rocketwire.store.folder import StoreFile, StoreFolder

_UNITS: Final = 1 << 16
"""Bytes of an index that are read at once."""


# ---------------------------------------------------------------------------- DLedger


def check_dledger(folder: StoreFolder, findings: Findings, *, may_lag: bool) -> DLedgerEntry | None:
    """Compare the entries of a DLedger log with the units of its index.

    Args:
        folder: of the store.
        findings: where to add what is found.
        may_lag: whether the last entries may be without units: a broker writes, or was killed.

    Returns:
        The head of the last entry; None without one.
    """
    units = _IndexUnits(folder.dledger_index)
    last: DLedgerEntry | None = None
    for file, position, entry in _entries(folder.dledger):
        number = entry.entry_index
        for text, count, is_damage in _faults(entry, last, units, may_lag=may_lag):
            findings.add(
                Finding(
                    kind=FindingKind.DLEDGER,
                    text=f"entry {number} {text}",
                    is_damage=is_damage,
                    file=file.name,
                    position=position,
                    size=entry.size,
                    physical_offset=entry.position + dledger.HEAD_SIZE,
                    count=count,
                )
            )
        last = entry
    return last


def _faults(
    entry: DLedgerEntry, last: DLedgerEntry | None, units: _IndexUnits, *, may_lag: bool
) -> Iterator[tuple[str, int, bool]]:
    """What is wrong with an entry, how many entries that concerns, and whether it is damage."""
    number = entry.entry_index
    if last is not None and number != last.entry_index + 1:
        lost = number - last.entry_index - 1
        yield f"follows entry {last.entry_index}", max(1, lost), True
    elif last is not None and entry.term < last.term:
        yield f"has term {entry.term} after term {last.term}", 1, True
    unit = units.unit(number)
    if unit is None:
        if units.has_file(number):
            yield "has no unit in the index", 1, not may_lag
    elif unit != (entry.magic, entry.position, entry.size, number, entry.term):
        yield f"is {tuple(unit)} in the index", 1, True


def _entries(files: Sequence[StoreFile]) -> Iterator[tuple[StoreFile, int, DLedgerEntry]]:
    """Entries that stand together from the beginning of each file on."""
    for file in files:
        with open_blocks(file) as blocks:
            position = 0
            while position < file.size:
                view = blocks.read(position)
                start = 0
                while entry := dledger.decode_entry(view, start, file.offset + position):
                    yield file, position + start, entry
                    start += entry.size
                if not start:
                    size = int.from_bytes(view[4:8], "big", signed=True)
                    view = blocks.read(position, max(0, min(size, file.size - position)))
                    entry = dledger.decode_entry(view, 0, file.offset + position)
                    if entry is None:
                        break
                    yield file, position, entry
                    start = entry.size
                position += start


class _IndexUnits:
    """Units of an index by number, for a reader that goes forward."""

    def __init__(self, files: Sequence[StoreFile]) -> None:
        self._files = files
        self._start = 0
        self._data = b""

    def has_file(self, number: int) -> bool:
        """Whether the unit of an entry would stand in one of the files."""
        return self._file(number * dledger.INDEX_UNIT_SIZE) is not None

    def unit(self, number: int) -> dledger.DLedgerIndex | None:
        """The unit of an entry; None without one."""
        place = number * dledger.INDEX_UNIT_SIZE
        if not self._start <= place < self._start + len(self._data):
            file = self._file(place)
            if file is None:
                return None
            with open_blocks(file, block_size=_UNITS) as blocks:
                self._data, self._start = bytes(blocks.read(place - file.offset)), place
        return dledger.decode_index(self._data, place - self._start)

    def _file(self, place: int) -> StoreFile | None:
        return file_at(self._files, place)


# ---------------------------------------------------------------------------- compaction


def check_compaction(folder: StoreFolder, findings: Findings, *, may_lag: bool) -> None:
    """Check the logs of compacted topics, and their queues against them.

    Args:
        folder: of the store.
        findings: where to add what is found.
        may_lag: whether the last messages may be torn or without units.
    """
    for (topic, queue_id), files in sorted(folder.compaction_logs.items()):
        queues = {file.offset: file for file in folder.compaction_queues.get((topic, queue_id), ())}
        newest = -1
        for file in files:
            log = _CompactedFile(file, topic, queue_id, findings)
            newest = log.check(newest, may_lag=may_lag and file is files[-1])
            queue = queues.get(file.offset)
            if queue is not None:
                log.check_queue(queue, may_lag=may_lag and file is files[-1])


class _CompactedFile:
    """A file of the log of a compacted topic."""

    def __init__(self, file: StoreFile, topic: str, queue_id: int, findings: Findings) -> None:
        self._file = file
        self._topic = topic
        self._queue_id = queue_id
        self._findings = findings
        self._messages: dict[int, tuple[int, int]] = {}

    def check(self, newest: int, *, may_lag: bool) -> int:
        """Check the log; returns its last queue offset.

        Args:
            newest: queue offset of the last message of the file before.
            may_lag: whether the end may be torn.
        """
        scan, topics = LogScan(files=[self._file]), TopicNames()
        for block in scan:
            rows = Rows(block, topics)
            base = block.base - self._file.offset
            columns = zip(
                rows.messages.positions.tolist(),
                rows.messages.sizes.tolist(),
                rows.messages.numbers("queue_offset").tolist(),
                rows.messages.numbers("queue_id").tolist(),
                rows.column("topic"),
                rows.crc_holds.tolist(),
                strict=True,
            )
            for position, size, number, queue_id, topic, holds in columns:
                place = base + position
                self._messages[self._file.offset + place] = size, number
                if number <= newest:
                    self._add(place, f"queue offset {number} follows {newest}", number)
                if (topic, queue_id) != (self._topic, self._queue_id):
                    self._add(place, f"it is a message of {topic}:{queue_id}", number)
                if not holds:
                    self._add(place, "the body has another checksum", number)
                newest = max(newest, number)
        for region in scan.regions:
            if region.is_damage:
                is_end = region.end == self._file.end
                self._add(
                    region.position,
                    region.reason,
                    size=region.size,
                    is_damage=not (may_lag and is_end),
                )
        return newest

    def check_queue(self, queue: StoreFile, *, may_lag: bool) -> None:
        """Compare units of the queue with the messages."""
        left = dict(self._messages)
        size = consume_queue.BATCH_UNIT_SIZE
        with open_blocks(queue, block_size=_UNITS // size * size) as blocks:
            for position, unit in _batch_units(blocks):
                if unit.physical_offset < 0:
                    continue  # the file of the log ran full
                message = left.pop(unit.physical_offset, None)
                if message != (unit.size, unit.base_offset):
                    text = (
                        f"the unit leads to offset {unit.physical_offset} with {unit.size} bytes"
                        f" for queue offset {unit.base_offset}, where the log has no such message"
                    )
                    self._add(position, text, unit.base_offset, file=queue)
        for place, (_, number) in left.items():
            text = "the message has no unit in its queue"
            self._add(place - self._file.offset, text, number, is_damage=not may_lag)

    def _add(
        self,
        position: int,
        text: str,
        queue_offset: int | None = None,
        *,
        size: int = 0,
        is_damage: bool = True,
        file: StoreFile | None = None,
    ) -> None:
        self._findings.add(
            Finding(
                kind=FindingKind.COMPACTION,
                text=text,
                is_damage=is_damage,
                file=(file or self._file).name,
                position=position,
                size=size,
                topic=self._topic,
                queue_id=self._queue_id,
                queue_offset=queue_offset,
            )
        )


def _batch_units(blocks: FileBlocks) -> Iterator[tuple[int, consume_queue.BatchUnit]]:
    """Position and unit, up to the first one that is not written."""
    position = 0
    while view := blocks.read(position):
        count = 0
        for unit in consume_queue.decode_batch_units(bytes(view)):
            if not unit.size and not unit.physical_offset and not unit.message_count:
                return
            yield position + count * consume_queue.BATCH_UNIT_SIZE, unit
            count += 1
        if not count:
            return
        position += count * consume_queue.BATCH_UNIT_SIZE

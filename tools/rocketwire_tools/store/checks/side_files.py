"""Files beside log, queues and index: configuration, checkpoint, offsets, timers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.store import commit_log, timers
from rocketwire.store.checkpoint import decode_checkpoint
from rocketwire.store.config_files import MAX_SIZE, decode_config
from rocketwire.store.folder import file_at, offset_of_name
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.checks.store_facts import timers_of_other_size, usual_size
from rocketwire_tools.store.engine.blocks import open_blocks, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.checks.findings import Findings
    from rocketwire_tools.store.opened import OpenedStore

JSON_FILES: Final = (
    "topics.json",
    "subscriptionGroup.json",
    "consumerOffset.json",
    "lmqConsumerOffset.json",
    "delayOffset.json",
    "consumerFilter.json",
    "consumerOrderInfo.json",
    "topicQueueMapping.json",
    "messageRequestMode.json",
)
_WHEEL_CHUNK: Final = 1 << 20
MAX_SLOT_RECORDS: Final = 100_000
"""Records of one slot of the timer wheel that are followed."""


def check_log_folder(store: OpenedStore, findings: Findings) -> None:
    """Files in the log's folder that no broker has put there, or that have another length."""
    usual = usual_size(store.folder.commit_log, 0)
    newest = store.folder.commit_log[-1] if store.folder.commit_log else None
    for file in store.folder.commit_log:
        is_new = file is newest and (store.is_in_use() or not file.size)  # the pass names that
        if file.size != usual and not is_new:
            text = f"{file.size} bytes; the other files have {usual}"
            findings.add(Finding(kind=FindingKind.LOG_FILE, text=text, file=file.name))
    for path in _strange_files(store):
        findings.add(
            Finding(
                kind=FindingKind.LOG_FILE,
                text="no file of a broker; brokers do not start with it",
                file=f"commitlog/{path.name}",
            )
        )


def _strange_files(store: OpenedStore) -> Iterator[Path]:
    """Plain files in the folders of the log whose names are no offsets."""
    for folder in sorted({file.path.parent for file in store.folder.commit_log}):
        if folder.name == "commitlog":
            for path in sorted(folder.iterdir()):
                if path.is_file() and not path.is_symlink() and offset_of_name(path.name) is None:
                    yield path


def check_config(store: OpenedStore, findings: Findings) -> None:
    """JSON files of ``config``; Java reads ``NAME.bak`` where ``NAME`` is broken."""
    config = store.folder.config
    for name in JSON_FILES:
        file, backup = config.get(name), config.get(f"{name}.bak")
        if file is None and backup is None:
            continue
        reason = _config_error(store, file)
        if not reason:
            continue
        if backup is not None and not _config_error(store, backup):
            text = f"{reason}; brokers read {name}.bak in its place"
        else:
            text = f"{reason}, and {name}.bak is not readable either"
        # a running broker has it in memory, and may be writing it
        is_damage = not store.is_in_use()
        place = f"config/{name}"
        findings.add(Finding(kind=FindingKind.CONFIG, text=text, is_damage=is_damage, file=place))


def check_databases(store: OpenedStore, findings: Findings) -> None:
    """RocksDBs that hold queues, configuration, pops, timers or an index."""
    for name in sorted(store.folder.rocksdb):
        database = store.database(name)
        if database is not None and not name.startswith("consumequeue"):  # queues are read whole
            database.read_all()
    for name, reason in sorted(store.unreadable.items()):
        findings.add(Finding(kind=FindingKind.ROCKSDB, text=reason, file=name))


def _config_error(store: OpenedStore, file: StoreFile | None) -> str:
    if file is None:
        return "the file is missing"
    if not file.size:
        return "the file is empty"
    try:
        decode_config(store.read(file, max_size=MAX_SIZE))
    except FileNotFoundError:
        return "the file is missing"
    except DecodeError as error:
        return str(error)
    return ""


def check_checkpoint(store: OpenedStore, findings: Findings, newest: int, log_end: int) -> None:
    """The checkpoint against the end of the log.

    Args:
        store: to check.
        findings: where to add what is found.
        newest: largest store timestamp of the log.
        log_end: end of its last message.
    """
    file = store.folder.plain.get("checkpoint")
    if file is None:
        return
    try:
        checkpoint = decode_checkpoint(store.read(file))
    except DecodeError as error:
        findings.add(
            Finding(kind=FindingKind.CHECKPOINT, text=str(error), file=file.name, size=file.size)
        )
        return
    if newest and checkpoint.physical_timestamp > newest:
        lost = checkpoint.physical_timestamp - newest
        text = f"a message was flushed {lost} ms after the newest one of the log"
        findings.add(Finding(kind=FindingKind.CHECKPOINT, text=text, file=file.name, size=8))
    if newest and checkpoint.queue_physical_offset > log_end:
        text = f"a unit for offset {checkpoint.queue_physical_offset} was flushed, the log ends at"
        findings.add(
            Finding(
                kind=FindingKind.CHECKPOINT,
                text=f"{text} {log_end}",
                file=file.name,
                position=40,
                size=8,
            )
        )


def check_timers(store: OpenedStore, findings: Findings, log_start: int) -> None:
    """Timer log and wheel against each other and against the log."""
    files = store.folder.timer_log
    if not files:
        return
    for file, size in timers_of_other_size(store.folder):
        text = f"{file.size} bytes instead of {size}"
        findings.add(Finding(kind=FindingKind.TIMER, text=text, file=file.name))
    for file in files:
        _check_timer_file(store, findings, file, log_start)
    record_at = _record_reader(files)
    for wheel in store.folder.timer_wheels:
        _check_wheel(findings, wheel, record_at, files[0].offset)


def _check_timer_file(
    store: OpenedStore, findings: Findings, file: StoreFile, log_start: int
) -> None:
    with open_blocks(file) as blocks:
        position = 0
        while position + timers.RECORD_SIZE <= file.size:
            view = blocks.read(position)
            place = 0
            while True:
                record = timers.decode_timer_record(view, place)
                if record is None:
                    break
                if record.physical_offset >= log_start and not _has_message(
                    store, record.physical_offset, record.message_size
                ):
                    findings.add(
                        Finding(
                            kind=FindingKind.TIMER,
                            text=f"the record points to {record.physical_offset} with"
                            f" {record.message_size} bytes, no message's place",
                            file=file.name,
                            position=position + place,
                            size=timers.RECORD_SIZE,
                            physical_offset=record.physical_offset,
                        )
                    )
                place += timers.RECORD_SIZE
            position += place
            if place + timers.RECORD_SIZE <= len(view) or not place:
                _check_timer_end(findings, file, position, bytes(view[place : place + 16]))
                return


def _check_timer_end(findings: Findings, file: StoreFile, position: int, data: bytes) -> None:
    blank = timers.timer_blank_size(data, 0)
    if not any(data) or (blank is not None and position + blank == file.size):
        return
    findings.add(
        Finding(
            kind=FindingKind.TIMER,
            text="neither a record nor the end stands here",
            file=file.name,
            position=position,
        )
    )


def _has_message(store: OpenedStore, offset: int, size: int) -> bool:
    file = file_at(store.folder.commit_log, offset)
    if file is None:
        return False
    head = read_bytes(file, offset - file.offset, 48)
    return (
        len(head) == 48
        and int.from_bytes(head[:4], "big", signed=True) == size >= commit_log.SMALLEST_MESSAGE
        and int.from_bytes(head[28:36], "big", signed=True) == offset
    )


def _record_reader(files: list[StoreFile]) -> Callable[[int], timers.TimerRecord | None]:
    def record_at(offset: int) -> timers.TimerRecord | None:
        file = file_at(files, offset)
        if file is None:
            return None
        data = read_bytes(file, offset - file.offset, timers.RECORD_SIZE)
        return timers.decode_timer_record(data, 0)

    return record_at


def _check_wheel(
    findings: Findings,
    wheel: StoreFile,
    record_at: Callable[[int], timers.TimerRecord | None],
    timer_log_start: int,
) -> None:
    slots = wheel.size // timers.SLOT_SIZE
    with open_blocks(wheel, block_size=_WHEEL_CHUNK) as blocks:
        position = blocks.next_data(0) // timers.SLOT_SIZE * timers.SLOT_SIZE
        while position < wheel.size:
            data = bytes(blocks.read(position, _WHEEL_CHUNK))
            if not data:
                return
            if data.count(0) != len(data):
                first = position // timers.SLOT_SIZE
                for slot in timers.decode_timer_slots(data, first=first, slots=slots):
                    number = slot.time % slots
                    _check_slot(findings, wheel, number, slot, record_at, timer_log_start)
            position += len(data)


def _check_slot(
    findings: Findings,
    wheel: StoreFile,
    number: int,
    slot: timers.TimerSlot,
    record_at: Callable[[int], timers.TimerRecord | None],
    timer_log_start: int,
) -> None:
    offset, steps, text = slot.last, 0, ""
    while steps < MAX_SLOT_RECORDS:
        record = None if offset < timer_log_start else record_at(offset)
        if record is None:
            if offset >= timer_log_start:
                text = f"the slot leads to {offset} of the timer log, where no record is"
            break
        if offset == slot.first:
            break
        if record.previous >= offset:
            text = f"the record at {offset} of the timer log follows {record.previous}, a later one"
            break
        offset, steps = record.previous, steps + 1
    if text:
        findings.add(
            Finding(
                kind=FindingKind.TIMER,
                text=text,
                file=wheel.name,
                position=number * timers.SLOT_SIZE,
                size=timers.SLOT_SIZE,
            )
        )

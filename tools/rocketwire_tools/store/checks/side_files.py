"""The other files of a store: configuration, checkpoint, timers, epochs."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.errors import DecodeError
from rocketwire.store import commit_log, epochs, timers
from rocketwire.store.checkpoint import decode_checkpoint
from rocketwire.store.config_files import MAX_SIZE, decode_config
from rocketwire.store.folder import file_at, offset_of_name
from rocketwire.store.timers import SLOT_SIZE, SLOTS
from rocketwire_tools.store.checks.findings import Finding, FindingKind
from rocketwire_tools.store.engine.blocks import open_blocks, read_bytes
from rocketwire_tools.store.lookup import timer_record_at, timer_slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocketwire.store.folder import StoreFile, StoreFolder
    from rocketwire_tools.store.checks.view import StoreView
    from rocketwire_tools.store.opened import OpenedStore


BATCH_QUEUE_TYPE = "BatchCQ"


def most_common_size(files: Iterable[StoreFile], default: int) -> int:
    """The size that most files have, of equally many the larger one; empty files do not count."""
    counts = Counter(file.size for file in files if file.size)
    return max(counts, key=lambda size: (counts[size], size), default=default)


def timers_of_other_size(folder: StoreFolder) -> list[tuple[StoreFile, int]]:
    log = folder.timer_log
    counts = Counter(after.offset - file.offset for file, after in pairwise(log))
    counts.update(file.size for file in log if file.size)
    usual = max(counts, key=lambda size: (counts[size], size), default=0)
    sizes = [(file, usual) for file in folder.timer_log]
    sizes += [(file, SLOTS * SLOT_SIZE) for file in folder.timer_wheels]
    return [(file, size) for file, size in sizes if file.size != size]


def read_topics(store: OpenedStore) -> dict[str, Any]:
    config = store.config("topics.json")
    return _object(config[0] if config else None, "topicConfigTable")


def batch_topics(store: OpenedStore) -> set[str]:
    return {
        topic
        for topic, settings in read_topics(store).items()
        if _object(settings, "attributes").get("queue.type") == BATCH_QUEUE_TYPE
    }


def _object(value: object, name: str) -> dict[str, Any]:
    inner = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


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
MAX_SLOT_RECORDS: Final = 100_000  # records of one slot of the timer wheel that are followed


def check_log_folder(view: StoreView) -> Iterator[Finding]:
    files, kind = view.folder.commit_log, FindingKind.LOG_FILE
    usual = most_common_size(files, 0)
    for file in files:
        # the pass through the log names an empty last file
        is_new = file is files[-1] and (view.is_in_use or not file.size)
        if file.size != usual and not is_new:
            text = f"{file.size} bytes; the other files have {usual}"
            yield Finding(kind=kind, text=text, file=file.name)
    for folder in sorted({file.path.parent for file in files}):
        for path in sorted(folder.iterdir()) if folder.name == "commitlog" else ():
            if path.is_file() and not path.is_symlink() and offset_of_name(path.name) is None:
                text = "no file of a broker; brokers do not start with it"
                yield Finding(kind=kind, text=text, file=f"commitlog/{path.name}")


def check_config(view: StoreView) -> Iterator[Finding]:
    config = view.folder.config
    for name in JSON_FILES:
        file, backup = config.get(name), config.get(f"{name}.bak")
        if (file is None and backup is None) or not (reason := _config_error(view.store, file)):
            continue
        text = f"{reason}, and {name}.bak is not readable either"
        if backup is not None and not _config_error(view.store, backup):
            text = f"{reason}; brokers read {name}.bak in its place"
        # a running broker has it in memory, and may be writing it
        is_damage, file_name = not view.is_in_use, f"config/{name}"
        yield Finding(kind=FindingKind.CONFIG, text=text, is_damage=is_damage, file=file_name)


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


def check_databases(view: StoreView) -> Iterator[Finding]:
    for name in sorted(view.folder.rocksdb):
        database = view.store.database(name)
        if database is not None and not name.startswith("consumequeue"):  # queues are read whole
            database.read_all()
    for name, reason in sorted(view.store.unreadable.items()):
        yield Finding(kind=FindingKind.ROCKSDB, text=reason, file=name)


def check_checkpoint(view: StoreView) -> Iterator[Finding]:
    file, log = view.folder.plain.get("checkpoint"), view.log
    if file is None or not log.messages or view.is_in_use or view.unread.log:
        return
    kind = FindingKind.CHECKPOINT
    try:
        checkpoint = decode_checkpoint(view.store.read(file))
    except DecodeError as error:
        yield Finding(kind=kind, text=str(error), file=file.name, size=file.size)
        return
    if log.newest and checkpoint.physical_timestamp > log.newest:
        lost = checkpoint.physical_timestamp - log.newest
        text = f"a message was flushed {lost} ms after the newest one of the log"
        yield Finding(kind=kind, text=text, file=file.name, size=8)
    if log.newest and checkpoint.queue_physical_offset > log.end:
        flushed = checkpoint.queue_physical_offset
        text = f"a unit for offset {flushed} was flushed, the log ends at {log.end}"
        yield Finding(kind=kind, text=text, file=file.name, position=40, size=8)


def check_epochs(view: StoreView) -> Iterator[Finding]:
    if view.unread.log or view.is_in_use:
        return
    file, kind = view.folder.plain.get("epochFileCheckpoint"), FindingKind.EPOCHS
    if file is not None:
        for text in _epoch_errors(view.store.read(file), view.log.end):
            yield Finding(kind=kind, text=text, file=file.name, size=file.size)
    file = view.folder.plain.get("brokerIdentity")
    if file is not None:
        try:
            epochs.decode_identity(view.store.read(file))
        except DecodeError as error:
            yield Finding(kind=kind, text=str(error), file=file.name, size=file.size)


def _epoch_errors(data: bytes, log_end: int) -> Iterator[str]:
    try:
        noted = epochs.decode_epochs(data)
    except DecodeError as error:
        yield str(error)
        return
    for before, after in itertools.pairwise(noted):
        if not before < after or before.start_offset > after.start_offset:
            yield (
                f"epoch {after.epoch} from {after.start_offset} on follows epoch"
                f" {before.epoch} from {before.start_offset} on"
            )
    if noted and noted[-1].start_offset > log_end:
        last = noted[-1]
        yield f"epoch {last.epoch} begins at {last.start_offset}, the log ends at {log_end}"


def check_timers(view: StoreView) -> Iterator[Finding]:
    # a timer's message may be in a file that cannot be read
    log_start = 1 << 63 if view.unread.log else view.log_start
    yield from find_timer_damage(view.folder, log_start)


def find_timer_damage(folder: StoreFolder, log_start: int) -> Iterator[Finding]:
    """Check timer log and wheel; messages before ``log_start`` are not looked for."""
    if not folder.timer_log:
        return
    for file, size in timers_of_other_size(folder):
        text = f"{file.size} bytes instead of {size}"
        yield Finding(kind=FindingKind.TIMER, text=text, file=file.name)
    for file in folder.timer_log:
        yield from _check_timer_file(folder, file, log_start)
    for wheel in folder.timer_wheels:
        yield from _check_wheel(folder, wheel)


def _check_timer_file(folder: StoreFolder, file: StoreFile, log_start: int) -> Iterator[Finding]:
    with open_blocks(file) as blocks:
        position = 0
        while position + timers.RECORD_SIZE <= file.size:
            view = blocks.read(position)
            begin = 0
            while (record := timers.decode_timer_record(view, begin)) is not None:
                offset, size = record.physical_offset, record.message_size
                if offset >= log_start and not _has_message(folder, offset, size):
                    text = f"the record points to {offset} with {size} bytes, no message's place"
                    yield Finding(
                        kind=FindingKind.TIMER,
                        text=text,
                        file=file.name,
                        position=position + begin,
                        size=timers.RECORD_SIZE,
                        physical_offset=offset,
                    )
                begin += timers.RECORD_SIZE
            position += begin
            if begin + timers.RECORD_SIZE <= len(view) or not begin:
                data = bytes(view[begin : begin + 16])
                blank = timers.timer_blank_size(data, 0)
                if any(data) and (blank is None or position + blank != file.size):
                    text, kind = "neither a record nor the end stands here", FindingKind.TIMER
                    yield Finding(kind=kind, text=text, file=file.name, position=position)
                return


def _has_message(folder: StoreFolder, offset: int, size: int) -> bool:
    file = file_at(folder.commit_log, offset)
    head = b"" if file is None else read_bytes(file, offset - file.offset, 48)
    return (
        len(head) == 48
        and int.from_bytes(head[:4], "big", signed=True) == size >= commit_log.SMALLEST_MESSAGE
        and int.from_bytes(head[28:36], "big", signed=True) == offset
    )


def _check_wheel(folder: StoreFolder, wheel: StoreFile) -> Iterator[Finding]:
    slots, size = wheel.size // timers.SLOT_SIZE, timers.SLOT_SIZE
    for slot in timer_slots(wheel):
        if text := _slot_error(folder, slot):
            slot_position, kind = slot.time % slots * size, FindingKind.TIMER
            yield Finding(kind=kind, text=text, file=wheel.name, position=slot_position, size=size)


def _slot_error(folder: StoreFolder, slot: timers.TimerSlot) -> str:
    """Follow the records of a slot from the last to the first; return the first error."""
    offset = slot.last
    for _ in range(MAX_SLOT_RECORDS):
        if offset < folder.timer_log[0].offset:
            break
        record = timer_record_at(folder, offset)
        if record is None:
            return f"the slot leads to {offset} of the timer log, where no record is"
        if offset == slot.first:
            break
        if record.previous >= offset:
            return f"the record at {offset} of the timer log follows {record.previous}, a later one"
        offset = record.previous
    return ""

"""``pending``: what a broker still had to do: lag, delays, timers, open transactions."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from rocketwire.messages import message_const
from rocketwire.policy.resource_names import SCHEDULE_TOPIC, is_system_group
from rocketwire.store import consume_queue, pops, timers
from rocketwire.store.config_files import consumer_offsets, delay_offsets
from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire.store.writer import DELAYS
from rocketwire_tools.store import lookup
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.engine.filters import Selection
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.opened import OpenedStore, are_whole
from rocketwire_tools.store.output import json_line, time_text, with_progress, write_table
from rocketwire_tools.store.selecting import select_rows
from rocketwire_tools.store.unfinished import KeptLines, UnfinishedWork
from rocketwire_tools.terminal import print_error
from rocketwire_tools.values import number_in

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rocketwire.store.folder import StoreFile

_UNITS: Final = 4096 * consume_queue.UNIT_SIZE  # bytes of a queue's file that are read at once
_BLOCK_SIZE: Final = 2 << 20
"""Bytes of the log that are read at once: their properties take several times as much."""

_OFFSET_FILES: Final = ("consumerOffset.json", "lmqConsumerOffset.json")
_TIMES: Final = ("due", "store_timestamp", "popped")
_LAST: Final = (1 << 63) - 1  # the place among lines of one time of what stands in no log


def run(arguments: argparse.Namespace) -> int:
    store = OpenedStore(arguments.paths)
    work = read_log(store)
    sections = {
        "lag": list_lags(store, work),
        "delayed": _list_delayed(store, work),
        "timer": list_timers(store),
        "transaction": (_without(message, "level") for message in work.find_transactions()),
        "pop": _list_pops(store, work),
    }
    _warn_of_rocksdb(store)
    for name, lines in sections.items():
        if arguments.json:
            for line in lines:
                sys.stdout.buffer.write(json_line({"what": name, **line}))
        else:
            _write(name, KeptLines(lines))
    if work.is_damaged:
        print_error("some bytes are damaged or missing; rocketwire-store check")
    return 0 if are_whole([store]) and not work.is_damaged else 1


_STORE: Final = "rocksdbstore"
_UNREAD: Final = {"timer": "timed messages", "trans": "transactions"}


def _warn_of_rocksdb(store: OpenedStore) -> None:
    """Say what of a RocksDB is not among the lines (timerRocksDBEnable, transRocksDBEnable)."""
    database = store.database(_STORE)
    if database is None:
        return
    for family, what in _UNREAD.items():
        if any(True for _ in database.items(family=family)):
            print_error(f"{_STORE} has {what} in RocksDB, which are not read here")


def read_log(store: OpenedStore) -> UnfinishedWork:
    work, topics = UnfinishedWork(), TopicNames()
    for scan in store.scans():
        scan.block_size = _BLOCK_SIZE
        for rows in select_rows(with_progress(scan), Selection(with_system=True), topics):
            work.add(rows)
        work.is_damaged |= scan.is_damaged
    return work


def find_ends(store: OpenedStore, work: UnfinishedWork) -> dict[tuple[str, int], int]:
    ends = dict(work.max_offsets)
    for queue, files in store.folder.queues.items():
        end = max((_end_of_units(file) for file in files[-1:]), default=0)
        if end:
            ends[queue] = max(ends.get(queue, 0), end)
    queues = store.rocks_queues
    for queue, (_, end) in ({} if queues is None else queues.ends).items():
        ends[queue] = max(ends.get(queue, 0), end)
    return ends


def _end_of_units(file: StoreFile) -> int:
    end = position = 0
    first = file.offset // consume_queue.UNIT_SIZE
    with open_blocks(file, block_size=_UNITS) as blocks:
        while view := blocks.read(position):
            units = consume_queue.decode_units(bytes(view))
            for index, unit in enumerate(units, first + position // consume_queue.UNIT_SIZE):
                if not unit.size:
                    return end
                if unit.points_to_message:
                    end = index + 1
            position += len(view)
    return end


def list_lags(store: OpenedStore, work: UnfinishedWork) -> Iterator[dict[str, Any]]:
    ends = find_ends(store, work)
    for name in _OFFSET_FILES:
        config = store.config(name)
        if config is None:
            continue
        for (topic, group), queues in sorted(consumer_offsets(config[0]).items()):
            if is_system_group(group):
                continue
            for queue, offset in sorted(queues.items()):
                end = ends.get((topic, queue), 0)
                yield {
                    "group": group,
                    "topic": topic,
                    "queue_id": queue,
                    "offset": offset,
                    "max_offset": end,
                    "lag": max(0, end - offset),
                }
        return


def _list_delayed(store: OpenedStore, work: UnfinishedWork) -> Iterator[dict[str, Any]]:
    config = store.config("delayOffset.json")
    delivered = {} if config is None else delay_offsets(config[0])
    for message in work.find_delayed():
        level = message["level"]
        if message["queue_offset"] < delivered.get(level, 0):
            continue
        unit = lookup.queue_unit(store, SCHEDULE_TOPIC, level - 1, message["queue_offset"])
        due = unit.tags_code if unit is not None and unit.tags_code > 0 else None
        if due is None and level <= len(DELAYS):
            due = int(message["store_timestamp"]) + 1000 * DELAYS[int(level) - 1]
        yield {"due": due, **_without(message, "producer_group", "checks")}


def _list_pops(store: OpenedStore, work: UnfinishedWork) -> Iterator[dict[str, Any]]:
    config = store.config("consumerOffset.json")
    groups = {} if config is None else consumer_offsets(config[0])
    revived = {
        (topic, queue): offset
        for (topic, group), queues in groups.items()
        if group == pops.REVIVE_GROUP
        for queue, offset in queues.items()
    }
    lines = KeptLines()
    for record, offset, number in work.find_popped(revived):
        pop = record.pop
        due = pop.pop_time + record.invisible_time
        line = _pop_line(due, pop.group, pop.topic, pop.queue_id, offset, pop.pop_time)
        lines.add(line, due, number)
    for line in _list_pops_in_rocksdb(store):
        lines.add(line, line["due"], _LAST)
    yield from lines


def _list_pops_in_rocksdb(store: OpenedStore) -> Iterator[dict[str, Any]]:
    database = store.database("kvStore")
    items = () if database is None else database.items(family="popState")
    for due, record in rocksdb_records.decode_pops(items):
        names = ("groupId", "topicId", "queueId", "offset", "popTime")
        yield _pop_line(due, *(record.get(name) for name in names))


def _pop_line(due: int, *values: Any) -> dict[str, Any]:
    names = ("group", "topic", "queue_id", "offset", "popped")
    return {"due": due, **dict(zip(names, values, strict=True))}


def list_timers(store: OpenedStore) -> Iterator[dict[str, Any]]:
    file = store.folder.config.get("timercheck")
    check = store.decode(file, timers.decode_timer_check)
    read_time = 0 if check is None else check.read_time
    for slot in chain.from_iterable(map(lookup.timer_slots, store.folder.timer_wheels)):
        if slot.time * 1000 < read_time:
            continue
        deleted: set[str | None] = set()
        offset, steps = slot.last, 0
        while offset >= 0 and steps < _MAX_CHAIN:
            record = lookup.timer_record_at(store.folder, offset)
            if record is None:
                break
            message = lookup.at_physical_offset(store, record.physical_offset, "timer log")
            properties = {} if message is None else message.rows().properties[0]
            key = properties.get(message_const.UNIQ_KEY)
            if record.flags & timers.DELETES:
                deleted.add(properties.get(message_const.TIMER_DEL_UNIQKEY))
            elif key not in deleted:
                due = number_in(properties.get(message_const.TIMER_OUT_MS))
                yield {
                    "due": record.due if due is None else due,
                    "topic": properties.get(message_const.REAL_TOPIC),
                    "queue_id": properties.get(message_const.REAL_QUEUE_ID),
                    "commit_log_offset": record.physical_offset,
                    "msg_id": key,
                    "rolled": bool(record.flags & timers.ROLLED),
                }
            if offset == slot.first or record.previous >= offset:
                break
            offset, steps = record.previous, steps + 1


_MAX_CHAIN: Final = 1_000_000


def _without(message: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name not in names}


def _write(name: str, lines: KeptLines) -> None:
    titles = {
        "lag": "offsets of groups",
        "delayed": "delayed messages",
        "timer": "timed messages",
        "transaction": "open transactions",
        "pop": "popped messages without acknowledgement",
    }
    print(f"{titles[name]}: {len(lines)}")
    if not len(lines):
        return
    columns = list(next(iter(lines)))
    write_table(columns, lambda: (_cells(line, columns) for line in lines))
    print()


def _cells(line: dict[str, Any], columns: list[str]) -> list[object]:
    return [time_text(line[name]) if name in _TIMES else line[name] for name in columns]

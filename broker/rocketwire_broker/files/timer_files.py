"""The timer wheel and its log, by which a Java broker continues with messages that wait for a time.

Our broker reads the timer topic. Java would deliver every message of that topic at once that it
does not find here, also those that were delivered long ago.

Java: ``TimerMessageStore``, ``TimerWheel``, ``TimerLog``, ``TimerCheckpoint``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.messages.message_const import REAL_TOPIC, TIMER_DEL_UNIQKEY, TIMER_OUT_MS
from rocketwire.policy.java_strings import string_hash
from rocketwire.policy.resource_names import TIMER_TOPIC
from rocketwire.store import timers as layouts
from rocketwire.store.writer import Stream
from rocketwire_broker.storage.message import parse_number, read_stored

if TYPE_CHECKING:
    from rocketwire_broker.files.disk import Disk
    from rocketwire_broker.state.broker import Broker

WHEEL: Final = "timerwheel"
LOG: Final = "timerlog"
CHECK: Final = "config/timercheck"
_PRECISION_MS: Final = 1_000
_PAST_MS: Final = 10_000
_ORDINARY: Final = 1


class TimerFiles:
    """Writes wheel and log anew, from the first message that waits at the start."""

    def __init__(self, disk: Disk, broker: Broker) -> None:
        self._disk = disk
        self._file_size = _size_of_files(disk) or broker.config.timer_log_file_size
        end = broker.store.max_offset(TIMER_TOPIC, 0)
        self._next = min(broker.timers.offsets(), default=end)
        self._end = 0
        self._counter = 0
        self._is_begun = False

    def write(self, broker: Broker, now: int) -> None:
        queue = broker.store.queue(TIMER_TOPIC, 0)
        if queue is None:
            return
        if not self._is_begun:
            self._disk.remove_folder(LOG)
            self._disk.remove(WHEEL)
            self._is_begun = True
        begin = max(self._next, queue.min_offset)
        waiting = broker.timers.offsets() if begin < queue.max_offset else set[int]()
        for offset in range(begin, queue.max_offset):
            record = queue.record(offset)
            if record is not None:
                self._add(record, queue.physical(offset), now, waits=offset in waiting)
            self._next = offset + 1
        self._next = queue.max_offset
        self._write_check(now, queue.max_offset)

    def _write_check(self, now: int, queue_offset: int) -> None:
        self._counter += 1
        check = layouts.TimerCheck(
            read_time=now - now % _PRECISION_MS,
            log_flushed=self._end,
            queue_offset=queue_offset,
            master_queue_offset=queue_offset,
            state_version=0,
            timestamp=now,
            counter=self._counter,
        )
        data = layouts.encode_timer_check(check)
        self._disk.write(CHECK, 0, data, len(data))

    def _add(self, record: bytes, physical: int, now: int, *, waits: bool) -> None:
        # the slot of a message that does not wait is in the past
        properties = read_stored(record).properties or {}
        out = parse_number(properties.get(TIMER_OUT_MS) or "")
        time = out if waits and out is not None else now - _PAST_MS
        time -= time % _PRECISION_MS
        deletes = TIMER_DEL_UNIQKEY in properties
        slot = self._slot(time // _PRECISION_MS)
        written = now - now % _PRECISION_MS
        self._make_room()
        position = self._end
        data = layouts.encode_timer_record(
            layouts.TimerRecord(
                size=layouts.RECORD_SIZE,
                previous=slot.last,
                flags=_ORDINARY | (layouts.DELETES if deletes else 0),
                write_time=written,
                delay=time - written,
                physical_offset=physical,
                message_size=len(record),
                topic_hash=string_hash(properties.get(REAL_TOPIC) or ""),
                reserved=0,
            )
        )
        self._log.write(position, data)
        self._end = position + layouts.RECORD_SIZE
        self._put_slot(
            slot._replace(
                first=position if slot.first < 0 else slot.first,
                last=position,
                record_count=slot.record_count + (-1 if deletes else 1),
            )
        )

    @property
    def _log(self) -> Stream:
        return Stream(self._disk, LOG, self._file_size)

    def _make_room(self) -> None:
        # a record never crosses the end of a file
        free_bytes = self._file_size - self._end % self._file_size
        if free_bytes < layouts.RECORD_SIZE + layouts.BLANK_SIZE:
            self._log.write(self._end, layouts.encode_timer_blank(free_bytes))
            self._end += free_bytes

    def _slot(self, time: int) -> layouts.TimerSlot:
        data = self._disk.read(WHEEL, time % layouts.SLOTS * layouts.SLOT_SIZE, layouts.SLOT_SIZE)
        if len(data) == layouts.SLOT_SIZE:
            slot = layouts.decode_timer_slot(data)
            if slot.time == time:
                return slot
        return layouts.TimerSlot(time, -1, -1, 0, 0)

    def _put_slot(self, slot: layouts.TimerSlot) -> None:
        position = slot.time % layouts.SLOTS * layouts.SLOT_SIZE
        self._disk.write(
            WHEEL, position, layouts.encode_timer_slot(slot), layouts.SLOTS * layouts.SLOT_SIZE
        )


def _size_of_files(disk: Disk) -> int:
    return next((path.stat().st_size for path in (disk.root / LOG).glob("[0-9]*")), 0)

"""Timer wheel and timer log of 5.x: messages that brokers deliver at a time of their own."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.store import layouts
from rocketwire.store.commit_log import BLANK_MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD_SIZE: Final = 52
BLANK_SIZE: Final = 16
SLOT_SIZE: Final = 32
SLOTS: Final = 7 * 86_400 * 2
"""Slots of the wheel by default (Java: ``TimerMessageStore.TIMER_WHEEL_TTL_DAY``)."""

ROLLED: Final = 2
"""Flag of a record due later than one turn of the wheel (``TimerMessageStore.MAGIC_ROLL``)."""
DELETES: Final = 4
"""Flag of a record that recalls another (Java: ``TimerMessageStore.MAGIC_DELETE``)."""

CHECK_SIZE: Final = 4_096
"""Bytes of ``config/timercheck``."""

_RECORD: Final = Struct(layouts.format_of(layouts.TIMER_RECORD))
_BLANK: Final = Struct(layouts.format_of(layouts.TIMER_BLANK))
_SLOT: Final = Struct(layouts.format_of(layouts.TIMER_SLOT))
_CHECK: Final = Struct(layouts.format_of(layouts.TIMER_CHECK))


class TimerRecord(NamedTuple):
    size: int  #: 52
    previous: int  #: offset of the record before it in the same slot, -1 for none
    flags: int  #: 1, ``ROLLED``, ``DELETES``
    write_time: int  #: the wheel's clock, milliseconds since 1970
    delay: int  #: milliseconds from there to the time of the slot
    physical_offset: int  #: of the message in the commit log
    message_size: int  #: of the message there
    topic_hash: int  #: Java's hash of the real topic
    reserved: int  #: 0

    @property
    def due(self) -> int:
        return self.write_time + self.delay


class TimerSlot(NamedTuple):
    time: int  #: in units of the precision, one second by default
    first: int  #: offset of its first record in the timer log
    last: int  #: of its last record
    record_count: int  #: records, less the deletes
    reserved: int  #: 0


class TimerCheck(NamedTuple):
    """``config/timercheck`` (Java: ``TimerCheckpoint``)."""

    read_time: int  #: up to which the wheel has delivered, milliseconds since 1970
    log_flushed: int  #: end of the timer log on disk
    queue_offset: int  #: next queue offset of ``rmq_sys_wheel_timer`` to put on the wheel
    master_queue_offset: int  #: the master's
    state_version: int  #: of the broker
    timestamp: int  #: of the data version
    counter: int  #: of the data version


def decode_timer_record(data: bytes | memoryview, position: int) -> TimerRecord | None:
    if position < 0 or position + RECORD_SIZE > len(data):
        return None
    record = TimerRecord._make(_RECORD.unpack_from(data, position))
    return record if record.size == RECORD_SIZE else None


def encode_timer_record(record: TimerRecord) -> bytes:
    """A record as ``TimerLog.append`` writes it."""
    return _RECORD.pack(*record)


def encode_timer_blank(size: int) -> bytes:
    """The first bytes of a blank of ``size`` bytes at the end of a timer log file."""
    return _BLANK.pack(size, 0, BLANK_MAGIC)


def encode_timer_slot(slot: TimerSlot) -> bytes:
    """A slot as ``TimerWheel.putSlot`` writes it."""
    return _SLOT.pack(*slot)


def decode_timer_slot(data: bytes) -> TimerSlot:
    return TimerSlot._make(_SLOT.unpack(data))


def encode_timer_check(check: TimerCheck) -> bytes:
    """``config/timercheck`` as ``TimerCheckpoint.flush`` writes it."""
    return _CHECK.pack(*check).ljust(CHECK_SIZE, b"\0")


def timer_blank_size(data: bytes | memoryview, position: int) -> int | None:
    if position + BLANK_SIZE > len(data):
        return None
    size, _, magic = _BLANK.unpack_from(data, position)
    return int(size) if magic == BLANK_MAGIC and size >= BLANK_SIZE else None


def decode_timer_slots(
    data: bytes | memoryview, *, first: int = 0, slots: int | None = None
) -> Iterator[TimerSlot]:
    """Slots of the wheel that hold something and stand where their time belongs.

    Args:
        data: a part of the wheel.
        first: number of the first slot in ``data``.
        slots: of the whole wheel; those of ``data`` by default.
    """
    count = len(data) // SLOT_SIZE
    slots = count if slots is None else slots
    for index, slot in enumerate(_SLOT.iter_unpack(data[: count * SLOT_SIZE]), first):
        if slot[0] > 0 and slot[0] % slots == index:
            yield TimerSlot._make(slot)


def decode_timer_check(data: bytes | memoryview) -> TimerCheck:
    """Read ``config/timercheck``; releases that write fewer words leave the others zero.

    Raises:
        DecodeError: the file is shorter than its words.
    """
    if len(data) < _CHECK.size:
        raise DecodeError(f"timercheck has {len(data)} bytes, at least {_CHECK.size} are needed")
    return TimerCheck._make(_CHECK.unpack_from(data))

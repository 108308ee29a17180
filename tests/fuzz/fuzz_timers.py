"""Any bytes are a timer log and a part of the timer wheel."""

from __future__ import annotations

from rocketwire.store import timers
from tests.fuzz import stores


def read(data: bytes) -> None:
    """As both."""
    for position in range(0, len(data), 4):
        record = timers.decode_timer_record(data, position)
        assert record is None or record.size == timers.RECORD_SIZE
        blank = timers.timer_blank_size(data, position)
        assert blank is None or blank >= timers.BLANK_SIZE
    for first in (0, 1_000):
        for slot in timers.decode_timer_slots(data, first=first, slots=timers.SLOTS):
            assert first <= slot.time % timers.SLOTS < first + len(data) // timers.SLOT_SIZE


def start() -> list[bytes]:
    """Records, and slots that are in use."""
    slot = (timers.SLOTS * 1_400).to_bytes(8, "big") + bytes(24)
    return [*stores.seeds("/timerlog/"), slot * 3]

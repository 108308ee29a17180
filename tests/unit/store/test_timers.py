"""Records of timers."""

from struct import pack

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store import timers
from rocketwire.store.commit_log import BLANK_MAGIC
from tests.support.values import require

RECORD = timers.TimerRecord(52, -1, 1, 1_700_000_000_000, 5_000, 4096, 300, 77, 0)
DATA = pack(">iqiqiqiiq", *RECORD)


def test_a_record_is_due_at_its_write_time_and_delay() -> None:
    record = require(timers.decode_timer_record(b"x" + DATA, 1))

    assert (record, record.due) == (RECORD, 1_700_000_005_000)


@pytest.mark.parametrize("position", [-1, 1, 100])
def test_no_record_stands_elsewhere(position: int) -> None:
    assert timers.decode_timer_record(DATA, position) is None
    assert timers.decode_timer_record(bytes(52), 0) is None


def test_a_blank_ends_a_file() -> None:
    blank = pack(">iqI", 40, 0, BLANK_MAGIC)

    assert timers.timer_blank_size(blank, 0) == 40
    assert timers.timer_blank_size(blank, 1) is None
    assert timers.timer_blank_size(bytes(16), 0) is None
    assert timers.timer_blank_size(pack(">iqI", 8, 0, BLANK_MAGIC), 0) is None


def test_a_slot_counts_only_where_its_time_belongs() -> None:
    slots = [timers.TimerSlot(0, 0, 0, 0, 0)] * 4
    slots[3] = timers.TimerSlot(4 * 100 + 3, 0, 52, 2, 0)
    slots[1] = timers.TimerSlot(4 * 100 + 2, 0, 52, 2, 0)  # from a former turn of a larger wheel
    data = b"".join(pack(">qqqii", *slot) for slot in slots)

    assert list(timers.decode_timer_slots(data + b"cut")) == [slots[3]]


def test_the_checkpoint_has_the_position_of_the_wheel() -> None:
    words = (1_700_000_000_000, 520, 10, 0, 0, 1_600_000_000_000, 3)

    assert timers.decode_timer_check(pack(">7q", *words).ljust(4096, b"\0")) == words
    with pytest.raises(DecodeError, match="at least 56"):
        timers.decode_timer_check(bytes(55))


def test_records_slots_and_the_check_are_written_as_they_are_read() -> None:
    slot = timers.TimerSlot(1_700_000_000_000, 104, 52, 2, 0)
    check = timers.TimerCheck(1_700_000_000_000, 520, 10, 0, 0, 1_600_000_000_000, 3)

    assert timers.encode_timer_record(RECORD) == DATA
    assert timers.encode_timer_blank(40) == pack(">iqI", 40, 0, BLANK_MAGIC)
    assert timers.encode_timer_slot(slot) == pack(">qqqii", *slot)
    assert timers.decode_timer_slot(pack(">qqqii", *slot)) == slot
    assert timers.encode_timer_check(check) == pack(">7q", *check).ljust(4096, b"\0")

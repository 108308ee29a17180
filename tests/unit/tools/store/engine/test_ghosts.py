"""Old messages after the end of a log differ from messages of the log after damage."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rocketwire.flags import MessageSysFlag
from rocketwire.store.folder import read_folder
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.engine.scan import LogScan, State

SIZE = 1 << 16
SECOND = 1000
START = 1_700_000_000_000
DAY = 86_400_000
REST = b"\x5a" * 40
"""Bytes of an old message whose beginning was overwritten."""


def message(number: int, time: int, *, queue: int | None = None, flag: int = 0) -> StoredMessage:
    """The message of a number, in one of four queues."""
    return StoredMessage(
        topic="orders",
        body=b"",
        queue_id=number % 4 if queue is None else queue,
        queue_offset=number // 4,
        store_timestamp=time,
        sys_flag=flag,
    )


def messages(numbers: range, start: int) -> list[StoredMessage]:
    """Messages that were stored one second after another."""
    return [message(number, start + number * SECOND) for number in numbers]


def log_bytes(parts: Sequence[StoredMessage | bytes], base: int = 0) -> bytes:
    """Bytes of a file of the log."""
    data = b""
    for part in parts:
        if isinstance(part, StoredMessage):
            part = encode_stored_message(replace(part, commit_log_offset=base + len(data)))
        data += part
    return data.ljust(SIZE, b"\0")


def states_of(
    root: Path, *files: Sequence[StoredMessage | bytes], block_size: int = 8 << 20
) -> list[State]:
    """The state of each message of a log."""
    log = root / "commitlog"
    log.mkdir()
    for number, parts in enumerate(files):
        data = log_bytes(parts, number * SIZE)
        if number + 1 < len(files):
            end = len(data.rstrip(b"\0")) + 2  # the sizes of empty properties
            blank = (SIZE - end).to_bytes(4, "big") + bytes.fromhex("bbccddee")
            data = data[:end] + blank.ljust(SIZE - end, b"\0")
        (log / f"{number * SIZE:020}").write_bytes(data)
    scan = LogScan(files=read_folder([root]).commit_log, block_size=block_size)
    return [block.state for block in scan for _ in block.messages.positions]


LIVE = [State.LIVE] * 20
OLD = messages(range(12, 40), START)
"""The file after a cut of the log at the twelfth message."""

NEW = messages(range(20), START + DAY)
"""A log that was cut and then continued, by eight messages."""


@pytest.mark.parametrize("block_size", [8 << 20, 64])
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize("time", [START + 9 * DAY, -1])
def test_odd_time_among_the_first_old_messages_decides_nothing(
    number: int, time: int, block_size: int, tmp_path: Path
) -> None:
    old = [*OLD]
    old[number] = replace(old[number], store_timestamp=time)

    states = states_of(tmp_path, [*NEW, REST, *old], block_size=block_size)

    assert states == LIVE + [State.GHOST] * len(old)


@pytest.mark.parametrize("number", range(3))
def test_odd_time_of_messages_after_a_hole_decides_nothing(number: int, tmp_path: Path) -> None:
    following = messages(range(23, 50), START + DAY)
    following[number] = replace(following[number], store_timestamp=0)

    states = states_of(tmp_path, [*NEW, bytes(300), *following])

    assert states == LIVE + [State.SAVED] * len(following)


@pytest.mark.parametrize("block_size", [8 << 20, 1000, 64])
def test_old_messages_repeat_offsets_after_a_clock_change(block_size: int, tmp_path: Path) -> None:
    new = messages(range(20), START - DAY)

    states = states_of(tmp_path, [*new, REST, *OLD], block_size=block_size)

    assert states == LIVE + [State.GHOST] * len(OLD)


def test_single_message_that_repeats_its_queue_offset_is_a_ghost(tmp_path: Path) -> None:
    old = message(12, START + 2 * DAY)

    assert states_of(tmp_path, [*NEW, REST, old]) == [*LIVE, State.GHOST]


def test_half_messages_have_no_queue_offset_that_could_repeat(tmp_path: Path) -> None:
    flag = int(MessageSysFlag.TRANSACTION_PREPARED)
    half = [message(0, START + DAY, flag=flag)] * 3

    states = states_of(tmp_path, [*NEW, *half, bytes(300), *half, message(23, START + DAY)])

    assert states == LIVE + [State.LIVE] * 3 + [State.SAVED] * 4


def test_messages_after_a_hole_are_saved_if_the_clock_went_back_before(tmp_path: Path) -> None:
    first, following = messages(range(20), START), messages(range(30, 50), START - DAY)
    set_back = messages(range(20, 24), START - DAY)

    states = states_of(tmp_path, [*first, *set_back, bytes(500), *following])

    assert states == LIVE + [State.LIVE] * 4 + [State.SAVED] * len(following)


@pytest.mark.parametrize("old_start", [START, START + 9 * DAY])
def test_next_file_is_judged_anew(old_start: int, tmp_path: Path) -> None:
    """A log that continues in the next file does not end in this one."""
    old, following = messages(range(12, 40), old_start), messages(range(50, 60), START + DAY)

    states = states_of(tmp_path, [*NEW, REST, *old], following)

    assert states == LIVE + [State.GHOST] * len(old) + [State.SAVED] * len(following)

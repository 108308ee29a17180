"""Units of a rebuilt queue have the queue offsets of their messages, also next to a damaged one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rocketwire.store.consume_queue import QueueUnit, decode_units, encode_unit
from rocketwire.store.writer import DiskFiles, QueueWriter
from rocketwire_tools.store.rebuilding import NumberedQueue, RebuildReport

UNITS_PER_FILE = 16


def queue_of(
    folder: Path, numbers: Sequence[int], report: RebuildReport, log_start: int = 0
) -> list[int]:
    """Places of the messages to which the units of a rebuilt queue point, unit by unit.

    Args:
        numbers: queue offsets that the messages at places 100, 101, ... name.
    """
    writer = QueueWriter(DiskFiles(folder), "queue", file_size=20 * UNITS_PER_FILE)
    queue = NumberedQueue(writer, report, log_start)
    for place, number in enumerate(numbers, 100):
        queue.put(number, encode_unit(QueueUnit(place, 91, 0)), place)
    queue.finish()
    writer.flush()
    files = sorted((folder / "queue").iterdir()) if (folder / "queue").exists() else []
    units = [unit for file in files for unit in decode_units(file.read_bytes())]
    assert writer.end is None or not any(unit.size for unit in units[writer.end :])
    return [unit.physical_offset for unit in units[: writer.end]]


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([0, 1, 2, 3], [100, 101, 102, 103]),
        ([0, 1, 3, 4], [100, 101, 102, 102, 103]),
        ([0, 1, 3, 5, 6], [100, 101, 102, 102, 103, 103, 104]),
        ([3, 5, 6], [100, 100, 100, 100, 101, 101, 102]),
        ([0, 1, 2, 0, 1], [103, 104]),
    ],
)
def test_offsets_that_agree_with_others_are_taken(
    numbers: list[int], places: list[int], tmp_path: Path
) -> None:
    """Messages are missing, or the queue began again."""
    report = RebuildReport(messages=100)

    assert queue_of(tmp_path, numbers, report) == places
    assert (report.misplaced_messages, report.unqueued_messages) == (0, 0)
    assert report.replaced_offsets == 0


@pytest.mark.parametrize(
    ("numbers", "places"),
    [([0, 1, 2, 1, 2], [100, 103, 104]), ([0, 1, 2, 3, 1, 2], [100, 104, 105, 103])],
)
def test_later_run_of_messages_takes_the_offsets_of_earlier_ones(
    numbers: list[int], places: list[int], tmp_path: Path
) -> None:
    """Java cut the queue at a damaged unit, and numbered the next messages from there on."""
    report = RebuildReport(messages=100)

    assert queue_of(tmp_path, numbers, report) == places
    assert report.replaced_offsets == 2
    assert report.has_damage


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([0, 1, 7, 3, 4], [100, 101, 102, 103, 104]),
        ([0, 1, 0, 3, 4], [100, 101, 102, 103, 104]),
        ([0, 1, 1 << 40, 3, 4], [100, 101, 102, 103, 104]),
        ([0, 1, 2, 1, 4], [100, 101, 102, 103, 104]),
        ([1 << 40, 1, 2], [100, 101, 102]),
        ([0, 1, 9, 4, 5], [100, 101, 102, 103, 103, 104]),
    ],
)
def test_damaged_offset_is_the_next_one_of_its_queue(
    numbers: list[int], places: list[int], tmp_path: Path
) -> None:
    report = RebuildReport(messages=100)

    assert queue_of(tmp_path, numbers, report) == places
    assert (report.misplaced_messages, report.unqueued_messages) == (1, 0)
    assert report.restarted_queues == 0


def test_message_of_another_queue_before_the_first_one_is_left_out(tmp_path: Path) -> None:
    report = RebuildReport(messages=100)

    assert queue_of(tmp_path, [7, 0, 1], report) == [101, 102]
    assert report.unqueued_messages == 1


@pytest.mark.parametrize(("lost_bytes", "places"), [(0, [100, 101]), (91, [100, 101, 101])])
def test_last_offset_counts_if_bytes_are_lost(
    lost_bytes: int, places: list[int], tmp_path: Path
) -> None:
    report = RebuildReport(messages=100, bytes_filled=lost_bytes)

    assert queue_of(tmp_path, [0, 2], report) == places


def test_queue_has_no_more_units_than_the_log_can_have_had_messages(tmp_path: Path) -> None:
    report = RebuildReport(messages=4)
    far = 1 << 40

    assert queue_of(tmp_path, [0, 1, far, far + 1], report) == [100, 101, 102, 103]
    assert report.misplaced_messages == 2


def test_units_before_the_first_are_pre_blanks_if_the_log_starts_later(tmp_path: Path) -> None:
    assert queue_of(tmp_path, [2, 3], RebuildReport(), log_start=50) == [0, 0, 100, 101]

"""Queues in RocksDB at the next start; ``tests/java/store/test_rocks_recovery.py`` asks Java itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from rocketwire.store.java_records import JavaRecord
from rocketwire.store.rocksdb.built_queues import MAX_UNSERVED, BuiltRocksQueues
from rocketwire.store.rocksdb.records import QueueBound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.store.built_queues import Topic

T: Final = ("t", 0)
SIZE: Final = 100


class Image:
    """A RocksDB with one queue, whose messages stand one behind the other in the log."""

    def __init__(self, count: int, *, first: int = 0) -> None:
        self.units = {number: (number * SIZE, SIZE) for number in range(first, count)}
        self.end = count * SIZE
        self.newest: dict[Topic, QueueBound] = {T: QueueBound((count - 1) * SIZE, count - 1)}
        self.oldest: dict[Topic, QueueBound] = {}

    def place(self, queue: Topic, number: int) -> tuple[int, int] | None:
        return self.units.get(number) if queue == T else None

    def places(self, queue: Topic, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        for number, place in sorted(self.units.items()):
            if queue == T and first <= number < end:
                yield (number, *place)


def cut(image: Image, log_end: int, *, log_start: int = 0) -> BuiltRocksQueues:
    queues = BuiltRocksQueues(image)
    queues.cut_to(log_end, was_end=image.end, log_start=log_start)
    queues.correct_oldest(log_start)
    return queues


def test_a_log_that_is_as_long_as_the_queues_changes_nothing() -> None:
    queues = cut(Image(8), 800)

    assert queues.bounds(T) == (0, 8)
    assert queues.counts(T) == (0, 0)
    assert [unit[0] for unit in queues.queue(T).units_served()] == list(range(8))
    assert queues.queue(T).unserved() == set()


def test_a_queue_is_cut_behind_its_last_message_in_the_log() -> None:
    queues = cut(Image(8), 650)

    assert queues.bounds(T) == (0, 7)
    assert queues.end == 650
    assert queues.queue(T).result().cut_units == 1


def test_a_cut_at_a_message_takes_as_much_as_java_s_search_has_passed() -> None:
    """The search of 3, 5, 6 ends at 6, which stands at the cut; it has passed 5 before."""
    assert cut(Image(8), 600).bounds(T) == (0, 6)


def test_a_search_that_meets_the_cut_at_once_empties_the_queue() -> None:
    assert cut(Image(8), 300).bounds(T) == (0, 1)


def test_a_queue_whose_messages_were_all_deleted_is_empty() -> None:
    assert cut(Image(8), 1000, log_start=900).bounds(T) == (8, 8)


def test_a_queue_begins_with_the_first_message_of_the_log() -> None:
    assert cut(Image(8), 800, log_start=250).bounds(T) == (3, 8)


def test_what_the_broker_noted_as_the_oldest_unit_is_used_as_long_as_it_is_in_the_log() -> None:
    image = Image(8)
    image.oldest[T] = QueueBound(400, 4)

    assert cut(image, 800, log_start=250).bounds(T) == (4, 8)
    assert cut(image, 800, log_start=550).bounds(T) == (6, 8)


def test_without_units_the_newest_one_stands_for_the_oldest() -> None:
    image = Image(8)
    image.units.clear()

    assert cut(image, 800, log_start=250).bounds(T) == (7, 8)


def test_a_queue_that_begins_behind_the_cut_is_left_as_it_is() -> None:
    """Java says "correctMaxCqOffset error" and goes on."""
    image = Image(8)
    image.oldest[T] = QueueBound(700, 7)

    assert cut(image, 650).bounds(T) == (7, 8)


def test_a_queue_with_one_unit_begins_with_it_whatever_the_cut() -> None:
    """Java's search finds nothing: not the unit at the cut, and none before it."""
    assert cut(Image(1), 0).bounds(T) == (0, 1)
    image = Image(6, first=5)
    image.oldest[T] = QueueBound(500, 5)
    assert cut(image, 500, log_start=0).bounds(T) == (5, 6)


def test_the_newest_unit_that_is_missing_can_be_the_only_one() -> None:
    image = Image(6, first=5)
    image.oldest[T] = QueueBound(100, 5)
    image.units.clear()

    assert cut(image, 600, log_start=250).bounds(T) == (5, 6)


def test_messages_are_put_over_old_units() -> None:
    queues = BuiltRocksQueues(Image(2))
    queues.put(T, JavaRecord(SIZE, physical_offset=100), 1)
    queues.put(T, JavaRecord(50, physical_offset=200), 2)
    queues.put(("u", 3), JavaRecord(60, physical_offset=250), 0)
    queues.correct_oldest(0)

    assert queues.added == 2
    assert queues.end == 310
    assert list(queues.queue(T).units_served()) == [(0, 0, 100), (1, 100, 100), (2, 200, 50)]
    assert list(queues.queue(("u", 3)).units_served()) == [(0, 250, 60)]
    assert queues.counts(T) == (0, 1)


def test_a_queue_that_no_message_was_put_into_is_in_doubt_behind_a_cut() -> None:
    """Java compares the end with the cut while another thread changes it."""
    queues = BuiltRocksQueues(Image(8))
    queues.put(("u", 0), JavaRecord(50, physical_offset=500), 0)

    queues.cut_to(600, was_end=800, log_start=0)

    assert queues.is_doubtful
    assert queues.bounds(T)[1] == 8


@pytest.mark.parametrize(
    ("reads_ahead", "units", "is_doubtful"),
    [
        (True, {500: 5, 800: 5}, True),
        (True, {500: 5, 800: 8}, False),
        (True, {600: 6, 800: 5}, False),
        (False, {500: 5, 800: 5}, False),
    ],
)
def test_of_two_messages_with_one_queue_offset_5_5_may_take_either(
    *, reads_ahead: bool, units: dict[int, int], is_doubtful: bool
) -> None:
    """Both have to be put into the queue in this start."""
    queues = BuiltRocksQueues(Image(8), reads_ahead=reads_ahead)

    for place, number in units.items():
        queues.put(T, JavaRecord(SIZE, physical_offset=place), number)

    assert queues.is_doubtful is is_doubtful


@pytest.mark.parametrize(("reads_ahead", "unserved"), [(False, {3}), (True, {2, 3})])
def test_a_pull_does_not_get_over_a_missing_unit(reads_ahead: bool, unserved: set[int]) -> None:
    image = Image(6)
    del image.units[3]
    queues = BuiltRocksQueues(image, reads_ahead=reads_ahead)
    queues.correct_oldest(0)

    assert queues.queue(T).unserved() == unserved


@pytest.mark.parametrize(("reads_ahead", "unserved"), [(False, {5}), (True, {4, 5})])
def test_the_last_unit_can_be_missing(reads_ahead: bool, unserved: set[int]) -> None:
    image = Image(6)
    del image.units[5]
    queues = BuiltRocksQueues(image, reads_ahead=reads_ahead)
    queues.correct_oldest(0)

    assert queues.queue(T).unserved() == unserved


def test_a_queue_that_damage_makes_endless_is_bounded() -> None:
    image = Image(3)
    image.newest[T] = QueueBound(100, (1 << 63) - 1)
    queues = BuiltRocksQueues(image)
    queues.correct_oldest(1000)

    assert queues.bounds(T) == (1 << 63, 1 << 63)
    assert list(queues.queue(T).units_served()) == []

    image.oldest[T] = QueueBound(0, 0)
    queues = BuiltRocksQueues(image)
    queues.correct_oldest(0)

    assert queues.bounds(T) == (0, 1 << 63)
    assert len(queues.queue(T).unserved()) == MAX_UNSERVED


def test_a_deleted_rocksdb_has_no_unit_and_the_broker_still_names_the_newest() -> None:
    queues = BuiltRocksQueues(Image(3))
    queues.destroy()
    queues.correct_oldest(-1)

    assert queues.bounds(T) == (0, 3)
    assert list(queues.queue(T).units_served()) == []
    assert queues.counts(T) == (3, 0)

"""A block is walked at many places at once, and the result is that of one walk."""

import random

import pytest

from rocketwire.store import commit_log
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire_tools.store.engine.walk import walk


def records(count: int, largest: int, *, seed: int = 1) -> bytearray:
    """Records with a size and a magic number; the rest of each is zeros."""
    chance = random.Random(seed)
    data = bytearray()
    for _ in range(count):
        size = chance.randint(commit_log.SMALLEST_MESSAGE, largest)
        data += size.to_bytes(4, "big") + chance.choice((MAGIC_V1, MAGIC_V2)).to_bytes(4, "big")
        data += bytes(size - 8)
    return data


def assert_is_one_walk(data: bytearray) -> None:
    positions, end = walk(memoryview(data))

    assert (positions.tolist(), end) == commit_log.walk(memoryview(data), 0, len(data))


@pytest.mark.parametrize("count", [0, 1, 100, 12_000])
@pytest.mark.parametrize("largest", [91, 400])
def test_records_of_any_number_are_walked(count: int, largest: int) -> None:
    assert_is_one_walk(records(count, largest))


def test_record_that_is_cut_off_ends_the_walk() -> None:
    data = records(12_000, 200)

    assert_is_one_walk(data[:-30])
    assert_is_one_walk(data[:-197])


@pytest.mark.parametrize("size", [0, 50, -1, 1 << 30])
def test_record_without_a_valid_size_ends_the_walk(size: int) -> None:
    data = records(12_000, 200)
    place = commit_log.walk(memoryview(data), 0, len(data))[0][7000]
    data[place : place + 4] = size.to_bytes(4, "big", signed=True)

    assert_is_one_walk(data)


def test_record_without_a_magic_number_ends_the_walk() -> None:
    data = records(12_000, 200)
    place = commit_log.walk(memoryview(data), 0, len(data))[0][7000]
    data[place + 7] ^= 1

    assert_is_one_walk(data)


def test_records_inside_of_bodies_are_not_walked() -> None:
    data = records(12_000, 400)
    inner = records(1, 91)
    for place in commit_log.walk(memoryview(data), 0, len(data))[0][::3]:
        size = int.from_bytes(data[place : place + 4], "big")
        if size > 200:
            data[place + 100 : place + 100 + len(inner)] = inner

    assert_is_one_walk(data)


def test_very_small_records_among_large_ones_are_walked() -> None:
    assert_is_one_walk(records(3000, 800) + records(12_000, 91) + records(3000, 800, seed=2))


def test_bytes_that_cannot_be_searched_are_walked_too() -> None:
    data = bytes(records(12_000, 200))

    positions, end = walk(memoryview(data))

    assert (positions.tolist(), end) == commit_log.walk(memoryview(data), 0, len(data))

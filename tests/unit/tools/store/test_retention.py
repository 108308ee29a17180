"""Which files a broker deletes next."""

from __future__ import annotations

from pathlib import Path

from rocketwire.store.folder import StoreFile
from rocketwire_tools.store import retention

HOUR = 3600.0


def log(*ages: float) -> list[StoreFile]:
    """Files of a log that were changed so many hours before hour 100."""
    return [
        StoreFile(
            root=Path(),
            name=f"{number}",
            offset=number * 1000,
            size=1000,
            modified=(100 - age) * HOUR,
            allocated=1000,
        )
        for number, age in enumerate(ages)
    ]


def offsets(files: list[StoreFile]) -> list[int]:
    return [file.offset for file in files]


def test_files_expire_some_hours_after_their_last_change() -> None:
    files = log(80, 73, 71, 1)

    assert offsets(retention.expired_files(files, 100 * HOUR)) == [0, 1000]
    assert offsets(retention.expired_files(files, 102 * HOUR)) == [0, 1000, 2000]
    assert offsets(retention.expired_files(files, 100 * HOUR, 75)) == [0]
    assert retention.expires(files[0]) == 92 * HOUR


def test_the_first_file_that_stays_keeps_all_later_ones() -> None:
    assert offsets(retention.expired_files(log(80, 1, 80, 80), 100 * HOUR)) == [0]


def test_the_newest_file_always_stays() -> None:
    assert offsets(retention.expired_files(log(80, 80), 100 * HOUR)) == [0]
    assert retention.expired_files(log(80), 100 * HOUR) == []
    assert retention.expired_files([], 100 * HOUR) == []


def test_a_full_disk_takes_ten_files_a_round_whatever_their_age() -> None:
    files = log(*[1] * 30)

    assert retention.forced_files(files, 85_000, 100_000) == []
    assert len(retention.forced_files(files, 86_000, 100_000)) == 10
    assert len(retention.forced_files(files, 96_000, 100_000)) == 20
    assert len(retention.forced_files(files, 200_000, 100_000)) == 29

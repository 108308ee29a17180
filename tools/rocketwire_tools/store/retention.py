"""Which files of a commit log a broker deletes next (Java: ``CleanCommitLogService``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile

RESERVED_HOURS: Final = 72.0
"""Default of ``fileReservedTime``."""

DELETE_WHEN: Final = (4,)
"""Default of ``deleteWhen``: hours of a day, in the time of the broker's machine."""

FULL_RATIO: Final = 0.75
"""Default of ``diskMaxUsedSpaceRatio``: above it a broker deletes at any hour."""

FORCED_RATIO: Final = 0.85
"""Above it a broker also deletes files that have not expired (``diskSpaceCleanForciblyRatio``)."""

FILES_OF_A_ROUND: Final = 10
"""Files that a 5.x broker deletes before it looks at the disk again (``deleteFileBatchMax``)."""


def expires(file: StoreFile, reserved_hours: float = RESERVED_HOURS) -> float:
    """When a file expires, in seconds since 1970: a time after its last change."""
    return file.modified + 3600 * reserved_hours


def expired_files(
    files: Sequence[StoreFile], time: float, reserved_hours: float = RESERVED_HOURS
) -> list[StoreFile]:
    """The oldest files that have expired at a time; the newest file of a log is never deleted.

    Java: ``MappedFileQueue.deleteExpiredFileByTime``, which stops at the first file that stays.

    Args:
        files: of the log, by offset.
        time: seconds since 1970.
        reserved_hours: ``fileReservedTime``.
    """
    expired: list[StoreFile] = []
    for file in files[:-1]:
        if expires(file, reserved_hours) > time:
            break
        expired.append(file)
    return expired


def forced_files(files: Sequence[StoreFile], used: int, total: int) -> list[StoreFile]:
    """The oldest files that a broker deletes whatever their age, because the disk is full.

    Args:
        files: of the log, by offset.
        used: bytes of the disk that are in use.
        total: bytes of the disk.
    """
    forced: list[StoreFile] = []
    for files_of_round in _rounds(files[:-1]):
        if used <= FORCED_RATIO * total:
            break
        forced += files_of_round
        used -= sum(file.allocated for file in files_of_round)
    return forced


def _rounds(files: Sequence[StoreFile]) -> Iterator[Sequence[StoreFile]]:
    for first in range(0, len(files), FILES_OF_A_ROUND):
        yield files[first : first + FILES_OF_A_ROUND]

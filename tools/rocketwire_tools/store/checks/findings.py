"""Findings of ``check``: the position, the rule that is broken, and whether it is damage."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Self

MAX_FINDINGS: Final = 10_000
"""Findings of one kind that are kept, of damage and of notes each; more are only counted."""


class FindingKind(StrEnum):
    """What breaks a rule, and the rule in plain words."""

    rule: str

    def __new__(cls, name: str, rule: str) -> Self:
        kind = str.__new__(cls, name)
        kind._value_, kind.rule = name, rule
        return kind

    GAP = "gap", "the files of a stream follow each other: a name is the end of the last file"
    HOLE = "hole", "a log has messages without space between them up to a blank or its end"
    UNREADABLE = (
        "unreadable",
        "a message has a magic number, a size that its fields add up to, and its own place as"
        " physical offset",
    )
    TORN = "torn", "the last message of a log is whole"
    GHOST = (
        "ghost",
        "bytes behind the end of a log are no part of it; they stay when Java cuts a log and"
        " writes on",
    )
    BODY_CRC = "body crc", "a body has the CRC-32 that its message names"
    MESSAGE_CRC = "message crc", "a message has the CRC-32 that its property __CRC32# names"
    QUEUE_OFFSET = (
        "queue offset",
        "queue offsets of a queue follow each other without gap and repeat",
    )
    UNIT = "queue unit", "a unit of a queue points to the message of its queue offset"
    NO_UNIT = "no queue unit", "each message has a unit in its queue"
    NO_MESSAGE = "no message", "each unit of a queue from the log's start on points to a message"
    QUEUE_FILE = "queue file", "all files of queues have one size, and follow each other"
    LOG_FILE = "log file", "the folder of the log has files of one size only, named by offsets"
    INDEX = "index", "each entry of an index file stands for a key of the message it points to"
    FILE = "file", "the check can read every file; what others say about one is not compared"
    CONFIG = "config", "configuration files are JSON objects"
    ROCKSDB = "rocksdb", "a RocksDB can be opened, and its checksums are right"
    CHECKPOINT = "checkpoint", "the log reaches as far as the checkpoint says"
    TIMER = "timer", "each record of the timer log points to a message, and each slot to records"
    EPOCHS = (
        "epochs",
        "the epochs of a broker in controller mode have the checksum that their file names,"
        " they and their offsets ascend, and all begin in the log",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    kind: FindingKind  # what it is
    text: str  # what was found
    # whether data are lost or wrong; not for what a kill leaves in good order
    is_damage: bool = True
    file: str = ""  # name of the file, below the root of the store
    position: int = 0  # of the first byte in that file
    size: int = 0  # bytes, 0 for a position
    physical_offset: int | None = None  # in the log; None if it is not about the log
    topic: str | None = None  # of the message or queue
    queue_id: int | None = None  # of the topic
    queue_offset: int | None = None  # of the message or unit
    count: int = 1  # messages, units or entries

    def report(self) -> dict[str, Any]:
        values = asdict(self)
        return {"finding": str(values.pop("kind")), **values, "rule": self.kind.rule}


class Findings:
    def __init__(self) -> None:
        self.kept: list[Finding] = []  # the findings, in the order in which they were found
        # kind and whether it is damage → findings and what they count
        self.counts: dict[tuple[FindingKind, bool], list[int]] = {}

    def add(self, finding: Finding) -> None:
        kind = finding.kind, finding.is_damage
        counts = self.counts.setdefault(kind, [0, 0])
        if counts[0] < MAX_FINDINGS:
            self.kept.append(finding)
        counts[0] += 1
        counts[1] += finding.count

    @property
    def has_damage(self) -> bool:
        return any(is_damage for _, is_damage in self.counts)

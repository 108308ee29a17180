"""DLedger's files: entries in the place of a commit log, their index, and the state of a member.

An entry is a stored message with a head of its own.
"""

from __future__ import annotations

import re
from struct import Struct
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.store import layouts

HEAD_SIZE: Final = 48
"""Physical offset of a message less the position of its entry (``DLedgerEntry.BODY_OFFSET``)."""
INDEX_UNIT_SIZE: Final = 32
DATA: Final = 1
NOOP: Final = 2
CONFIGURATION: Final = 3
BLANK_MAGIC: Final = -1
"""Java: ``MmapFileList.BLANK_MAGIC_CODE``."""

_LONG: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)

_ENTRY: Final = Struct(layouts.format_of(layouts.DLEDGER_ENTRY))
_INDEX: Final = Struct(layouts.format_of(layouts.DLEDGER_INDEX))


class DLedgerEntry(NamedTuple):
    """Head of an entry.

    Attributes:
        magic: ``DATA``, ``NOOP`` or ``CONFIGURATION``.
        size: bytes of head and body.
        entry_index: number of the entry.
        term: of the leader that wrote it.
        position: of the entry in the stream.
        channel: 0.
        chain_crc: 0.
        body_crc: 0.
        body_size: bytes of the stored message.
    """

    magic: int
    size: int
    entry_index: int
    term: int
    position: int
    channel: int
    chain_crc: int
    body_crc: int
    body_size: int


class DLedgerIndex(NamedTuple):
    """Where an entry stands.

    Attributes:
        magic: as in the entry.
        position: of the entry in the stream.
        size: of the entry.
        entry_index: number of the entry.
        term: of the leader that wrote it.
    """

    magic: int
    position: int
    size: int
    entry_index: int
    term: int


class DLedgerCheckpoint(NamedTuple):
    """The file ``checkpoint`` of a member, written every three seconds.

    Attributes:
        end_index: number of the member's last entry at that time.
        committed_index: number of the last entry that a majority had.
    """

    end_index: int
    committed_index: int


class DLedgerTerm(NamedTuple):
    """The file ``currterm`` of a member.

    Attributes:
        term: the newest that the member has seen.
        vote_leader: id of the member that it voted for in this term; empty if it voted for none.
    """

    term: int
    vote_leader: str


def decode_entry(data: bytes | memoryview, position: int, base: int) -> DLedgerEntry | None:
    """The head of the entry at ``position``; None for a blank, the end of the data, or damage.

    Args:
        data: bytes of one file.
        position: where the entry would begin.
        base: offset in the stream of the first byte of ``data``.
    """
    if position < 0 or position + HEAD_SIZE > len(data):
        return None
    entry = DLedgerEntry._make(_ENTRY.unpack_from(data, position))
    if (
        entry.magic not in (DATA, NOOP, CONFIGURATION)
        or entry.body_size < 0
        or entry.size != HEAD_SIZE + entry.body_size
        or entry.position != base + position
        or position + entry.size > len(data)
    ):
        return None
    return entry


def blank_size(data: bytes | memoryview, position: int) -> int | None:
    """Bytes of the blank at ``position``; None if none is there."""
    if position + 8 > len(data):
        return None
    magic = int.from_bytes(data[position : position + 4], "big", signed=True)
    size = int.from_bytes(data[position + 4 : position + 8], "big", signed=True)
    return size if magic == BLANK_MAGIC and size >= 8 else None


def decode_index(data: bytes | memoryview, position: int) -> DLedgerIndex | None:
    """The unit at ``position`` of an index file; None for an unwritten one."""
    if position < 0 or position + INDEX_UNIT_SIZE > len(data):
        return None
    unit = DLedgerIndex._make(_INDEX.unpack_from(data, position))
    return unit if unit.magic in (DATA, NOOP, CONFIGURATION) and unit.size > 0 else None


def decode_dledger_checkpoint(data: bytes) -> DLedgerCheckpoint:
    """The file ``checkpoint`` below ``dledger-ID`` (Java: ``DLedgerMmapFileStore``).

    Raises:
        DecodeError: one of its numbers is missing, or no number.
    """
    words = _words(data)
    return DLedgerCheckpoint(_number(words, "endIndex"), _number(words, "committedIndex"))


def decode_dledger_term(data: bytes) -> DLedgerTerm:
    """The file ``currterm`` below ``dledger-ID`` (Java: ``MemberState``).

    Raises:
        DecodeError: the term is missing, or no number.
    """
    words = _words(data)
    return DLedgerTerm(_number(words, "currTerm"), words.get("voteLeader", ""))


def _words(data: bytes) -> dict[str, str]:
    """Names and values of a file of properties, one a line."""
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _number(words: dict[str, str], name: str) -> int:
    text = words.get(name)
    if text is None:
        raise DecodeError(f"{name} is missing")
    number = int(text) if _LONG.fullmatch(text) else 1 << 63
    if not -(1 << 63) <= number < 1 << 63:
        raise DecodeError(f"{name} is no number")
    return number

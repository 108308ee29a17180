"""Records of pcapng files: where the blocks are that hold packets, sections and interfaces.

Rules of this file: those of ``pcap``.  A section may have any byte order, an interface any link type and resolution.  Sections
may be many and small, so what is found of several goes to ``pcapng_blocks`` together; what is found in front of damage is given.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import record_scan
from rocketwire_tools.pcap.files.pcapng_blocks import (
    INTERFACE,
    LEAST,
    PACKETS,
    SECTION,
    Found,
    Section,
    records,
)
from rocketwire_tools.pcap.files.records import MAX_RECORD, MOST_RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.buffers import Buffer
    from rocketwire_tools.pcap.files.records import Integers, Records
    from rocketwire_tools.pcap.files.window import Window

__all__ = ["PACKETS", "front", "read"]

_ORDER: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_FEW: Final = 16
"""Blocks among which a packet is looked for before many are looked for."""
_MOST_SECTIONS: Final = 4096
"""Sections looked at together."""
_LEAST_BY_KIND: Final = np.array([LEAST.get(kind, 12) for kind in range(8)], np.int64)
_HOLDS_PACKET: Final = np.array([kind in PACKETS for kind in range(8)])


def read(reader: Window, section: Section | None = None) -> Iterator[Records]:
    """Give all records of a capture whose next bytes are in the reader's window.

    Args:
        reader: of the capture.
        section: that the window is in; None at the front of the capture.

    Raises:
        CaptureError: a block cannot be one; what is in front of it has been given.
    """
    walk = _Walk(reader.path, section)
    at = 0
    while True:
        buffer, size, base = reader.window()
        after = walk.through(buffer, at, size, base)
        yield from walk.found(buffer, size, base)
        if walk.error is not None:
            reader.truncated = False
            raise walk.taken_error()
        if walk.is_full:
            at = after
            continue
        at = 0
        used = after + walk.oversized(buffer, after, size)
        more = reader.skip(used)
        if not more and (not used or reader.window()[1] == 0):
            return


def front(path: str, data: bytes) -> tuple[Section, int]:
    """What is said in front of the first packet.

    Args:
        path: for messages.
        data: the first bytes of a capture.

    Returns:
        The first section, and the offset of the first packet, or of what cannot be looked at.

    Raises:
        CaptureError: it is no capture.
    """
    order = _ORDER.get(data[8:12])
    if order is None or len(data) < 28:
        raise CaptureError(path, 0, "a section without its byte-order magic")
    section = Section(path, order)
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if kind in PACKETS or (kind == SECTION and at):
            break
        if length < 12 or length & 3:
            raise CaptureError(path, at, f"a block of {length} bytes")
        if at + length > len(data):
            break
        if kind == INTERFACE:
            section.declare(data[at + 8 : at + length - 4], at)
        at += length
    return section, at


class _Walk:
    """Goes from block to block.

    Args:
        path: for messages.
        section: that the first block is in; None at the front of the capture.

    Attributes:
        error: why it cannot go on.
        is_full: whether it stopped because that is enough to be looked at together.
    """

    def __init__(self, path: str, section: Section | None) -> None:
        self._path = path
        self._midway = section is not None
        self._sections = [Section(path, "<") if section is None else section]
        self._parts: list[Found] = []
        self._at: list[int] = []
        self._kind: list[int] = []
        self._of: list[int] = []
        self._small_sections = False
        self.error: CaptureError | None = None
        self.is_full = False

    def through(self, buffer: Buffer, at: int, size: int, base: int) -> int:
        """Find packets between two offsets; returns where to go on."""
        self._sections = self._sections[-1:]
        self._small_sections &= at > 0
        try:
            if not self._small_sections:
                at = self._at_once(buffer, at, size, base)
            return self._one_by_one(buffer, at, size, base, MOST_RECORDS)
        except CaptureError as error:
            self.error = error
            return at

    # ---- many blocks of a section at once

    def _at_once(self, buffer: Buffer, at: int, size: int, base: int) -> int:
        """Find what hangs together up to the next section, or to what cannot be a block."""
        last = size - 12
        for _ in range(_FEW):
            if at > last or self._is_packet(buffer, last, at):
                break
            at = self._one_by_one(buffer, at, size, base, 1)
        if last - at < record_scan.FEWEST * record_scan.LANE or not self._is_packet(
            buffer, last, at
        ):
            return at
        starts = record_scan.guesses(
            buffer, at, last, range(4), partial(self._are_packets, buffer, last)
        )
        if len(starts) < record_scan.FEWEST:
            return at
        order = self._sections[-1].order
        found, after = record_scan.follow(buffer, starts, last, np.dtype(f"{order}u4"), 4, 0, 12)
        kinds, lengths = (
            np.ndarray((size,), f"{order}u4", buffer, offset, (1,))[found].astype(np.int64)
            for offset in (0, 4)
        )
        small = np.minimum(kinds, 7)
        wrong = (lengths < _LEAST_BY_KIND[small]) | (lengths > MAX_RECORD) | (lengths & 3 != 0)
        stops = np.flatnonzero(wrong | (kinds == SECTION) | (found + lengths > size))
        if len(stops):
            self._small_sections = bool(kinds[stops[0]] == SECTION)
            after = int(found[stops[0]])
            found, small = found[: stops[0]], small[: stops[0]]
        self._put(found, small, base, buffer)
        return after

    def _put(self, found: Integers, kind: Integers, base: int, buffer: Buffer) -> None:
        self._flush()
        for each in found[kind == INTERFACE].tolist():
            self._declare(buffer, each, base)
        at, kind = (each[_HOLDS_PACKET[kind]] for each in (found, kind))
        of = np.full(len(at), len(self._sections) - 1)
        self._parts.append(Found(at, kind, of, self._sections))

    def _is_packet(self, buffer: Buffer, last: int, at: int) -> bool:
        """Whether a packet's block seems to be there."""
        words = self._sections[-1].words
        kind, length = words(buffer, at)
        if kind not in PACKETS or not LEAST[kind] <= length <= MAX_RECORD or length & 3:
            return False
        end: int = at + length - 4
        return end > last + 8 or bool(words(buffer, end)[0] == length)

    def _are_packets(self, buffer: Buffer, last: int, at: Integers) -> Integers:
        """At which offsets a packet's block seems to be."""
        return np.array([self._is_packet(buffer, last, each) for each in at.tolist()], np.bool_)

    # ---- one block after the other

    def _one_by_one(self, buffer: Buffer, at: int, size: int, base: int, most: int) -> int:
        """Find so many blocks at most; an error is kept until what is in front of it has been looked at."""
        self.is_full = False
        section = self._sections[-1]
        for _ in range(most):
            if at + 12 > size:
                return at
            kind, length = section.words(buffer, at)
            if kind == SECTION:
                if at + 28 > size:
                    return at
                section, length = self._next_section(buffer, at, base)
            elif (why := _refusal(kind, length)) is not None:
                self.error = CaptureError(self._path, base + at, why)
                return at
            if at + length > size:
                return at
            if kind in PACKETS:
                self._at.append(at)
                self._kind.append(kind)
                self._of.append(len(self._sections) - 1)
            elif kind == INTERFACE:
                self._declare(buffer, at, base)
            at += length
            if len(self._sections) > _MOST_SECTIONS:
                break
        self.is_full = most > 1
        return at

    def _next_section(self, buffer: Buffer, at: int, base: int) -> tuple[Section, int]:
        self._refuse_midway(base + at)
        order = _ORDER.get(bytes(buffer[at + 8 : at + 12]))
        if order is None:
            message = "a section without its byte-order magic"
            raise CaptureError(self._path, base + at, message)
        (length,) = struct.unpack_from(f"{order}I", buffer, at + 4)
        if length < 28 or length > MAX_RECORD:
            raise CaptureError(self._path, base + at, f"a section header of {length} bytes")
        self._sections.append(Section(self._path, order))
        return self._sections[-1], length

    def _declare(self, buffer: Buffer, at: int, base: int) -> None:
        self._refuse_midway(base + at)
        section = self._sections[-1]
        _, length = section.words(buffer, at)
        section.declare(bytes(buffer[at + 8 : at + length - 4]), base + at)

    def _refuse_midway(self, where: int) -> None:
        if self._midway:
            message = "a section or an interface that begins midway: this file cannot be split"
            raise CaptureError(self._path, where, message)

    def oversized(self, buffer: Buffer, at: int, size: int) -> int:
        """Bytes of the block there if it is too large to be looked at and need not be, otherwise 0."""
        if size - at < 12:
            return 0
        kind, length = self._sections[-1].words(buffer, at)
        if kind == SECTION or length <= MAX_RECORD:
            return 0
        return int(length)

    # ---- what was found

    def taken_error(self) -> CaptureError:
        """The error, which is not kept: its traceback knows this object, and the buffer with it."""
        error, self.error = self.error, None
        assert error is not None  # noqa: S101 - who asks has looked
        return error

    def _flush(self) -> None:
        """Put together what was found one by one."""
        if self._at:
            at, kind, of = (np.array(each, np.int64) for each in (self._at, self._kind, self._of))
            self._parts.append(Found(at, kind, of, self._sections))
        self._at, self._kind, self._of = [], [], []

    def found(self, buffer: Buffer, size: int, base: int) -> Iterator[Records]:
        """The packets, and no more is known of them afterwards."""
        self._flush()
        parts, self._parts = self._parts, []
        for found in parts:
            for first in range(0, len(found.at), MOST_RECORDS):
                some = slice(first, first + MOST_RECORDS)
                one = Found(found.at[some], found.kind[some], found.section[some], found.sections)
                made, error = records(one, buffer, base)
                made.size = size
                if len(made.where):
                    yield made
                if error is not None:
                    self.error = error
                    return


def _refusal(kind: int, length: int) -> str | None:
    """Why a block of that type and length cannot be one; None if it can."""
    if length < LEAST.get(kind, 12) or length & 3:
        return f"a block of {length} bytes"
    if length > MAX_RECORD and (kind in PACKETS or kind == INTERFACE):
        return f"a block claims {length} bytes, {MAX_RECORD} is the limit"
    return None

"""Records of pcapng files: finds the blocks that hold packets, sections and interfaces.

A section may have any byte order, an interface any link type and resolution. Sections may be many
and small, so the packets of several sections go to ``pcapng_blocks`` together. Packets before
damaged data are returned.
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
    PacketBlocks,
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
"""Blocks to search for a packet, one by one, before ``record_scan`` searches many."""
_MOST_SECTIONS: Final = 4096
"""Sections whose packets are gathered together."""
_LEAST_BY_KIND: Final = np.array([LEAST.get(number, 12) for number in range(8)], np.int64)
_HOLDS_PACKET: Final = np.array([number in PACKETS for number in range(8)])


def read(reader: Window, section: Section | None = None) -> Iterator[Records]:
    """Read all records of a capture.

    Args:
        reader: its window holds the next bytes of the capture.
        section: the section of these bytes; None at the front of the capture.

    Raises:
        CaptureError: a block is invalid; the records before it have been returned.
    """
    walk = _BlockWalk(reader.path, section)
    offset = 0
    while True:
        buffer, size, base = reader.window()
        next_offset = walk.through(buffer, offset, size, base)
        yield from walk.take_records(buffer, size, base)
        if walk.error is not None:
            reader.truncated = False
            raise walk.taken_error()
        if walk.is_full:
            offset = next_offset
            continue
        offset = 0
        used = next_offset + walk.oversized(buffer, next_offset, size)
        has_more = reader.skip(used)
        if not has_more and (not used or reader.window()[1] == 0):
            return


def front(path: str, data: bytes) -> tuple[Section, int]:
    """Read the blocks before the first packet.

    Args:
        path: for error messages.
        data: the first bytes of a capture.

    Returns:
        The first section, and the offset of the first packet or of an incomplete block.

    Raises:
        CaptureError: the data is not a capture.
    """
    order = _ORDER.get(data[8:12])
    if order is None or len(data) < 28:
        raise CaptureError(path, 0, "a section without its byte-order magic")
    section = Section(path, order)
    offset = 0
    while offset + 12 <= len(data):
        block_type, length = struct.unpack_from(f"{order}II", data, offset)
        if block_type in PACKETS or (block_type == SECTION and offset):
            break
        if length < 12 or length & 3:
            raise CaptureError(path, offset, f"a block of {length} bytes")
        if offset + length > len(data):
            break
        if block_type == INTERFACE:
            section.declare(data[offset + 8 : offset + length - 4], offset)
        offset += length
    return section, offset


class _BlockWalk:
    """Walks from block to block.

    Args:
        path: for error messages.
        section: of the first block; None at the front of the capture.

    Attributes:
        error: why the walk cannot continue.
        is_full: whether the walk stopped because it found as many packets as are gathered together.
    """

    def __init__(self, path: str, section: Section | None) -> None:
        self._path = path
        self._midway = section is not None
        self._sections = [Section(path, "<") if section is None else section]
        self._parts: list[PacketBlocks] = []
        self._at: list[int] = []
        self._kind: list[int] = []
        self._of: list[int] = []
        self._small_sections = False
        self.error: CaptureError | None = None
        self.is_full = False

    def through(self, buffer: Buffer, offset: int, size: int, base: int) -> int:
        """Find packets between two offsets; returns the offset at which to continue."""
        self._sections = self._sections[-1:]
        self._small_sections &= offset > 0
        try:
            if not self._small_sections:
                offset = self._find_many(buffer, offset, size, base)
            return self._find_each(buffer, offset, size, base, MOST_RECORDS)
        except CaptureError as error:
            self.error = error
            return offset

    # ---- many blocks of a section at once

    def _find_many(self, buffer: Buffer, offset: int, size: int, base: int) -> int:
        """Find a chain of blocks up to the next section or to an invalid block."""
        last = size - 12
        for _ in range(_FEW):
            if offset > last or self._is_packet(buffer, last, offset):
                break
            offset = self._find_each(buffer, offset, size, base, 1)
        if last - offset < record_scan.MIN_GUESSES * record_scan.STRIDE or not self._is_packet(
            buffer, last, offset
        ):
            return offset
        starts = record_scan.guess_starts(
            buffer, offset, last, range(4), partial(self._are_packets, buffer, last)
        )
        if len(starts) < record_scan.MIN_GUESSES:
            return offset
        order = self._sections[-1].order
        offsets, next_offset = record_scan.follow_chains(
            buffer, starts, last, np.dtype(f"{order}u4"), 4, 0, 12
        )
        types, lengths = (
            np.ndarray((size,), f"{order}u4", buffer, field, (1,))[offsets].astype(np.int64)
            for field in (0, 4)
        )
        small_types = np.minimum(types, 7)
        wrong = (
            (lengths < _LEAST_BY_KIND[small_types]) | (lengths > MAX_RECORD) | (lengths & 3 != 0)
        )
        stops = np.flatnonzero(wrong | (types == SECTION) | (offsets + lengths > size))
        if len(stops):
            self._small_sections = bool(types[stops[0]] == SECTION)
            next_offset = int(offsets[stops[0]])
            offsets, small_types = offsets[: stops[0]], small_types[: stops[0]]
        self._add_blocks(offsets, small_types, base, buffer)
        return next_offset

    def _add_blocks(self, offsets: Integers, types: Integers, base: int, buffer: Buffer) -> None:
        self._flush()
        for interface in offsets[types == INTERFACE].tolist():
            self._declare(buffer, interface, base)
        packet_offsets, types = (interface[_HOLDS_PACKET[types]] for interface in (offsets, types))
        sections = np.full(len(packet_offsets), len(self._sections) - 1)
        self._parts.append(PacketBlocks(packet_offsets, types, sections, self._sections))

    def _is_packet(self, buffer: Buffer, last: int, offset: int) -> bool:
        """Whether a packet block seems to begin at an offset."""
        words = self._sections[-1].words
        block_type, length = words(buffer, offset)
        if block_type not in PACKETS or not LEAST[block_type] <= length <= MAX_RECORD or length & 3:
            return False
        end: int = offset + length - 4
        return end > last + 8 or bool(words(buffer, end)[0] == length)

    def _are_packets(self, buffer: Buffer, last: int, offsets: Integers) -> Integers:
        """At which offsets a packet block seems to begin."""
        return np.array(
            [self._is_packet(buffer, last, offset) for offset in offsets.tolist()], np.bool_
        )

    # ---- block by block

    def _find_each(self, buffer: Buffer, offset: int, size: int, base: int, count: int) -> int:
        """Find a number of blocks one by one; an error is raised after the packets before it
        were returned."""
        self.is_full = False
        section = self._sections[-1]
        for _ in range(count):
            if offset + 12 > size:
                return offset
            block_type, length = section.words(buffer, offset)
            if block_type == SECTION:
                if offset + 28 > size:
                    return offset
                section, length = self._next_section(buffer, offset, base)
            elif (why := _refusal(block_type, length)) is not None:
                self.error = CaptureError(self._path, base + offset, why)
                return offset
            if offset + length > size:
                return offset
            if block_type in PACKETS:
                self._at.append(offset)
                self._kind.append(block_type)
                self._of.append(len(self._sections) - 1)
            elif block_type == INTERFACE:
                self._declare(buffer, offset, base)
            offset += length
            if len(self._sections) > _MOST_SECTIONS:
                break
        self.is_full = count > 1
        return offset

    def _next_section(self, buffer: Buffer, offset: int, base: int) -> tuple[Section, int]:
        self._refuse_midway(base + offset)
        order = _ORDER.get(bytes(buffer[offset + 8 : offset + 12]))
        if order is None:
            message = "a section without its byte-order magic"
            raise CaptureError(self._path, base + offset, message)
        (length,) = struct.unpack_from(f"{order}I", buffer, offset + 4)
        if length < 28 or length > MAX_RECORD:
            raise CaptureError(self._path, base + offset, f"a section header of {length} bytes")
        self._sections.append(Section(self._path, order))
        return self._sections[-1], length

    def _declare(self, buffer: Buffer, offset: int, base: int) -> None:
        self._refuse_midway(base + offset)
        section = self._sections[-1]
        _, length = section.words(buffer, offset)
        section.declare(bytes(buffer[offset + 8 : offset + length - 4]), base + offset)

    def _refuse_midway(self, where: int) -> None:
        if self._midway:
            message = "a section or an interface that begins midway: this file cannot be split"
            raise CaptureError(self._path, where, message)

    def oversized(self, buffer: Buffer, offset: int, size: int) -> int:
        """Bytes of the block at an offset if it is too large to be read and can be skipped,
        otherwise 0."""
        if size - offset < 12:
            return 0
        block_type, length = self._sections[-1].words(buffer, offset)
        if block_type == SECTION or length <= MAX_RECORD:
            return 0
        return int(length)

    # ---- results

    def taken_error(self) -> CaptureError:
        """Remove and return the error: its traceback refers to this object, and so to the
        buffer."""
        error, self.error = self.error, None
        assert error is not None  # noqa: S101 - checked by the caller
        return error

    def _flush(self) -> None:
        """Join the blocks that were found one by one."""
        if self._at:
            offsets, types, sections = (
                np.array(numbers, np.int64) for numbers in (self._at, self._kind, self._of)
            )
            self._parts.append(PacketBlocks(offsets, types, sections, self._sections))
        self._at, self._kind, self._of = [], [], []

    def take_records(self, buffer: Buffer, size: int, base: int) -> Iterator[Records]:
        """Remove and return the packets found so far."""
        self._flush()
        parts, self._parts = self._parts, []
        for blocks in parts:
            for first in range(0, len(blocks.offset), MOST_RECORDS):
                part = slice(first, first + MOST_RECORDS)
                chunk = PacketBlocks(
                    blocks.offset[part], blocks.type[part], blocks.section[part], blocks.sections
                )
                packets, error = records(chunk, buffer, base)
                packets.size = size
                if len(packets.where):
                    yield packets
                if error is not None:
                    self.error = error
                    return


def _refusal(block_type: int, length: int) -> str | None:
    """Why a block of that type and length is invalid; None if it is valid."""
    if length < LEAST.get(block_type, 12) or length & 3:
        return f"a block of {length} bytes"
    if length > MAX_RECORD and (block_type in PACKETS or block_type == INTERFACE):
        return f"a block claims {length} bytes, {MAX_RECORD} is the limit"
    return None

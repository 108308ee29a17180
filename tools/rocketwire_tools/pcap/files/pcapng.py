"""Records of pcapng files: finds the blocks that hold packets, sections and interfaces.

A section may have any byte order, an interface any link type and resolution. Sections may be many
and small, so the packets of several sections go to ``pcapng_blocks`` together. Packets before
damaged data are returned.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.pcapng_blocks import (
    INTERFACE,
    MIN_LENGTHS,
    PACKETS,
    SECTION,
    PacketBlocks,
    Section,
    records,
)
from rocketwire_tools.pcap.files.records import MAX_RECORD, MAX_RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.files.window import Window

_ORDER: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MAX_SECTIONS: Final = 4096  # Sections whose packets are gathered together


def read(reader: Window, section: Section | None = None) -> Iterator[Records]:
    """Read all records of a capture; ``section`` is that of the next bytes, None at the front."""
    walk = _BlockWalk(reader.path, section)
    offset = 0
    while True:
        buffer, size, base = reader.window()
        next_offset = walk.through(buffer, offset, size, base)
        yield from walk.take_records(buffer, size, base)
        if walk.error is not None:
            reader.truncated = False
            raise walk.take_error()
        if walk.is_full:
            offset = next_offset
            continue
        offset = 0
        used = next_offset + walk.skippable_bytes(buffer, next_offset, size)
        has_more = reader.skip(used)
        if not has_more and (not used or reader.window()[1] == 0):
            return


def read_front(path: str, data: bytes) -> tuple[Section, int]:
    """Read the blocks before the first packet; returns the first section, and the offset of the
    first packet or of an incomplete block."""
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
    """Walks from block to block, from the front of the capture if ``section`` is None."""

    def __init__(self, path: str, section: Section | None) -> None:
        self._path = path
        self._midway = section is not None
        self._sections = [Section(path, "<") if section is None else section]
        self._offsets: list[int] = []
        self._types: list[int] = []
        self._section_numbers: list[int] = []
        self.error: CaptureError | None = None  # why the walk cannot continue
        # whether the walk stopped because it found as many packets as are gathered together
        self.is_full = False

    def through(self, buffer: bytearray, offset: int, size: int, base: int) -> int:
        self._sections = self._sections[-1:]
        self._offsets, self._types, self._section_numbers = [], [], []
        try:
            return self._find_packets(buffer, offset, size, base)
        except CaptureError as error:
            self.error = error
            return offset

    def _find_packets(self, buffer: bytearray, offset: int, size: int, base: int) -> int:
        self.is_full = False
        section = self._sections[-1]
        for _ in range(MAX_RECORDS):
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
                self._offsets.append(offset)
                self._types.append(block_type)
                self._section_numbers.append(len(self._sections) - 1)
            elif block_type == INTERFACE:
                self._declare(buffer, offset, base)
            offset += length
            if len(self._sections) > _MAX_SECTIONS:
                break
        self.is_full = True
        return offset

    def _next_section(self, buffer: bytearray, offset: int, base: int) -> tuple[Section, int]:
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

    def _declare(self, buffer: bytearray, offset: int, base: int) -> None:
        self._refuse_midway(base + offset)
        section = self._sections[-1]
        _, length = section.words(buffer, offset)
        section.declare(bytes(buffer[offset + 8 : offset + length - 4]), base + offset)

    def _refuse_midway(self, file_offset: int) -> None:
        if self._midway:
            message = "a section or an interface that begins midway: this file cannot be split"
            raise CaptureError(self._path, file_offset, message)

    def skippable_bytes(self, buffer: bytearray, offset: int, size: int) -> int:
        # Bytes of the block at an offset if it is too large to be read and can be skipped,
        # otherwise 0
        if size - offset < 12:
            return 0
        block_type, length = self._sections[-1].words(buffer, offset)
        if block_type == SECTION or length <= MAX_RECORD:
            return 0
        return int(length)

    # ---- results

    def take_error(self) -> CaptureError:
        # Remove and return the error: its traceback refers to this object, and so to the buffer
        error, self.error = self.error, None
        assert error is not None  # noqa: S101 - checked by the caller
        return error

    def take_records(self, buffer: bytearray, size: int, base: int) -> Iterator[Records]:
        if not self._offsets:
            return
        offsets, types, section_numbers = (
            np.array(numbers, np.int64)
            for numbers in (self._offsets, self._types, self._section_numbers)
        )
        blocks = PacketBlocks(offsets, types, section_numbers, self._sections)
        packets, error = records(blocks, buffer, base)
        packets.size = size
        if len(packets.file_offset):
            yield packets
        if error is not None:
            self.error = error


def _refusal(block_type: int, length: int) -> str | None:
    if length < MIN_LENGTHS.get(block_type, 12) or length & 3:
        return f"a block of {length} bytes"
    if length > MAX_RECORD and (block_type in PACKETS or block_type == INTERFACE):
        return f"a block claims {length} bytes, {MAX_RECORD} is the limit"
    return None

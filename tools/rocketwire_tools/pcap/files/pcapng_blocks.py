"""pcapng blocks: gathers the fields of many packet blocks at once, and reads section and
interface blocks."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.records import MAX_RECORD, Records, rows_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.records import Array

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
PACKET: Final = 6
MIN_LENGTHS: Final = {PACKET: 32, _SIMPLE_PACKET: 16, _OLD_PACKET: 32}
"""Bytes of a packet block without its packet, by block type."""
PACKETS: Final = frozenset(MIN_LENGTHS)  # Types of blocks that hold a packet
MAX_INTERFACES: Final = 65_536


class Interface(NamedTuple):
    link: int  # link type
    snaplen: int  # bytes kept of a packet; 0 for all
    resolution: int = 6  # the byte of option if_tsresol
    offset: int = 0  # seconds to add, of option if_tsoffset


class Section:
    def __init__(self, path: str, order: str) -> None:
        self.path = path
        self.order = order
        self.interfaces: list[Interface] = []
        self.words = struct.Struct(f"{order}II").unpack_from

    def declare(self, body: bytes, file_offset: int) -> None:
        if len(body) < 8:
            raise CaptureError(self.path, file_offset, "a bad interface description")
        if len(self.interfaces) >= MAX_INTERFACES:
            raise CaptureError(
                self.path, file_offset, f"a section of more than {MAX_INTERFACES:,} interfaces"
            )
        link, _, snaplen = struct.unpack_from(f"{self.order}HHI", body)
        resolution, offset = 6, 0
        for code, value in self._options(body[8:]):
            if code == 9 and value:
                resolution = value[0]
            elif code == 14 and len(value) == 8:
                (offset,) = struct.unpack(f"{self.order}q", value)
        self.interfaces.append(Interface(link, snaplen, resolution, offset))

    def _options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        offset = 0
        while offset + 4 <= len(data):
            code, length = struct.unpack_from(f"{self.order}HH", data, offset)
            if code == 0:
                return
            yield code, data[offset + 4 : offset + 4 + length]
            offset += 4 + (length + 3 & ~3)


@dataclass(slots=True)
class PacketBlocks:
    offset: Array  # their offsets in the buffer
    type: Array  # their block types
    section: Array  # indices of their sections
    sections: list[Section]  # the sections


class _InterfaceTable:
    def __init__(self, sections: list[Section]) -> None:
        counts = [len(section.interfaces) for section in sections]
        self.count = np.array(counts, np.int64)
        self.first = np.cumsum(self.count) - self.count
        interfaces = [interface for section in sections for interface in section.interfaces] or [
            Interface(0, 0)
        ]
        columns = (np.array(values, np.int64) for values in zip(*interfaces, strict=True))
        self.link, self.snaplen, self.resolution, self.offset = columns


def records(
    blocks: PacketBlocks, buffer: bytearray, base: int
) -> tuple[Records, CaptureError | None]:
    """Gather the fields of packet blocks up to the first invalid one; returns the packets, and why
    the next one is invalid."""
    table = _InterfaceTable(blocks.sections)
    offset, data, captured, wire, raw, interface, room = _read_columns(blocks, buffer, table)
    count = table.count[blocks.section]
    wrong = np.flatnonzero((captured > room) | (interface >= count))
    error = None
    if len(wrong):
        first = int(wrong[0])
        path, file_offset = blocks.sections[0].path, base + int(offset[first])
        no_interface = "a packet of an interface that is not described"
        longer = "a packet longer than its block"
        error = CaptureError(
            path, file_offset, longer if captured[first] > room[first] else no_interface
        )
        offset, data, captured, wire, raw, interface = (
            values[:first] for values in (offset, data, captured, wire, raw, interface)
        )
    interface_row = table.first[blocks.section[: len(offset)]] + interface
    links = table.link
    packets = Records(
        buffer=buffer,
        size=0,
        file_offset=offset + base,
        data=data,
        captured=captured,
        wire=np.maximum(wire, captured),
        time_ns=_nanoseconds(table, raw, interface_row),
        link=int(links[0]) if bool((links == links[0]).all()) else links[interface_row],
    )
    return packets, error


Part = tuple["Array", ...]


def _read_columns(blocks: PacketBlocks, buffer: bytearray, table: _InterfaceTable) -> Part:
    big = np.array([section.order == ">" for section in blocks.sections], np.bool_)[blocks.section]
    groups = np.unique(blocks.type << 1 | big)
    if len(groups) == 1:
        every = np.arange(len(blocks.offset))
        return _read_columns_of_type(blocks, buffer, table, int(groups[0]), every)
    key = blocks.type << 1 | big
    numbers_by_group = [np.flatnonzero(key == group) for group in groups]
    parts = [
        _read_columns_of_type(blocks, buffer, table, group, numbers)
        for group, numbers in zip(groups.tolist(), numbers_by_group, strict=True)
    ]
    order = np.argsort(np.concatenate(numbers_by_group), kind="stable")
    return tuple(np.concatenate(columns)[order] for columns in zip(*parts, strict=True))


def _read_columns_of_type(
    blocks: PacketBlocks, buffer: bytearray, table: _InterfaceTable, group: int, numbers: Array
) -> Part:
    block_type, order = group >> 1, "<>"[group & 1]
    offset = blocks.offset[numbers]
    words = rows_at(buffer, offset, 28).view(f"{order}u4").astype(np.int64)
    length = words[:, 1]
    if block_type == _SIMPLE_PACKET:
        first = np.minimum(table.first[blocks.section[numbers]], len(table.snaplen) - 1)
        snaplen = table.snaplen[first]
        snaplen[snaplen == 0] = MAX_RECORD
        wire = words[:, 2]
        captured = np.minimum(np.minimum(wire, snaplen), length - 16)
        zero = np.zeros_like(offset)
        return offset, offset + 12, captured, wire, zero, zero, length - 16
    interface = words[:, 2]
    if block_type == _OLD_PACKET:
        interface = rows_at(buffer, offset + 8, 2).view(f"{order}u2")[:, 0].astype(np.int64)
    raw = (words[:, 3] << 32) + words[:, 4]
    return offset, offset + 28, words[:, 5], words[:, 6], raw, interface, length - 32


def _nanoseconds(table: _InterfaceTable, raw: Array, interface: Array) -> Array:
    if (table.resolution == table.resolution[0]).all():
        result = _to_nanoseconds(raw, int(table.resolution[0]))
    else:
        result = np.empty_like(raw)
        resolution = table.resolution[interface]
        for exponent in np.unique(resolution).tolist():
            numbers = np.flatnonzero(resolution == exponent)
            result[numbers] = _to_nanoseconds(raw[numbers], exponent)
    return result + table.offset[interface] * 1_000_000_000 if table.offset.any() else result


def _to_nanoseconds(raw: Array, resolution: int) -> Array:
    bits: Any = raw.view(np.uint64)
    if resolution & 0x80:
        power = min(resolution & 0x7F, 63)
        seconds = bits >> np.uint64(power)
        fraction = bits & np.uint64((1 << power) - 1)
        if power > 32:
            fraction, power = fraction >> np.uint64(power - 32), 32
        nanoseconds = seconds * np.uint64(10**9) + (fraction * np.uint64(10**9) >> np.uint64(power))
    elif resolution <= 9:
        nanoseconds = bits * np.uint64(10 ** (9 - resolution))
    else:
        nanoseconds = bits // np.uint64(10 ** min(resolution - 9, 19))
    return nanoseconds.view(np.int64)

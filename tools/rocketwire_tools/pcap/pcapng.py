"""Records of pcapng files: sections, interfaces, and the three kinds of blocks that hold packets.

Rules of this file: those of ``capture``.  A section may have any byte order, an interface any link type and resolution.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.capture import MAX_RECORD, MOST_RECORDS, Records, rows_at
from rocketwire_tools.pcap.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.capture import CaptureReader, Integers

MAGIC: Final = b"\x0a\x0d\x0d\x0a"
_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
_PACKET: Final = 6
PACKETS: Final = frozenset({_PACKET, _SIMPLE_PACKET, _OLD_PACKET})
"""Types of blocks that hold a packet."""
_ORDER: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
MAX_INTERFACES: Final = 65_536


class Interface(NamedTuple):
    """Where packets were captured.

    Attributes:
        link: link type.
        snaplen: bytes kept of a packet; 0 for all.
        resolution: the byte of option if_tsresol.
        offset: seconds to add, of option if_tsoffset.
    """

    link: int
    snaplen: int
    resolution: int = 6
    offset: int = 0


class Section:
    """What has been said about the packets of a section.

    Args:
        path: for messages.
        order: ``<`` or ``>``.
    """

    def __init__(self, path: str, order: str) -> None:
        self.path = path
        self.order = order
        self.interfaces: list[Interface] = []

    def declare(self, body: bytes, where: int) -> None:
        """Take an interface description block."""
        if len(body) < 8 or len(self.interfaces) >= MAX_INTERFACES:
            raise CaptureError(self.path, where, "a bad interface description")
        link, _, snaplen = struct.unpack_from(f"{self.order}HHI", body)
        resolution, offset = 6, 0
        for code, value in self._options(body[8:]):
            if code == 9 and value:
                resolution = value[0]
            elif code == 14 and len(value) == 8:
                (offset,) = struct.unpack(f"{self.order}q", value)
        self.interfaces.append(Interface(link, snaplen, resolution, offset))

    def _options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        at = 0
        while at + 4 <= len(data):
            code, length = struct.unpack_from(f"{self.order}HH", data, at)
            if code == 0:
                return
            yield code, data[at + 4 : at + 4 + length]
            at += 4 + (length + 3 & ~3)


def read(reader: CaptureReader, section: Section | None = None) -> Iterator[Records]:
    """Give all records of a capture whose next bytes are in the reader's window.

    Args:
        reader: of the capture.
        section: that the window is in; None at the front of the capture.
    """
    midway = section is not None
    section = Section(reader.path, "<") if section is None else section
    known = len(section.interfaces)
    at = 0
    while True:
        buffer, size, base = reader.window()
        found, after, stopped = _walk(section, buffer, at, size, base)
        if found:
            records = _records(section, buffer, found, base)
            records.size = size
            yield records
        if midway and (stopped or len(section.interfaces) > known):
            message = "a section or an interface that begins midway: this file cannot be split"
            raise CaptureError(reader.path, base + after, message)
        if len(found) == MOST_RECORDS:
            at = after
            continue
        at = 0
        if stopped:
            section = _next_section(reader, after)
            used = after + section_length(reader, after, section.order)
        else:
            used = after + _oversized(section, buffer, after, size, base)
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
        if kind in PACKETS or (kind == _SECTION and at):
            break
        if length < 12 or length & 3:
            raise CaptureError(path, at, f"a block of {length} bytes")
        if at + length > len(data):
            break
        if kind == _INTERFACE:
            section.declare(data[at + 8 : at + length - 4], at)
        at += length
    return section, at


def section_length(reader: CaptureReader, at: int, order: str) -> int:
    """Bytes of the section header block there, at most those that are in the window."""
    buffer, size, _ = reader.window()
    (length,) = struct.unpack_from(f"{order}I", buffer, at + 4)
    return min(int(length), size - at)


def _next_section(reader: CaptureReader, at: int) -> Section:
    buffer, _, base = reader.window()
    order = _ORDER.get(bytes(buffer[at + 8 : at + 12]))
    if order is None:
        raise CaptureError(reader.path, base + at, "a section without its byte-order magic")
    (length,) = struct.unpack_from(f"{order}I", buffer, at + 4)
    if length < 28 or length > MAX_RECORD:
        raise CaptureError(reader.path, base + at, f"a section header of {length} bytes")
    return Section(reader.path, order)


def _walk(
    section: Section, buffer: bytearray, at: int, size: int, base: int
) -> tuple[list[tuple[int, int]], int, bool]:
    """Find packets; returns (block type, offset) of each, where to go on, and whether a section
    header is there."""
    found: list[tuple[int, int]] = []
    words = struct.Struct(f"{section.order}II").unpack_from
    while at + 12 <= size and len(found) < MOST_RECORDS:
        kind, length = words(buffer, at)
        if kind == _SECTION:
            return found, at, at + 28 <= size
        if length < 12 or length & 3:
            raise CaptureError(section.path, base + at, f"a block of {length} bytes")
        after = at + length
        if after > size:
            break
        if kind in PACKETS:
            if length < _LEAST[kind]:
                raise CaptureError(section.path, base + at, f"a packet block of {length} bytes")
            found.append((kind, at))
        elif kind == _INTERFACE:
            section.declare(bytes(buffer[at + 8 : after - 4]), base + at)
        at = after
    return found, at, False


def _oversized(section: Section, buffer: bytearray, at: int, size: int, base: int) -> int:
    """Bytes of the block there if it is too large to be looked at, otherwise 0."""
    if size - at < 12:
        return 0
    kind, length = struct.unpack_from(f"{section.order}II", buffer, at)
    if kind == _SECTION or length <= MAX_RECORD:
        return 0
    if kind in PACKETS or kind == _INTERFACE:
        message = f"a block claims {length} bytes, {MAX_RECORD} is the limit"
        raise CaptureError(section.path, base + at, message)
    return int(length)


_LEAST: Final = {_PACKET: 32, _SIMPLE_PACKET: 16, _OLD_PACKET: 32}
"""Bytes of a block without packet."""


def _records(
    section: Section, buffer: bytearray, found: list[tuple[int, int]], base: int
) -> Records:
    if not section.interfaces:
        raise CaptureError(section.path, base + found[0][1], "a packet before any interface")
    kinds = {kind for kind, _ in found}
    parts = [_of_kind(section, buffer, kind, found) for kind in sorted(kinds)]
    at, data, captured, wire, raw, interface, room = (
        np.concatenate([part[i] for part in parts]) for i in range(7)
    )
    if len(parts) > 1:
        order = np.argsort(at, kind="stable")
        at, data, captured, wire, raw, interface, room = (
            each[order] for each in (at, data, captured, wire, raw, interface, room)
        )
    wrong = np.flatnonzero((captured > room) | (interface >= len(section.interfaces)))
    if wrong.size:
        where = base + int(at[wrong[0]])
        raise CaptureError(
            section.path, where, "a packet longer than its block, or of no interface"
        )
    links = np.array([one.link for one in section.interfaces], np.int64)
    same = bool((links == links[0]).all())
    return Records(
        buffer=buffer,
        size=0,
        where=at + base,
        data=data,
        captured=captured,
        wire=np.maximum(wire, captured),
        time_ns=_nanoseconds(section, raw, interface),
        link=int(links[0]) if same else links[interface],
    )


Part = tuple["Integers", ...]


def _of_kind(section: Section, buffer: bytearray, kind: int, found: list[tuple[int, int]]) -> Part:
    at = np.array([each for one, each in found if one == kind], np.int64)
    words = rows_at(buffer, at, 28).view(f"{section.order}u4").astype(np.int64)
    length = words[:, 1]
    if kind == _SIMPLE_PACKET:
        snaplen = section.interfaces[0].snaplen or MAX_RECORD
        wire = words[:, 2]
        captured = np.minimum(np.minimum(wire, snaplen), length - 16)
        zero = np.zeros_like(at)
        return at, at + 12, captured, wire, zero, zero, length - 16
    interface = words[:, 2]
    if kind == _OLD_PACKET:
        interface = rows_at(buffer, at + 8, 2).view(f"{section.order}u2")[:, 0].astype(np.int64)
    raw = (words[:, 3] << 32) + words[:, 4]
    return at, at + 28, words[:, 5], words[:, 6], raw, interface, length - 32


def _nanoseconds(section: Section, raw: Integers, interface: Integers) -> Integers:
    scales = {(one.resolution, one.offset) for one in section.interfaces}
    if len(scales) == 1:
        return _scaled(raw, *scales.pop())
    result = np.empty_like(raw)
    for number, one in enumerate(section.interfaces):
        of = np.flatnonzero(interface == number)
        result[of] = _scaled(raw[of], one.resolution, one.offset)
    return result


def _scaled(raw: Integers, resolution: int, offset: int) -> Integers:
    bits: Any = raw.view(np.uint64)
    if resolution & 0x80:
        power = min(resolution & 0x7F, 63)
        whole = bits >> np.uint64(power)
        fraction = bits & np.uint64((1 << power) - 1)
        if power > 32:
            fraction, power = fraction >> np.uint64(power - 32), 32
        nanoseconds = whole * np.uint64(10**9) + (fraction * np.uint64(10**9) >> np.uint64(power))
    elif resolution <= 9:
        nanoseconds = bits * np.uint64(10 ** (9 - resolution))
    else:
        nanoseconds = bits // np.uint64(10 ** min(resolution - 9, 19))
    result: Integers = nanoseconds.view(np.int64) + offset * 1_000_000_000
    return result

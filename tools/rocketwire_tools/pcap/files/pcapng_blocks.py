"""Blocks of pcapng that hold packets: what is in many of them at once, and what sections and interfaces say about them.

Rules of this file: those of ``pcap``; only numpy once it is known where blocks are.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.records import MAX_RECORD, Records, rows_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.buffers import Buffer
    from rocketwire_tools.pcap.files.records import Integers

SECTION: Final = 0x0A0D0D0A
INTERFACE: Final = 1
_OLD_PACKET: Final = 2
_SIMPLE_PACKET: Final = 3
PACKET: Final = 6
LEAST: Final = {PACKET: 32, _SIMPLE_PACKET: 16, _OLD_PACKET: 32}
"""Bytes of a block without packet."""
PACKETS: Final = frozenset(LEAST)
"""Types of blocks that hold a packet."""
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
        self.words = struct.Struct(f"{order}II").unpack_from

    def declare(self, body: bytes, where: int) -> None:
        """Take an interface description block."""
        if len(body) < 8:
            raise CaptureError(self.path, where, "a bad interface description")
        if len(self.interfaces) >= MAX_INTERFACES:
            raise CaptureError(
                self.path, where, f"a section of more than {MAX_INTERFACES:,} interfaces"
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
        at = 0
        while at + 4 <= len(data):
            code, length = struct.unpack_from(f"{self.order}HH", data, at)
            if code == 0:
                return
            yield code, data[at + 4 : at + 4 + length]
            at += 4 + (length + 3 & ~3)


@dataclass(slots=True)
class Found:
    """Blocks that hold packets, in the order of the file.

    Attributes:
        at: their offsets in the buffer.
        kind: their types.
        section: numbers of their sections.
        sections: those.
    """

    at: Integers
    kind: Integers
    section: Integers
    sections: list[Section]


class _Table:
    """The interfaces of some sections as arrays."""

    def __init__(self, sections: list[Section]) -> None:
        counts = [len(one.interfaces) for one in sections]
        self.count = np.array(counts, np.int64)
        self.first = np.cumsum(self.count) - self.count
        every = [one for section in sections for one in section.interfaces] or [Interface(0, 0)]
        columns = (np.array(each, np.int64) for each in zip(*every, strict=True))
        self.link, self.snaplen, self.resolution, self.offset = columns


def records(found: Found, buffer: Buffer, base: int) -> tuple[Records, CaptureError | None]:
    """Gather what is known of the packets, up to the first one that cannot be one.

    Args:
        found: their blocks, one at least.
        buffer: holds them.
        base: where in the file the buffer begins.

    Returns:
        The packets, and why the next one cannot be one.
    """
    table = _Table(found.sections)
    at, data, captured, wire, raw, interface, room = _together(found, buffer, table)
    count = table.count[found.section]
    wrong = np.flatnonzero((captured > room) | (interface >= count))
    error = None
    if len(wrong):
        first = int(wrong[0])
        path, where = found.sections[0].path, base + int(at[first])
        no_interface = "a packet of an interface that is not described"
        longer = "a packet longer than its block"
        error = CaptureError(path, where, longer if captured[first] > room[first] else no_interface)
        at, data, captured, wire, raw, interface = (
            each[:first] for each in (at, data, captured, wire, raw, interface)
        )
    of = table.first[found.section[: len(at)]] + interface
    links = table.link
    made = Records(
        buffer=buffer,
        size=0,
        where=at + base,
        data=data,
        captured=captured,
        wire=np.maximum(wire, captured),
        time_ns=_nanoseconds(table, raw, of),
        link=int(links[0]) if bool((links == links[0]).all()) else links[of],
    )
    return made, error


Part = tuple["Integers", ...]


def _together(found: Found, buffer: Buffer, table: _Table) -> Part:
    """Columns of all packets, whatever the types of their blocks and the byte orders of their sections."""
    big = np.array([one.order == ">" for one in found.sections], np.bool_)[found.section]
    groups = np.unique(found.kind << 1 | big)
    if len(groups) == 1:
        every = np.arange(len(found.at))
        return _of_kind(found, buffer, table, int(groups[0]), every)
    key = found.kind << 1 | big
    some = [np.flatnonzero(key == group) for group in groups]
    parts = [
        _of_kind(found, buffer, table, group, of)
        for group, of in zip(groups.tolist(), some, strict=True)
    ]
    order = np.argsort(np.concatenate(some), kind="stable")
    return tuple(np.concatenate(columns)[order] for columns in zip(*parts, strict=True))


def _of_kind(found: Found, buffer: Buffer, table: _Table, group: int, of: Integers) -> Part:
    kind, order = group >> 1, "<>"[group & 1]
    at = found.at[of]
    words = rows_at(buffer, at, 28).view(f"{order}u4").astype(np.int64)
    length = words[:, 1]
    if kind == _SIMPLE_PACKET:
        first = np.minimum(table.first[found.section[of]], len(table.snaplen) - 1)
        snaplen = table.snaplen[first]
        snaplen[snaplen == 0] = MAX_RECORD
        wire = words[:, 2]
        captured = np.minimum(np.minimum(wire, snaplen), length - 16)
        zero = np.zeros_like(at)
        return at, at + 12, captured, wire, zero, zero, length - 16
    interface = words[:, 2]
    if kind == _OLD_PACKET:
        interface = rows_at(buffer, at + 8, 2).view(f"{order}u2")[:, 0].astype(np.int64)
    raw = (words[:, 3] << 32) + words[:, 4]
    return at, at + 28, words[:, 5], words[:, 6], raw, interface, length - 32


def _nanoseconds(table: _Table, raw: Integers, interface: Integers) -> Integers:
    if (table.resolution == table.resolution[0]).all():
        result = _scaled(raw, int(table.resolution[0]))
    else:
        result = np.empty_like(raw)
        resolution = table.resolution[interface]
        for each in np.unique(resolution).tolist():
            of = np.flatnonzero(resolution == each)
            result[of] = _scaled(raw[of], each)
    return result + table.offset[interface] * 1_000_000_000 if table.offset.any() else result


def _scaled(raw: Integers, resolution: int) -> Integers:
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
    result: Integers = nanoseconds.view(np.int64)
    return result

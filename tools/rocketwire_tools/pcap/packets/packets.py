"""Finds TCP segments in packets: link, network and transport headers of a chunk of records at once,
with numpy.

Unknown packets are counted, not guessed. Lengths come from the IP header, because short frames are
padded, and the capture may cut packets.

Link types: Ethernet with up to three VLAN tags, raw IP, loopback, Linux cooked (both versions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.files.records import rows_at

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Set as AbstractSet

    from rocketwire_tools.pcap.files.records import Array, Records

_UNKNOWN: Final = -1
_VLAN: Final = (0x8100, 0x88A8, 0x9100)
_MAX_TAGS: Final = 3
_TCP: Final = 6
_IPV4: Final = 0x0800
_IPV6: Final = 0x86DD
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_FRAGMENT: Final = 44
_AUTHENTICATION: Final = 51
_EXTENDS: Final = np.isin(np.arange(256), (0, 43, 60, _AUTHENTICATION, _FRAGMENT))
"""IPv6 extension headers that are skipped: hop-by-hop, routing, destination options,
authentication, and the fragment header of a packet in one fragment (RFC 6946)."""
_MAX_EXTENSIONS: Final = 8

ETHERNET: Final = 1
NULL: Final = 0
LOOP: Final = 108
SLL: Final = 113
SLL2: Final = 276
_RAW: Final = (101, 12, 14)
_RAW_IPV4: Final = 228
_RAW_IPV6: Final = 229
_FAMILY_INET: Final = 2
_FAMILIES_INET6: Final = (10, 24, 28, 30)  # AF_INET6 of Linux, NetBSD, FreeBSD and Darwin


@dataclass(slots=True)
class Segments:
    """TCP segments, one entry each, in the order of their capture."""

    record: Array  # number of the record in its chunk
    source: Array  # number of the sender: address number << 16 | port, see ``Addresses``
    target: Array  # number of the receiver
    sequence: Array  # of the first byte
    acknowledged: Array  # next sequence number that the sender expects, with flag ACK
    flags: Array  # of TCP
    data: Array  # offset of the payload in the buffer
    captured: Array  # captured bytes of the payload
    length: Array  # bytes of the payload on the wire

    def take(self, numbers: Array) -> Segments:
        return Segments(*(getattr(self, name)[numbers] for name in Segments.__dataclass_fields__))


MAX_ADDRESSES: Final = 1 << 17
"""IPv6 addresses that are remembered: as many as the remembered streams can have."""


class Addresses:
    """Numbers of IPv6 addresses; an IPv4 address is its own number."""

    _FIRST = 1 << 32  # Number of the first IPv6 address

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._texts: dict[int, bytes] = {}
        self._next = self._FIRST

    def numbers(self, addresses: Array) -> Array:
        halves: Any = np.ascontiguousarray(addresses).view(np.uint64)
        mixed = halves[:, 0] * _MIX ^ halves[:, 1]
        _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        if (halves[first][inverse] != halves).any():  # a collision
            first = inverse = np.arange(len(halves))
        texts = [row.tobytes() for row in np.ascontiguousarray(addresses[first])]
        get_number = self._numbers.get
        numbers = [get_number(text) for text in texts]
        all_numbers = [
            self._add(text) if number is None else number
            for number, text in zip(numbers, texts, strict=True)
        ]
        return np.array(all_numbers, np.int64)[inverse]

    def _add(self, text: bytes) -> int:
        existing = self._numbers.get(text)
        if existing is not None:
            return existing
        number = self._numbers[text] = self._next
        self._texts[number] = text
        self._next += 1
        return number

    def address_bytes(self, number: int) -> bytes:
        return number.to_bytes(4, "big") if number < self._FIRST else self._texts[number]

    # ---- limits

    @property
    def are_many(self) -> bool:
        return len(self._texts) > MAX_ADDRESSES

    def keep(self, numbers: AbstractSet[int]) -> None:
        """Forget all other addresses; a forgotten one gets a new number."""
        self._texts = {number: text for number, text in self._texts.items() if number in numbers}
        self._numbers = {text: number for number, text in self._texts.items()}


UNREAD: Final = ("link type", "IP fragment")
"""Prefixes of the reasons for which a packet that may contain frames was not decoded."""


def segments(records: Records, addresses: Addresses, skipped: Counter[str]) -> Segments:
    offset, ether_type = _network(records, skipped)
    end = records.data + records.captured
    four = np.flatnonzero(ether_type == _IPV4)
    six = np.flatnonzero(ether_type == _IPV6)
    others = (ether_type != _IPV4) & (ether_type != _IPV6) & (ether_type >= 0)
    _count(skipped, "not IP", others)
    parts: list[Network] = []
    if len(four):
        parts.append(_ipv4(records, four, offset[four], end[four], skipped))
    if len(six):
        parts.append(_ipv6(records, six, offset[six], end[six], addresses, skipped))
    if not parts:
        none = np.zeros(0, np.int64)
        return Segments(none, none, none, none, none, none, none, none, none)
    index, transport, stop, source, target = parts[0] if len(parts) == 1 else _merge(parts)
    return _tcp(records, index, transport, stop, source, target, skipped)


def _count(skipped: Counter[str], reason: str, packets: Array) -> None:
    if number := int(packets.sum()):
        skipped[reason] += number


def _merge(parts: list[Network]) -> Network:
    size = max((int(part[0][-1]) for part in parts if len(part[0])), default=-1) + 1
    ours = np.zeros(size, np.bool_)
    merged_columns = [np.empty(size, np.int64) for _ in range(4)]
    for index, *columns in parts:
        ours[index] = True
        for merged, column in zip(merged_columns, columns, strict=True):
            merged[index] = column
    index = np.flatnonzero(ours)
    transport, stop, source, target = (values[index] for values in merged_columns)
    return index, transport, stop, source, target


# ---------------------------------------------------------------------------- link layer


def _network(records: Records, skipped: Counter[str]) -> tuple[Array, Array]:
    # Offsets of the network headers, and their Ethernet types (0 for other protocols, -1 for an
    # unknown link type)
    link = records.link
    if isinstance(link, int):
        return _read_link(records.buffer, link, records.data, records.captured, skipped)
    offset = np.zeros_like(records.data)
    ether_type = np.zeros_like(records.data)
    for link_type in np.unique(link):
        numbers = np.flatnonzero(link == link_type)
        offset[numbers], ether_type[numbers] = _read_link(
            records.buffer,
            int(link_type),
            records.data[numbers],
            records.captured[numbers],
            skipped,
        )
    return offset, ether_type


def _read_link(
    buffer: bytearray, link: int, data: Array, captured: Array, skipped: Counter[str]
) -> tuple[Array, Array]:
    if link == ETHERNET:
        return _skip_tags(buffer, data + 14, captured - 14, _big16(buffer, data + 12))
    if link == SLL:
        return _skip_tags(buffer, data + 16, captured - 16, _big16(buffer, data + 14))
    if link == SLL2:
        return _skip_tags(buffer, data + 20, captured - 20, _big16(buffer, data))
    if link in _RAW:
        version = rows_at(buffer, data, 1)[:, 0] >> 4
        return data, np.where(version == 4, _IPV4, np.where(version == 6, _IPV6, 0))
    if link in (NULL, LOOP):
        return data + 4, _family(rows_at(buffer, data, 4))
    if link in (_RAW_IPV4, _RAW_IPV6):
        return data, np.full(len(data), _IPV4 if link == _RAW_IPV4 else _IPV6)
    skipped[f"link type {link}"] += len(data)
    return data, np.full(len(data), _UNKNOWN)


def _big16(buffer: bytearray, offsets: Array) -> Array:
    return rows_at(buffer, offsets, 2).view(">u2")[:, 0].astype(np.int64)


def _skip_tags(
    buffer: bytearray, offset: Array, room: Array, ether_type: Array
) -> tuple[Array, Array]:
    for _ in range(_MAX_TAGS):
        tagged = np.flatnonzero(np.isin(ether_type, _VLAN) & (room >= 4))
        if not len(tagged):
            break
        ether_type[tagged] = _big16(buffer, offset[tagged] + 2)
        offset[tagged] += 4
        room[tagged] -= 4
    return offset, ether_type


def _family(row: Array) -> Array:
    # Network types of loopback packets, whose address family has the byte order of the capturing
    # machine
    little = row.view("<u4")[:, 0]
    big = row.view(">u4")[:, 0]
    four = (little == _FAMILY_INET) | (big == _FAMILY_INET)
    six = np.isin(little, _FAMILIES_INET6) | np.isin(big, _FAMILIES_INET6)
    return np.where(four, _IPV4, np.where(six, _IPV6, 0))


# ---------------------------------------------------------------------------- network layer

Network = tuple["Array", "Array", "Array", "Array", "Array"]
"""Number of the record, offset of the transport header, end of the packet on the wire, sender
and receiver."""

_IPV4_HEADER: Final = np.dtype(
    [
        ("version", "u1"),
        ("service", "u1"),
        ("length", ">u2"),
        ("id", ">u2"),
        ("fragment", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("checksum", ">u2"),
        ("source", ">u4"),
        ("target", ">u4"),
    ]
)


def _ipv4(
    records: Records, index: Array, offset: Array, end: Array, skipped: Counter[str]
) -> Network:
    head: Any = rows_at(records.buffer, offset, 20).view(_IPV4_HEADER)[:, 0]
    size = (head["version"] & 15).astype(np.int64) * 4
    good = (offset + 20 <= end) & (head["version"] >> 4 == 4) & (size >= 20)
    is_whole = (head["fragment"] & 0x3FFF) == 0
    tcp = head["protocol"] == _TCP
    _count(skipped, "not TCP", good & ~tcp)
    _count(skipped, "IP fragment", good & tcp & ~is_whole)
    _count(skipped, "damaged IP header", ~good)
    keep = np.flatnonzero(good & is_whole & tcp)
    if len(keep) < len(index):
        offset, index, size = offset[keep], index[keep], size[keep]
        # Four times as fast as ``head[keep]``, which copies field by field.
        head = rows_at(records.buffer, offset, 20).view(_IPV4_HEADER)[:, 0]
    length = head["length"].astype(np.int64)
    beyond = records.data[index] + records.wire[index]
    stop = np.where(length == 0, beyond, offset + length)  # 0: more than 64 KiB, segmented later
    return (
        index,
        offset + size,
        stop,
        head["source"].astype(np.int64),
        head["target"].astype(np.int64),
    )


def _ipv6(
    records: Records,
    index: Array,
    offset: Array,
    end: Array,
    addresses: Addresses,
    skipped: Counter[str],
) -> Network:
    head = rows_at(records.buffer, offset, 40)
    good = (offset + 40 <= end) & (head[:, 0] >> 4 == 6)
    _count(skipped, "damaged IP header", ~good)
    keep = np.flatnonzero(good)
    head, offset, index, end = head[keep], offset[keep], index[keep], end[keep]
    length = np.ascontiguousarray(head[:, 4:6]).view(">u2")[:, 0].astype(np.int64)
    beyond = records.data[index] + records.wire[index]
    stop = np.where(length == 0, beyond, offset + 40 + length)
    transport, protocol = _skip_extensions(
        records.buffer, offset + 40, head[:, 6].astype(np.int64), end
    )
    _count(skipped, "IP fragment", protocol == _FRAGMENT)
    is_other = (protocol != _TCP) & (protocol != _FRAGMENT)
    _count(skipped, "not TCP", is_other)
    keep = np.flatnonzero(protocol == _TCP)
    ends = addresses.numbers(head[keep, 8:40].reshape(-1, 16)) if len(keep) else keep
    return index[keep], transport[keep], stop[keep], ends[::2], ends[1::2]


def _skip_extensions(
    buffer: bytearray, offset: Array, protocol: Array, end: Array
) -> tuple[Array, Array]:
    for _ in range(_MAX_EXTENSIONS):
        extended = np.flatnonzero(_EXTENDS[protocol] & (offset + 8 <= end))
        if not len(extended):
            break
        head, extension = rows_at(buffer, offset[extended], 4), protocol[extended]
        size = (head[:, 1].astype(np.int64) + 1) * 8
        size[extension == _AUTHENTICATION] = size[extension == _AUTHENTICATION] // 2 + 4
        size[extension == _FRAGMENT] = 8
        part = (extension == _FRAGMENT) & ((head[:, 2] != 0) | (head[:, 3] & 0xF9 != 0))
        if part.any():
            extended, head, size = extended[~part], head[~part], size[~part]
        if not len(extended):
            break
        protocol[extended] = head[:, 0]
        offset[extended] += size
    return offset, protocol


# ---------------------------------------------------------------------------- transport layer

_TCP_HEADER: Final = np.dtype(
    [
        ("source", ">u2"),
        ("target", ">u2"),
        ("sequence", ">u4"),
        ("acknowledged", ">u4"),
        ("offset", "u1"),
        ("flags", "u1"),
        ("rest", "V6"),
    ]
)


def _tcp(
    records: Records,
    index: Array,
    offset: Array,
    stop: Array,
    source: Array,
    target: Array,
    skipped: Counter[str],
) -> Segments:
    end = records.data[index] + records.captured[index]
    head: Any = rows_at(records.buffer, np.minimum(offset, end), 20).view(_TCP_HEADER)[:, 0]
    size = (head["offset"] >> 4).astype(np.int64) * 4
    good = (offset + 20 <= end) & (size >= 20) & (offset + size <= stop)
    _count(skipped, "damaged TCP header", ~good)
    if not good.all():
        keep = np.flatnonzero(good)
        head, offset, size, stop, end, index = (
            values[keep] for values in (head, offset, size, stop, end, index)
        )
        source, target = source[keep], target[keep]
    data = offset + size
    return Segments(
        record=index,
        source=source << 16 | head["source"],
        target=target << 16 | head["target"],
        sequence=head["sequence"].astype(np.int64),
        acknowledged=head["acknowledged"].astype(np.int64),
        flags=head["flags"].astype(np.int64),
        data=data,
        captured=np.maximum(np.minimum(stop, end) - data, 0),
        length=stop - data,
    )

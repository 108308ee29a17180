"""Recorded captures many times over, each time between other ends and with other sequence numbers.

The frames are real ones, and so are segments, acknowledgements and times; a decoder sees their
keys, offsets and names change no more often than real peers changed them.
"""

import gzip
import heapq
import random
import struct
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Final

from tests.peers.foreign.tcp import ACK, Packet

_NUMBERS: Final = 1 << 32
_APART_NS: Final = 37_000_000
_TOP: Final = 30_000
"""Servers of a recorded capture listen on ports below; clients have those above."""


def read_recorded(path: Path) -> list[Packet]:
    """The TCP segments of a recorded capture: pcap of nanoseconds, Ethernet, IPv4, gzip."""
    data = gzip.decompress(path.read_bytes())
    if data[:4] != b"\x4d\x3c\xb2\xa1":
        raise ValueError(f"{path}: no pcap with nanoseconds")
    packets: list[Packet] = []
    offset = 24
    while offset < len(data):
        seconds, nanoseconds, size = struct.unpack_from("<III", data, offset)
        frame = data[offset + 16 : offset + 16 + size]
        offset += 16 + size
        (length,) = struct.unpack_from(">H", frame, 16)
        tcp = frame[14 + (frame[14] & 15) * 4 : 14 + length]
        ports = struct.unpack_from(">HH", tcp)
        sequence, acknowledged, words, flags = struct.unpack_from(">IIBB", tcp, 4)
        hosts = (".".join(map(str, frame[begin : begin + 4])) for begin in (26, 30))
        source, target = zip(hosts, ports, strict=True)
        packets.append(
            Packet(
                seconds * 1_000_000_000 + nanoseconds, source, target, sequence, acknowledged,
                flags, tcp[(words >> 4) * 4 :], (words >> 4) > 5,
            )
        )  # fmt: skip
    return packets


def repeat(captures: list[list[Packet]], count: int, seed: int) -> Iterator[Packet]:
    chance = random.Random(seed)
    start = captures[0][0].time_ns
    copies = [
        _copy(
            packets, number, start + number * _APART_NS - packets[0].time_ns, chance.getrandbits(32)
        )
        for number in range(count * len(captures))
        for packets in (captures[number % len(captures)],)
    ]
    return heapq.merge(*copies, key=attrgetter("time_ns"))


def _copy(packets: list[Packet], number: int, later: int, shift: int) -> Iterator[Packet]:
    for packet in packets:
        yield packet._replace(
            time_ns=packet.time_ns + later,
            source=_end(packet.source, number),
            target=_end(packet.target, number),
            sequence=(packet.sequence + shift) % _NUMBERS,
            acknowledged=(packet.acknowledged + shift) % _NUMBERS if packet.flags & ACK else 0,
        )


def _end(end: tuple[str, int], number: int) -> tuple[str, int]:
    """Another host for the same port: all clients of a repetition are on one, all servers on
    another."""
    side = 1 if end[1] > _TOP else 2
    return f"10.{side}.{number >> 8 & 255}.{number & 255}", end[1]

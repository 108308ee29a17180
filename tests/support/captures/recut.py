"""Recorded captures sent once more, in other segments: real frames, cut wherever a test wants them to be.

Rules of this file: nothing of the decoder takes part; length words cut the frames.
"""

from __future__ import annotations

import gzip
import struct
from typing import TYPE_CHECKING, NamedTuple

from tests.support.captures.network import ACK, SYN, Packet
from tests.support.captures.tshark_frames import header_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_RECORD, _ETHERNET = 16, 14
_WHOLE = 1 << 32
End = tuple[str, int]


class Said(NamedTuple):
    """A frame, or a PROXY header in front of the first one.

    Attributes:
        by_client: which side sends it.
        data: the bytes.
    """

    by_client: bool
    data: bytes


def recorded(capture: Path) -> list[list[Said]]:
    """What each connection of a recorded capture of loopback says in clear, in order; the first side that speaks is the client."""
    said: dict[frozenset[End], list[Said]] = {}
    waiting: dict[tuple[End, End], bytes] = {}
    clients: dict[frozenset[End], End] = {}
    for source, target, data in _segments(gzip.decompress(capture.read_bytes())):
        ends = frozenset((source, target))
        client = clients.setdefault(ends, source)
        text = waiting.get((source, target), b"") + data
        parts = list(_units(text, first=(source, target) not in waiting))
        said.setdefault(ends, []).extend(Said(source == client, one) for one in parts)
        waiting[source, target] = text[sum(map(len, parts)) :]
    return [each for ends, each in said.items() if not _is_encrypted(ends, waiting)]


def _segments(data: bytes) -> Iterable[tuple[End, End, bytes]]:
    at = 24
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 8)
        at += _RECORD
        ip = data[at + _ETHERNET : at + size]
        at += size
        tcp = ip[(ip[0] & 15) * 4 : int.from_bytes(ip[2:4], "big")]
        ports = struct.unpack_from(">HH", tcp)
        source, target = (
            (".".join(map(str, host)), port)
            for host, port in zip((ip[12:16], ip[16:20]), ports, strict=True)
        )
        if payload := tcp[(tcp[12] >> 4) * 4 :]:
            yield source, target, payload


def _units(text: bytes, *, first: bool) -> Iterable[bytes]:
    """The frames that are all there, and the PROXY header."""
    if first and text.startswith(b"PROXY "):
        end = text.index(b"\r\n") + 2
        yield text[:end]
        text = text[end:]
    while len(text) >= 8:
        end = 4 + int.from_bytes(text[:4], "big")
        if end > len(text):
            return
        yield text[:end]
        text = text[end:]


def _is_encrypted(ends: frozenset[End], waiting: dict[tuple[End, End], bytes]) -> bool:
    return any(
        text for (source, target), text in waiting.items() if frozenset({source, target}) == ends
    )


Segments = list[tuple[int, bytes]]
"""Segments of what a side says: where each begins in it, and its bytes, in the order of their capture."""


class Sent(NamedTuple):
    """What a side says next, in segments."""

    by_client: bool
    data: bytes
    segments: Segments


def cut(data: bytes, *places: int) -> Segments:
    """The segments of bytes that are cut at places; those that lie beyond the last byte are left out."""
    ends = sorted({place for place in places if 0 < place < len(data)})
    return [
        (start, data[start:end]) for start, end in zip([0, *ends], [*ends, len(data)], strict=True)
    ]


def exchanges(said: Iterable[Said], seen: set[int]) -> list[list[Said]]:
    """The requests of codes that were not seen yet, each with its response."""
    requests: dict[int, list[Said]] = {}
    for one in said:
        if one.data.startswith(b"PROXY "):
            continue
        code, opaque, flag = header_of(one.data)
        if flag & 1 and opaque in requests:
            requests[opaque].append(one)
        elif not flag & 1 and code not in seen:
            seen.add(code)
            requests[opaque] = [one]
    return list(requests.values())


def resend(connections: Iterable[Iterable[Sent]], *, has_start: bool = True) -> list[Packet]:
    """The packets of connections, a microsecond apart, one connection after the other.

    Args:
        connections: what each says.
        has_start: whether the capture has their SYNs.
    """
    packets: list[Packet] = []

    def packet(
        ends: tuple[End, End], sequence: int, acknowledged: int, flags: int, data: bytes
    ) -> None:
        time_ns = 1_700_000_000_000_000_000 + len(packets) * 1000
        numbers = sequence % _WHOLE, acknowledged % _WHOLE
        packets.append(Packet(time_ns, *ends, *numbers, flags, data))

    for number, sent in enumerate(connections):
        client, server = (f"10.1.{number >> 8}.{number & 255}", 40_000), ("10.0.0.2", 10_911)
        following = {True: number * 7919, False: _WHOLE - 3000}
        if has_start:
            packet((client, server), following[True] - 1, 0, SYN, b"")
            packet((server, client), following[False] - 1, following[True], SYN | ACK, b"")
        for one in sent:
            ends = (client, server) if one.by_client else (server, client)
            first, acknowledged = following[one.by_client], following[not one.by_client]
            for at, data in one.segments:
                packet(ends, first + at, acknowledged, ACK, data)
            following[one.by_client] += len(one.data)
    return packets
